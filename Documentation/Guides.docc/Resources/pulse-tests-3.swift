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

  @Test func connectsAgainAfterAPause() async throws {
    let world = World(seed: 1)
    let strap = world.add(HeartRateSensor(beatsPerMinute: 61), named: "strap")
    world.makeDefault(world.makeDevice(named: "phone", at: Position(x: 2)))

    try await world.withAppTime {
      let monitor = PulseMonitor()
      monitor.start()
      try await world.expect("the app is connected") { monitor.isConnected }

      strap.setPower(false)
      try await world.expect("the app notices it") { !monitor.isConnected }
      let lost = world.now
      strap.setPower(true)
      try await world.expect("the app is connected again") { monitor.isConnected }
      #expect((.seconds(5) ... .seconds(6)).contains(world.now - lost))
    }
  }
}
