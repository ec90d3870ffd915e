import BluetoothLab
import CoreBluetooth

/// A phone that connects to the first device it finds, discovers all its attributes, and records the events.
final class Explorer: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  let manager: CBCentralManager
  private(set) var events: [String] = []
  private(set) var peripheral: CBPeripheral?
  private(set) var advertisement: [String: Any] = [:]
  private(set) var disconnection: (any Error)?
  /// The values of each characteristic in order, from reads and notifications.
  private(set) var values: [CBUUID: [Data]] = [:]
  private(set) var sightings = 0
  private(set) var found: Set<UUID> = []
  private(set) var rssi: Double?
  private let connects: Bool
  private var undiscovered = 0

  init(on device: Device, connects: Bool = true) {
    self.connects = connects
    manager = CBCentralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: device])
    super.init()
    manager.delegate = self
  }

  var isReady: Bool { events.contains("ready") }
  func has(_ event: String) -> Bool { events.contains(event) }

  func characteristic(_ uuid: String, of service: String? = nil) -> CBCharacteristic? {
    peripheral?.services?
      .first { candidate in
        (service == nil || candidate.uuid == CBUUID(string: service ?? ""))
          && candidate.characteristics?.contains { $0.uuid == CBUUID(string: uuid) } ?? false
      }?
      .characteristics?.first { $0.uuid == CBUUID(string: uuid) }
  }

  func read(_ uuid: String, of service: String? = nil) {
    if let characteristic = characteristic(uuid, of: service) { peripheral?.readValue(for: characteristic) }
  }

  func subscribe(_ uuid: String) {
    if let characteristic = characteristic(uuid) { peripheral?.setNotifyValue(true, for: characteristic) }
  }

  func write(_ octets: [UInt8], to uuid: String, of service: String? = nil, _ type: CBCharacteristicWriteType) {
    guard let characteristic = characteristic(uuid, of: service) else { return }
    peripheral?.writeValue(Data(octets), for: characteristic, type: type)
  }

  func values(of uuid: String) -> [[UInt8]] { (values[CBUUID(string: uuid)] ?? []).map { Array($0) } }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    events.append("state \(central.state.rawValue)")
    guard central.state == .poweredOn else { return }
    central.scanForPeripherals(
      withServices: nil, options: connects ? nil : [CBCentralManagerScanOptionAllowDuplicatesKey: true])
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    sightings += 1
    found.insert(peripheral.identifier)
    self.rssi = rssi.doubleValue
    advertisement = advertisementData
    guard connects, self.peripheral == nil else { return }
    self.peripheral = peripheral
    peripheral.delegate = self
    central.stopScan()
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    events.append("connected")
    peripheral.discoverServices(nil)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    disconnection = error
    events.append("disconnected")
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    let services = peripheral.services ?? []
    undiscovered = services.count
    for service in services { peripheral.discoverCharacteristics(nil, for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    undiscovered -= 1
    if undiscovered == 0 { events.append("ready") }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let error { return events.append("not read: \((error as NSError).code)") }
    values[characteristic.uuid, default: []].append(characteristic.value ?? Data())
  }

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    events.append(error.map { "not written: \(($0 as NSError).code)" } ?? "written")
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    events.append(characteristic.isNotifying ? "notifying" : "not notifying")
  }
}

/// A phone two metres from an accessory.
final class Encounter<A: Accessory> {
  let world: World
  let accessory: AccessoryDevice<A>
  let phone: Device
  let app: Explorer

  init(
    _ accessory: A, seed: UInt64 = 1, _ options: DeviceOptions = DeviceOptions(), capture: Capture? = nil,
    connects: Bool = true
  ) {
    world = World(seed: seed, capture: capture)
    self.accessory = world.add(accessory, named: "accessory", options)
    phone = world.makeDevice(named: "phone", at: Position(x: 2))
    app = Explorer(on: phone, connects: connects)
  }

  /// Runs the world until everything is discovered.
  func prepare() async -> Bool { await world.run(until: { app.isReady }, limit: .seconds(20)) }
}

/// Calls `body` with a path in the folder for temporary files, and removes the file afterwards.
func withTemporaryFile<R>(_ body: (String) async throws -> R) async throws -> R {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pcapng")
  defer { try? FileManager.default.removeItem(at: url) }
  return try await body(url.path)
}
