import CoreBluetooth

/// A heart rate sensor, written as for iPhone: a peripheral with two services.
final class Sensor: NSObject, CBPeripheralManagerDelegate {
  private let log: (String) -> Void
  private var manager: CBPeripheralManager!

  private let measurement: CBMutableCharacteristic
  private let location: CBMutableCharacteristic
  private let controlPoint: CBMutableCharacteristic
  private let heartRate = CBMutableService(type: CBUUID(string: "180D"), primary: true)
  // The 128-bit form: like Apple's systems, this library does not let apps publish the service under its 16-bit form.
  private let battery = CBMutableService(
    type: CBUUID(string: "0000180F-0000-1000-8000-00805F9B34FB"), primary: true)

  /// The energy expended since the last reset, in kilojoules.
  private var energyExpended: UInt16 = 0
  private var beats = 0
  private(set) var isAdvertising = false

  /// Creates the sensor. It adds its services and starts advertising when Bluetooth is on.
  ///
  /// - Parameter isProtected: true if the heart rate characteristics need an encrypted link, for which a central has to
  ///   pair.
  init(isProtected: Bool, options: [String: Any], log: @escaping (String) -> Void) {
    self.log = log
    measurement = CBMutableCharacteristic(
      type: CBUUID(string: "2A37"), properties: isProtected ? [.notify, .notifyEncryptionRequired] : .notify,
      value: nil, permissions: [])
    // The system answers read requests for a static value, but only without access restrictions.
    location = CBMutableCharacteristic(
      type: CBUUID(string: "2A38"), properties: .read, value: isProtected ? nil : Data([1]),
      permissions: isProtected ? .readEncryptionRequired : .readable)
    controlPoint = CBMutableCharacteristic(
      type: CBUUID(string: "2A39"), properties: .write, value: nil,
      permissions: isProtected ? .writeEncryptionRequired : .writeable)
    super.init()
    manager = CBPeripheralManager(delegate: self, queue: nil, options: options)
  }

  // MARK: Services

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return }
    battery.characteristics = [
      CBMutableCharacteristic(
        type: CBUUID(string: "2A19"), properties: .read, value: Data([87]), permissions: .readable)
    ]
    location.descriptors = [
      CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "Where it is worn")
    ]
    heartRate.characteristics = [measurement, location, controlPoint]
    heartRate.includedServices = [battery]
    // A service must be added before another service can include it.
    peripheral.add(battery)
    peripheral.add(heartRate)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
    if let error { return log("could not add \(service.uuid): \(error.localizedDescription)") }
    log("added \(service.uuid)")
    guard service.uuid == heartRate.uuid else { return }
    peripheral.startAdvertising([
      CBAdvertisementDataLocalNameKey: "Heart Rate", CBAdvertisementDataServiceUUIDsKey: [heartRate.uuid],
    ])
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
    isAdvertising = error == nil
    log(error.map { "could not advertise: \($0.localizedDescription)" } ?? "advertising")
  }

  // MARK: Measurements

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    log("a central subscribed to \(characteristic.uuid)")
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    log("a central unsubscribed from \(characteristic.uuid)")
  }

  /// Sends the next measurement to all subscribed centrals.
  func measure() {
    beats += 1
    // The energy stays at its maximum until it is reset.
    energyExpended += min(3, .max - energyExpended)
    let beatsPerMinute = UInt8(70 + (beats * 7) % 11)
    // Flags: 8-bit heart rate value, energy expended present.
    let value = Data([0x08, beatsPerMinute, UInt8(energyExpended & 0xFF), UInt8(energyExpended >> 8)])
    if !manager.updateValue(value, for: measurement, onSubscribedCentrals: nil) {
      log("measurement not sent: the transmit queue is full")
    }
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    // Body sensor location: chest.
    request.value = Data([1])
    peripheral.respond(to: request, withResult: .success)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    guard let request = requests.first else { return }
    guard request.characteristic == controlPoint, request.value == Data([1]) else {
      // Control Point Not Supported, an error of the Heart Rate Service.
      return peripheral.respond(to: request, withResult: CBATTError.Code(rawValue: 0x80) ?? .unlikelyError)
    }
    energyExpended = 0
    log("energy expended is reset")
    peripheral.respond(to: request, withResult: .success)
  }
}
