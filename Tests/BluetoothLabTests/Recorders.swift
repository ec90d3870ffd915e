import BluetoothLab
import CoreBluetooth

/// A peripheral with one service, whose delegate records the events.
final class TestPeripheral: NSObject, CBPeripheralManagerDelegate {
  static let service = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001")

  let manager: CBPeripheralManager
  /// Read, write with and without response, notify; the delegate answers.
  let value = CBMutableCharacteristic(
    type: CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C002"),
    properties: [.read, .write, .writeWithoutResponse, .notify], value: nil, permissions: [.readable, .writeable])
  private(set) var events: [String] = []
  var stored = Data("hello".utf8)
  private let name: String?

  init(on device: Device, name: String? = "peripheral") {
    self.name = name
    manager = CBPeripheralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: device])
    super.init()
    manager.delegate = self
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    events.append("state \(peripheral.state.rawValue)")
    guard peripheral.state == .poweredOn else { return }
    let service = CBMutableService(type: Self.service, primary: true)
    service.characteristics = [value]
    peripheral.add(service)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
    events.append(error.map { "not added: \($0)" } ?? "added")
    var data: [String: Any] = [CBAdvertisementDataServiceUUIDsKey: [Self.service]]
    if let name { data[CBAdvertisementDataLocalNameKey] = name }
    peripheral.startAdvertising(data)
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
    events.append(error.map { "not advertising: \($0)" } ?? "advertising")
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    guard request.offset <= stored.count else { return peripheral.respond(to: request, withResult: .invalidOffset) }
    request.value = stored.dropFirst(request.offset)
    peripheral.respond(to: request, withResult: .success)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    for request in requests { stored = request.value ?? Data() }
    peripheral.respond(to: requests[0], withResult: .success)
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    events.append("subscribed")
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    events.append("unsubscribed")
  }
}

/// A central that finds, connects and discovers by itself, and records the events.
final class TestCentral: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  let manager: CBCentralManager
  private(set) var events: [String] = []
  private(set) var peripheral: CBPeripheral?
  private(set) var disconnection: (any Error)?
  private(set) var values: [Data] = []
  private(set) var writes = 0
  /// Called in each callback, after the event has been recorded.
  var onEvent: ((String) -> Void)?

  init(on device: Device, queue: DispatchQueue? = nil) {
    manager = CBCentralManager(delegate: nil, queue: queue, options: [CBManagerOptionAdapterKey: device])
    super.init()
    manager.delegate = self
  }

  var characteristic: CBCharacteristic? { peripheral?.services?.first?.characteristics?.first }
  var isReady: Bool { characteristic != nil }
  func has(_ event: String) -> Bool { events.contains(event) }

  private func note(_ event: String) {
    events.append(event)
    onEvent?(event)
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    note("state \(central.state.rawValue)")
    guard central.state == .poweredOn else { return }
    peripheral = nil
    central.scanForPeripherals(withServices: [TestPeripheral.service])
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard self.peripheral == nil else { return }
    self.peripheral = peripheral
    peripheral.delegate = self
    note("discovered")
    central.stopScan()
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    note("connected")
    peripheral.discoverServices([TestPeripheral.service])
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    disconnection = error
    note("disconnected")
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    if let service = peripheral.services?.first { peripheral.discoverCharacteristics(nil, for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    note("ready")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    values.append(characteristic.value ?? Data())
    note("value")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    writes += 1
    note(error.map { "not written: \($0)" } ?? "written")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    note(characteristic.isNotifying ? "notifying" : "not notifying")
  }
}
