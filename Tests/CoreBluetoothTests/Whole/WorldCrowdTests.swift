import BluetoothLab
import CoreBluetooth
import TestSupport
import Testing

@Suite struct WorldCrowdTests {
  @Test(
    "Phones that discover a sensor at the same instant and connect at once all get a connection", arguments: [2, 5])
  func crowd(count: Int) async {
    let world = World(seed: 3)
    let accessory = PeripheralApp()
    let manager = CBPeripheralManager(
      delegate: accessory, queue: nil, options: [CBManagerOptionAdapterKey: world.makeDevice(named: "sensor")])
    await world.run(until: { manager.state == .poweredOn })
    manager.add(CBMutableService(type: TwoDeviceFixture.service, primary: true))
    manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [TwoDeviceFixture.service]])
    await world.run(until: { manager.isAdvertising })
    var plan = PhoneApp.Plan.meet(TwoDeviceFixture.service)
    plan.reconnects = true
    let phones = (0..<count).map {
      PhoneApp(on: world.makeDevice(named: "phone \($0)", at: Position(x: 1, y: Double($0))), plan)
    }
    let allCame = await world.run(until: { phones.allSatisfy(\.isReady) }, limit: .seconds(30))
    #expect(allCame, "\(phones.map { $0.peripheral?.state.rawValue ?? -1 })")
  }

  @Test("One manager is connected to 100 peripherals at once, and each of them delivers a value")
  func manyPeripherals() async {
    let (world, count) = (World(seed: 1), 100)
    let sensors = (0..<count).map { number in
      let position = Position(x: 1 + Double(number % 10), y: Double(number / 10))
      let sensor = SensorApp(on: world.makeDevice(named: "sensor \(number)", at: position), name: nil)
      sensor.stored = Data([UInt8(number)])
      return sensor
    }
    let client = ManyClient(on: world.makeDevice(named: "phone"), wanted: count)
    let areConnected = await world.run(until: { client.characteristics.count == count }, limit: .seconds(120))
    #expect(areConnected, "\(client.peripherals.count) discovered, \(client.characteristics.count) ready")
    #expect(client.peripherals.count { $0.state == .connected } == count)
    client.read()
    let haveAnswered = await world.run(until: { client.values.count == count }, limit: .seconds(30))
    #expect(haveAnswered)
    #expect(client.values.sorted() == (0..<count).map { UInt8($0) })
    await world.run(for: .seconds(2))
    #expect(client.peripherals.count { $0.state == .connected } == count && client.lost == 0)
    withExtendedLifetime(sensors) {}
  }
}

/// An app that connects to many sensors, discovers the characteristic of each, and reads it.
private final class ManyClient: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private let manager: CBCentralManager
  private let wanted: Int
  private(set) var peripherals: [CBPeripheral] = []
  private(set) var characteristics: [CBCharacteristic] = []
  /// The first octet of each value, in the order of their arrival.
  private(set) var values: [UInt8] = []
  /// The number of disconnections and of failed connections.
  private(set) var lost = 0

  init(on device: Device, wanted: Int) {
    self.wanted = wanted
    manager = CBCentralManager(
      delegate: nil, queue: DispatchQueue(label: "many"), options: [CBManagerOptionAdapterKey: device])
    super.init()
    manager.delegate = self
  }

  func read() {
    for characteristic in characteristics { characteristic.service?.peripheral?.readValue(for: characteristic) }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [SensorApp.service]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard !peripherals.contains(where: { $0 === peripheral }) else { return }
    peripherals.append(peripheral)
    peripheral.delegate = self
    central.connect(peripheral)
    if peripherals.count == wanted { central.stopScan() }
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices([SensorApp.service])
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    lost += 1
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    lost += 1
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    if let service = peripheral.services?.first { peripheral.discoverCharacteristics(nil, for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    characteristics += service.characteristics ?? []
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    values += characteristic.value?.prefix(1) ?? Data()
  }
}
