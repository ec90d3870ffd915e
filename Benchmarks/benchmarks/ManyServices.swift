import BluetoothLab
import CoreBluetooth

/// A peripheral with many services and a central that discovers all of them, two metres apart in a separate world.
///
/// The cost of a service includes its way through both managers, daemons and hosts. A cost that grows with the number
/// of services is in the count of `Counts.Work.service`.
final class ManyServices: NSObject, CBPeripheralManagerDelegate, CBCentralManagerDelegate, CBPeripheralDelegate {
  private static let service = CBUUID(string: "180D")

  private let world = World(seed: 1)
  private let count: Int
  private var server: CBPeripheralManager?
  private var client: CBCentralManager?
  private var peer: CBPeripheral?
  private var addedCount = 0
  private var discoveredCount = 0

  init(_ count: Int) {
    self.count = count
    super.init()
    let serverDevice = world.makeDevice(named: "server")
    let clientDevice = world.makeDevice(named: "client", at: Position(x: 2))
    server = CBPeripheralManager(delegate: self, queue: nil, options: [CBManagerOptionAdapterKey: serverDevice])
    client = CBCentralManager(delegate: self, queue: nil, options: [CBManagerOptionAdapterKey: clientDevice])
  }

  /// Publishes the services, connects and discovers them.
  func run() throws {
    guard world.run(until: { discoveredCount == count }, limit: .seconds(100_000)) else { throw DidNotHappen() }
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return }
    for _ in 0..<count { peripheral.add(CBMutableService(type: Self.service, primary: true)) }
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    if error == nil { addedCount += 1 }
    guard addedCount == count else { return }
    peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [Self.service]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    central.stopScan()
    peer = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices([Self.service])
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    discoveredCount = peripheral.services?.count ?? 0
  }
}
