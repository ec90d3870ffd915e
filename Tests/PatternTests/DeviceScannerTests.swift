import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@testable import Patterns

@Suite struct DeviceScannerTests {
  @Test("An actor whose delegate is nonisolated gets each discovered device as a value", .requirement("A082"))
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
    let (first, second) = try await (near, far)
    #expect(first.rssi > second.rssi)
    #expect(await scanner.sightings.count == 2)
    await scanner.stop()
    #expect(lamps.allSatisfy { $0.manager.isAdvertising })
  }

  @Test("A cancellation, and the end of the scan, end the calls that wait for a device")
  func waitingEnds() async throws {
    let world = World(seed: 1)
    let phone = world.makeDevice(named: "phone")
    let scanner = DeviceScanner()
    await phone.run { await scanner.start() }
    let calls = (0..<2).map { _ in Task { try await scanner.device(named: "Missing") } }
    await world.run(for: .seconds(1))
    while await scanner.waitingCount < 2 { await Task.yield() }
    calls[0].cancel()
    await #expect(throws: CancellationError.self) { try await calls[0].value }
    #expect(await scanner.waitingCount == 1)
    await scanner.stop()
    await #expect(throws: CancellationError.self) { try await calls[1].value }
    #expect(await scanner.waitingCount == 0)
    // A call after the end does not wait.
    await #expect(throws: CancellationError.self) { try await scanner.device(named: "Missing") }
  }
}
