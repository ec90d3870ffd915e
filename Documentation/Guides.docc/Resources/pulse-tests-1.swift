import BluetoothLab
import BluetoothLabTime
import Pulse
import Testing

@MainActor @Suite(.serialized) struct PulseTests {
  @Test func connects() async throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(beatsPerMinute: 61), named: "strap")
    world.makeDefault(world.makeDevice(named: "phone", at: Position(x: 2)))

    try await world.withAppTime {
      let monitor = PulseMonitor()
      monitor.start()
      try await world.expect("the app is connected") { monitor.isConnected }
    }
  }
}
