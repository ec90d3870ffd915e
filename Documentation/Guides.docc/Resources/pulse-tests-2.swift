import BluetoothLab
import BluetoothLabTime
import Pulse
import Testing

@MainActor @Suite(.serialized) struct PulseTests {
  @Test func measures() async throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(beatsPerMinute: 61), named: "strap")
    world.makeDefault(world.makeDevice(named: "phone", at: Position(x: 2)))

    try await world.withAppTime {
      let monitor = PulseMonitor()
      var received: [Int] = []
      let reader = Task {
        for await measurement in monitor.measurements { received.append(measurement) }
      }
      monitor.start()
      try await world.expect("three measurements", within: .seconds(10)) { received.count == 3 }
      #expect(received == [61, 61, 61])
      reader.cancel()
    }
  }
}
