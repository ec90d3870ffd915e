import BluetoothLab
import CoreBluetooth
import Testing

@Suite struct WorldCrowdTests {
  /// An app that connects to the first sensor that it finds, repeatedly until it succeeds.
  private final class Phone: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private(set) var sensor: CBPeripheral?
    private(set) var hasServices = false
    private var central: CBCentralManager!

    init(on device: Device) {
      super.init()
      central = CBCentralManager(delegate: self, queue: nil, options: [CBManagerOptionAdapterKey: device])
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
      central.scanForPeripherals(withServices: [Air.service])
    }

    func centralManager(
      _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
      rssi: NSNumber
    ) {
      guard sensor == nil else { return }
      sensor = peripheral
      peripheral.delegate = self
      central.stopScan()
      central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
      peripheral.discoverServices([Air.service])
    }

    func centralManager(
      _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) { central.connect(peripheral) }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
      hasServices = peripheral.services?.isEmpty == false
    }
  }

  @Test(
    "Phones that discover a sensor at the same instant and connect at once all get a connection", arguments: [2, 5])
  func crowd(count: Int) async {
    let world = World(seed: 3)
    let accessory = PeripheralApp()
    let manager = CBPeripheralManager(
      delegate: accessory, queue: nil, options: [CBManagerOptionAdapterKey: world.makeDevice(named: "sensor")])
    await world.run(until: { manager.state == .poweredOn })
    manager.add(CBMutableService(type: Air.service, primary: true))
    manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Air.service]])
    await world.run(until: { manager.isAdvertising })
    let phones = (0..<count).map {
      Phone(on: world.makeDevice(named: "phone \($0)", at: Position(x: 1, y: Double($0))))
    }
    let allCame = await world.run(until: { phones.allSatisfy(\.hasServices) }, limit: .seconds(30))
    #expect(allCame, "\(phones.map { $0.sensor?.state.rawValue ?? -1 })")
  }
}
