import BluetoothLab
import CoreBluetooth
import Testing

@testable import Patterns

@Suite struct DeviceScannerTests {
  @Test("An actor whose delegate is nonisolated gets each discovered device as a value")
  func actorScans() async throws {
    let world = World(seed: 1)
    var lamps: [TestPeripheral] = []
    for (name, distance) in [("Near", 1.0), ("Far", 10.0)] {
      let lamp = TestPeripheral(on: world.makeDevice(named: name, at: Position(x: distance)))
      try await lamp.advertise(name)
      lamps.append(lamp)
    }
    let phone = world.makeDevice(named: "phone")
    let scanner = DeviceScanner()
    await phone.run { await scanner.start() }
    async let near = scanner.device(named: "Near")
    async let far = scanner.device(named: "Far")
    await world.run(for: .seconds(3))
    let (first, second) = await (near, far)
    #expect(first.rssi > second.rssi)
    #expect(await scanner.sightings.count == 2)
    await scanner.stop()
    #expect(lamps.allSatisfy { $0.manager.isAdvertising })
  }
}
