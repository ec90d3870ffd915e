import CoreBluetooth

/// An app that logs the values of a heart rate sensor for ever: also after the system has terminated it, because an
/// event launches it again, and its central manager is restored.
final class PulseLog: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private static let heartRate = CBUUID(string: "180D")
  private static let measurement = CBUUID(string: "2A37")
  /// The system alerts the user if the sensor is lost while the app is suspended.
  private static let options = [CBConnectPeripheralOptionNotifyOnDisconnectionKey: true]

  private let log: (String) -> Void
  private var central: CBCentralManager!
  private var sensor: CBPeripheral?

  init(log: @escaping (String) -> Void) {
    self.log = log
    super.init()
    central = CBCentralManager(
      delegate: self, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "pulse"])
  }

  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    sensor = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
    sensor?.delegate = self
    log("restored \(sensor == nil ? "nothing" : sensor?.state == .connected ? "a connected sensor" : "a sensor")")
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return log("Bluetooth is not on") }
    log("Bluetooth is on")
    // A restored sensor may be connected already. The former launch may have ended before it subscribed.
    if let sensor, sensor.state != .disconnected {
      if sensor.state == .connected, !isSubscribed(to: sensor) { sensor.discoverServices([Self.heartRate]) }
      return
    }
    // While Bluetooth was off, the link ended without `didDisconnectPeripheral`. After a reset, the former object is
    // invalid, and only a retrieved one can be connected.
    if let sensor, let known = central.retrievePeripherals(withIdentifiers: [sensor.identifier]).first {
      connect(known)
    } else {
      sensor = nil
      central.scanForPeripherals(withServices: [Self.heartRate])
    }
  }

  private func isSubscribed(to peripheral: CBPeripheral) -> Bool {
    let characteristics = (peripheral.services ?? []).flatMap { $0.characteristics ?? [] }
    return characteristics.contains { $0.isNotifying }
  }

  private func connect(_ peripheral: CBPeripheral) {
    sensor = peripheral
    peripheral.delegate = self
    central.connect(peripheral, options: Self.options)
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    guard sensor == nil else { return }
    central.stopScan()
    connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    log("connected")
    peripheral.discoverServices([Self.heartRate])
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    log("disconnected")
    connect(peripheral)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    guard let service = peripheral.services?.first else { return }
    peripheral.discoverCharacteristics([Self.measurement], for: service)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    guard let measurement = service.characteristics?.first else { return }
    peripheral.setNotifyValue(true, for: measurement)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    guard let value = characteristic.value, value.count > 1 else { return }
    log("\(value[value.startIndex + 1]) beats per minute")
  }
}
