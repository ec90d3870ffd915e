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
}
