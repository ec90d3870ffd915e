import BluetoothLab
import BluetoothLabTime
import HeartRateApp
import Testing

// The control of the app's time belongs to the process: one test at a time.
@Suite(.serialized) @MainActor struct ReconnectTests {
  let world = World(seed: 1)
  let strap: AccessoryDevice<HeartRateSensor>
  let phone: Device

  init() {
    strap = world.add(HeartRateSensor(), named: "strap")
    phone = world.makeDevice(named: "phone", at: Position(x: 2))
    world.makeDefault(phone)
  }

  @Test("The app connects again 5 s after the loss of the link")
  func reconnects() async throws {
    try await world.withAppTime {
      let monitor = HeartRateMonitor()
      monitor.start()
      try await world.expect("the app is connected") { monitor.state == .connected }

      strap.setPower(false)
      try await world.expect("the app notices the loss") { monitor.state == .waiting }
      #expect(monitor.beatsPerMinute == nil)
      let lost = world.now

      strap.setPower(true)
      try await world.expect("the app is connected again") { monitor.state == .connected }
      // Task.sleep of the app took 5 s of the world's time, and no real time.
      #expect((.seconds(5)...(.seconds(6))).contains(world.now - lost))
      try await world.expect("the app shows values again") { monitor.beatsPerMinute != nil }
    }
  }

  @Test("Out of range, the app waits without a limit", arguments: [10, 300])
  func waits(seconds: Int) async throws {
    try await world.withAppTime {
      let monitor = HeartRateMonitor()
      monitor.start()
      try await world.expect("the app is connected") { monitor.state == .connected }
      strap.move(to: Position(x: 5_000))
      await world.run(for: .seconds(seconds))
      #expect(monitor.state == .waiting || monitor.state == .connecting)
      strap.move(to: Position(x: 1))
      try await world.expect("the app is connected again") { monitor.state == .connected }
    }
  }

  @Test("While Bluetooth is off the app shows no value, and afterwards it is connected again")
  func powerCycle() async throws {
    try await world.withAppTime {
      let monitor = HeartRateMonitor()
      monitor.start()
      try await world.expect("the app shows values") { monitor.beatsPerMinute != nil }
      phone.setPower(false)
      try await world.expect("the app notices") { monitor.state == .bluetoothOff }
      #expect(monitor.beatsPerMinute == nil)
      phone.setPower(true)
      try await world.expect("the app shows values again") { monitor.beatsPerMinute != nil }
      #expect(monitor.state == .connected)
    }
  }

  @Test("If Bluetooth goes off and on while the app waits, it searches for a sensor")
  func powerCycleWhileWaiting() async throws {
    try await world.withAppTime {
      let monitor = HeartRateMonitor()
      monitor.start()
      try await world.expect("the app is connected") { monitor.state == .connected }
      strap.setPower(false)
      try await world.expect("the app notices the loss") { monitor.state == .waiting }
      phone.setPower(false)
      try await world.expect("the app notices that Bluetooth is off") { monitor.state == .bluetoothOff }
      phone.setPower(true)
      try await world.expect("the app searches") { monitor.state == .searching }
      await world.run(for: .seconds(10))
      #expect(monitor.state == .searching)
      strap.setPower(true)
      try await world.expect("the app is connected again") { monitor.state == .connected }
    }
  }
}
