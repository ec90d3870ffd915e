import BluetoothLab
import CoreBluetooth

/// A peripheral whose only characteristic is read, written and notified at the maximum rate.
final class Server: NSObject, CBPeripheralManagerDelegate {
  static let service = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001")

  private let manager: CBPeripheralManager
  private let characteristic: CBMutableCharacteristic
  private let value: Data
  private(set) var isSubscribed = false
  private(set) var sent = 0
  /// True if the peripheral notifies whenever the transmit queue has room.
  var streams = false

  /// - Parameter isEncrypted: True if subscribing needs an encrypted link.
  init(on device: Device, valueLength: Int, isEncrypted: Bool) {
    characteristic = CBMutableCharacteristic(
      type: CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C002"),
      properties: [.read, isEncrypted ? .notifyEncryptionRequired : .notify], value: nil, permissions: .readable)
    value = Data(repeating: 0x5A, count: valueLength)
    manager = CBPeripheralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: device])
    super.init()
    manager.delegate = self
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return }
    let service = CBMutableService(type: Self.service, primary: true)
    service.characteristics = [characteristic]
    peripheral.add(service)
    peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    request.value = value
    peripheral.respond(to: request, withResult: .success)
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    isSubscribed = true
  }

  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { stream() }

  func stream() {
    while streams, manager.updateValue(value, for: characteristic, onSubscribedCentrals: nil) { sent += 1 }
  }
}

/// A central that connects on request, and sends each read as soon as the previous one is answered.
final class Client: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private let manager: CBCentralManager
  private(set) var peripheral: CBPeripheral?
  private(set) var characteristic: CBCharacteristic?
  private(set) var values = 0
  private(set) var octets = 0
  /// The number of remaining reads.
  private var readsLeft = 0

  init(on device: Device) {
    manager = CBCentralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: device])
    super.init()
    manager.delegate = self
  }

  var hasFinishedReading: Bool { readsLeft == 0 }

  func connect() {
    if let peripheral { manager.connect(peripheral) }
  }

  func read(_ count: Int) {
    readsLeft = count
    if let characteristic { peripheral?.readValue(for: characteristic) }
  }

  func subscribe() {
    if let characteristic { peripheral?.setNotifyValue(true, for: characteristic) }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [Server.service]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    central.stopScan()
    self.peripheral = peripheral
    peripheral.delegate = self
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices(nil)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    if let service = peripheral.services?.first { peripheral.discoverCharacteristics(nil, for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    characteristic = service.characteristics?.first
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    values += 1
    octets += characteristic.value?.count ?? 0
    guard readsLeft > 0 else { return }
    readsLeft -= 1
    if readsLeft > 0 { peripheral.readValue(for: characteristic) }
  }
}

/// A server and a client two metres apart, in a separate world.
final class Pair {
  let world = World(seed: 1)
  let server: Server
  let client: Client

  init(valueLength: Int = 20, isEncrypted: Bool = false) {
    server = Server(on: world.makeDevice(named: "server"), valueLength: valueLength, isEncrypted: isEncrypted)
    client = Client(on: world.makeDevice(named: "client", at: Position(x: 2)))
  }

  /// Runs until `condition` is true; throws an error if it never becomes true.
  func run(until condition: () -> Bool) throws {
    guard world.run(until: condition, limit: .seconds(100_000)) else { throw DidNotHappen() }
  }

  /// Connects and discovers the characteristic.
  func meet() throws {
    try run(until: { client.peripheral != nil })
    client.connect()
    try run(until: { client.characteristic != nil })
  }
}

struct DidNotHappen: Error, CustomStringConvertible {
  let description = "the measured operation did not complete"
}
