import CoreBluetooth

/// An app that finds a heart rate sensor and subscribes to it, written as for iPhone: a central.
final class Phone: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private static let heartRate = CBUUID(string: "180D")
  private static let measurement = CBUUID(string: "2A37")
  private static let location = CBUUID(string: "2A38")
  private static let controlPoint = CBUUID(string: "2A39")

  private let log: (String) -> Void
  private let expectedCount: Int
  private var central: CBCentralManager!
  private var sensor: CBPeripheral?
  private var received = 0

  private(set) var isSubscribed = false
  private(set) var isDone = false
  /// True if all measurements were received, the control point was written, and the link was disconnected without
  /// error.
  private(set) var hasSucceeded = false
  var hasFound: Bool { sensor != nil }

  /// Creates the app, which receives `count` measurements and then disconnects.
  init(count: Int, options: [String: Any], log: @escaping (String) -> Void) {
    expectedCount = count
    self.log = log
    super.init()
    central = CBCentralManager(delegate: self, queue: nil, options: options)
  }

  // MARK: Finding

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return }
    log("scanning for \(Self.heartRate)")
    central.scanForPeripherals(withServices: [Self.heartRate])
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? "unnamed sensor"
    log("discovered \"\(name)\" at \(rssi) dBm")
    guard sensor == nil else { return }
    sensor = peripheral
    peripheral.delegate = self
    central.stopScan()
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    log("connected")
    peripheral.discoverServices([Self.heartRate])
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
    log("could not connect: \(error?.localizedDescription ?? "unknown reason")")
    isDone = true
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?
  ) {
    log(error.map { "disconnected: \($0.localizedDescription)" } ?? "disconnected")
    hasSucceeded = error == nil && received >= expectedCount
    isDone = true
  }

  // MARK: Discovering

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    guard succeeded(error, "discovering services"), let service = peripheral.services?.first else { return }
    log("discovered service \(service.uuid)")
    peripheral.discoverIncludedServices(nil, for: service)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: Error?) {
    guard succeeded(error, "discovering included services") else { return }
    for included in service.includedServices ?? [] { log("\(service.uuid) includes \(included.uuid)") }
    peripheral.discoverCharacteristics(nil, for: service)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
    guard succeeded(error, "discovering characteristics") else { return }
    for characteristic in service.characteristics ?? [] { log("discovered characteristic \(characteristic.uuid)") }
    guard let location = characteristic(Self.location) else { return }
    peripheral.discoverDescriptors(for: location)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: Error?
  ) {
    guard succeeded(error, "discovering descriptors") else { return }
    for descriptor in characteristic.descriptors ?? [] {
      log("discovered descriptor \(descriptor.uuid)")
      peripheral.readValue(for: descriptor)
    }
    peripheral.readValue(for: characteristic)
  }

  // MARK: Reading and listening

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: Error?) {
    guard succeeded(error, "reading a descriptor") else { return }
    log("\(descriptor.uuid): \(descriptor.value ?? "nothing")")
  }

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
    guard succeeded(error, "reading \(characteristic.uuid)"), let value = characteristic.value else { return }
    switch characteristic.uuid {
    case Self.location:
      let places = ["other", "chest", "wrist", "finger", "hand", "ear lobe", "foot"]
      log("\(characteristic.uuid): \(value.first.map { $0 < places.count ? places[Int($0)] : "unknown" } ?? "empty")")
      if let measurement = self.characteristic(Self.measurement) { peripheral.setNotifyValue(true, for: measurement) }
    case Self.measurement:
      receive(value)
    default: break
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
  ) {
    guard succeeded(error, "subscribing") else { return }
    isSubscribed = characteristic.isNotifying
    log(isSubscribed ? "subscribed to \(characteristic.uuid)" : "unsubscribed from \(characteristic.uuid)")
  }

  private func receive(_ value: Data) {
    received += 1
    let octets = [UInt8](value)
    guard octets.count >= 4 else { return log("invalid measurement: \(octets.count) octets") }
    log("\(octets[1]) beats per minute, \(Int(octets[2]) | Int(octets[3]) << 8) kJ")
    guard received == expectedCount, let sensor, let controlPoint = characteristic(Self.controlPoint) else { return }
    log("resetting energy expended")
    sensor.writeValue(Data([1]), for: controlPoint, type: .withResponse)
  }

  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: Error?) {
    guard succeeded(error, "writing \(characteristic.uuid)") else { return }
    log("written; disconnecting")
    central.cancelPeripheralConnection(peripheral)
  }

  // MARK: Helpers

  private func characteristic(_ uuid: CBUUID) -> CBCharacteristic? {
    sensor?.services?.first { $0.uuid == Self.heartRate }?.characteristics?.first { $0.uuid == uuid }
  }

  private func succeeded(_ error: Error?, _ what: String) -> Bool {
    guard let error else { return true }
    log("\(what) failed: \(error.localizedDescription)")
    if let sensor { central.cancelPeripheralConnection(sensor) }
    return false
  }
}
