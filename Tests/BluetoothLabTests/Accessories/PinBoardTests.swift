import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import TestSupport
import Testing

@Suite("Boards of pins")
struct PinBoardTests {
  /// Returns the UUID of a characteristic with this number as text.
  private static func uuid(_ number: String) -> String { "229B\(number)-03FB-40DA-98A7-B0DEF65C2D4B" }
  private static let (setting, pullUp, output, input) = (uuid("3000"), uuid("3001"), uuid("3002"), uuid("3003"))
  private static let (pulsedPins, period, duty) = (uuid("3004"), uuid("3005"), uuid("3006"))
  private static let (drive, reset) = (uuid("3007"), uuid("3014"))
  private static let analog = ["3008", "3009", "300A"].map(uuid)

  @Test("A board of pins has the service of Konashi, and Battery and Device Information with a software revision")
  func services() async throws {
    let meeting = Encounter(PinBoard())
    try #require(await meeting.prepare())
    let services = try #require(meeting.app.peripheral?.services)
    #expect(services.map(\.uuid.uuidString) == ["229BFF00-03FB-40DA-98A7-B0DEF65C2D4B", "180F", "180A"])
    #expect(
      services[0].characteristics?.map(\.uuid.uuidString) == [
        Self.setting, Self.pullUp, Self.output, Self.input, Self.pulsedPins, Self.period, Self.duty, Self.drive,
      ] + Self.analog + [Self.reset])
    meeting.app.read("2A28")
    await meeting.world.run(for: .milliseconds(500))
    #expect(meeting.app.values(of: "2A28") == [Array("1.0.0".utf8)])
  }

  @Test("An app lights the LEDs of a board: a pin must be an output, and have a high level")
  func lights() async throws {
    let meeting = Encounter(PinBoard())
    try #require(await meeting.prepare())
    func brightness() -> [Double] {
      [.led2, .led3, .led4, .led5].map { meeting.accessory.accessory.brightness(of: $0) }
    }
    // LED 3 only: the level of LED 2 is high, but the pin is an input.
    #expect(await meeting.command([0b0001_0100], to: Self.setting) == .accepted)
    #expect(await meeting.command([0b0000_0110], to: Self.output) == .accepted)
    #expect(brightness() == [0, 1, 0, 0])
    let board = meeting.accessory.accessory
    #expect(board.outputs == PinBoard.Pins(.led3, .led5))
    #expect(board.level(of: .led3) == .high && board.level(of: .led5) == .low && board.level(of: .led2) == .low)
    meeting.app.write([0b0001_0110], to: Self.setting, .withoutResponse)
    await meeting.world.run(for: .milliseconds(300))
    #expect(brightness() == [1, 1, 0, 0])
    for uuid in [Self.setting, Self.output] { meeting.app.read(uuid) }
    await meeting.world.run(for: .milliseconds(300))
    #expect(meeting.app.values(of: Self.setting) == [[0b0001_0110]])
    #expect(meeting.app.values(of: Self.output) == [[0b0000_0110]])
    #expect(await meeting.command([1, 2], to: Self.output) == .rejected(0x0D))
  }

  @Test("A board notifies the levels of its inputs: a switch, a level from outside, and a pull-up resistor")
  func inputs() async throws {
    let meeting = Encounter(PinBoard())
    try #require(await meeting.prepare(subscribing: [Self.input]))
    meeting.accessory.update { $0.press(.s1) }
    await meeting.world.run(for: .milliseconds(300))
    meeting.accessory.update { $0.release(.s1) }
    await meeting.world.run(for: .milliseconds(300))
    #expect(meeting.app.values(of: Self.input) == [[1], [0]])
    // The open pins 5 and 7 become high, and pin 6, to which the outside applies a low level, stays low.
    meeting.accessory.update { $0.apply(.low, to: .pio6) }
    #expect(await meeting.command([0b1110_0000], to: Self.pullUp) == .accepted)
    #expect(meeting.app.values(of: Self.input).last == [0b1010_0000])
    #expect(meeting.accessory.accessory.pullUps == PinBoard.Pins(.pio5, .pio6, .pio7))
    // Outputs are no inputs.
    #expect(await meeting.command([0b1000_0000], to: Self.setting) == .accepted)
    #expect(meeting.app.values(of: Self.input).last == [0b0010_0000])
    meeting.accessory.update { $0.press(.pio7) }
    await meeting.world.run(for: .milliseconds(300))
    #expect(meeting.app.values(of: Self.input).count == 4)
    #expect(meeting.accessory.accessory.inputLevels == PinBoard.Pins(.pio5))
  }

  @Test(
    "An app dims the LEDs of a board by pulse-width modulation, and times of no pin and too long duties are refused")
  func pulses() async throws {
    let meeting = Encounter(PinBoard())
    try #require(await meeting.prepare())
    // A duty without a period.
    #expect(await meeting.command([1, 0, 0, 0, 1], to: Self.duty) == .rejected(0x13))
    // 10,000 µs and 2,500 µs, most significant octet first.
    #expect(await meeting.command([1, 0, 0, 0x27, 0x10], to: Self.period) == .accepted)
    #expect(await meeting.command([1, 0, 0, 0x09, 0xC4], to: Self.duty) == .accepted)
    #expect(meeting.accessory.accessory.brightness(of: .led2) == 0)
    #expect(await meeting.command([0b0000_0110], to: Self.pulsedPins) == .accepted)
    #expect(meeting.accessory.accessory.brightness(of: .led2) == 0.25)
    #expect(meeting.accessory.accessory.brightness(of: .led3) == 0, "It has no period.")
    #expect(meeting.accessory.accessory.outputs == PinBoard.Pins(.led2, .led3))
    #expect(await meeting.command([1, 0, 0, 0x27, 0x11], to: Self.duty) == .rejected(0x13))
    #expect(await meeting.command([1, 0, 0, 0x09, 0xC3], to: Self.period) == .rejected(0x13))
    #expect(await meeting.command([8, 0, 0, 0, 0], to: Self.period) == .rejected(0x13))
    #expect(await meeting.command([1, 0, 0, 0], to: Self.period) == .rejected(0x0D))
    #expect(await meeting.command([0], to: Self.pulsedPins) == .accepted)
    #expect(meeting.accessory.accessory.brightness(of: .led2) == 0)
  }

  @Test("An app reads the voltages of a board's analog pins, and drives them")
  func voltages() async throws {
    var board = PinBoard()
    board.analogInputs = [.aio0: 650, .aio1: 5_000]
    let meeting = Encounter(board)
    try #require(await meeting.prepare())
    for uuid in Self.analog { meeting.app.read(uuid) }
    await meeting.world.run(for: .milliseconds(500))
    // 650 mV, the highest voltage, and an open pin.
    #expect(Self.analog.map { meeting.app.values(of: $0) } == [[[0x02, 0x8A]], [[0x05, 0x14]], [[0, 0]]])
    #expect(await meeting.command([2, 0x03, 0xE8], to: Self.drive) == .accepted)
    #expect(meeting.accessory.accessory.millivolts(of: .aio2) == 1_000)
    #expect(await meeting.command([2, 0x05, 0x15], to: Self.drive) == .rejected(0x13))
    #expect(await meeting.command([3, 0, 0], to: Self.drive) == .rejected(0x13))
    meeting.app.read(Self.analog[2])
    await meeting.world.run(for: .milliseconds(500))
    #expect(meeting.app.values(of: Self.analog[2]).last == [0x03, 0xE8])
  }

  @Test("A reset clears the pins of a board and ends the link, and only 1 resets it; the pins outlive other links")
  func restart() async throws {
    var plan = PhoneApp.Plan()
    plan.reconnects = true
    let meeting = Encounter(PinBoard(), plan: plan)
    try #require(await meeting.prepare())
    #expect(await meeting.command([0b0000_0010], to: Self.setting) == .accepted)
    #expect(await meeting.command([0b0000_0010], to: Self.output) == .accepted)
    meeting.accessory.act { _, context in context.disconnect() }
    #expect(await meeting.world.run(until: { meeting.app.events.count { $0 == .ready } == 2 }, limit: .seconds(20)))
    #expect(meeting.app.has(.disconnected))
    #expect(meeting.accessory.accessory.brightness(of: .led2) == 1)
    #expect(await meeting.command([0], to: Self.reset) == .rejected(0x13))
    #expect(meeting.accessory.accessory.brightness(of: .led2) == 1)
    let before = meeting.app.events.count { $0 == .disconnected }
    meeting.app.write([1], to: Self.reset, .withoutResponse)
    await meeting.world.run(for: .seconds(1))
    #expect(meeting.app.events.count { $0 == .disconnected } == before + 1)
    #expect(meeting.accessory.accessory.brightness(of: .led2) == 0)
    #expect(meeting.accessory.accessory.outputs == [])
  }

  @Test("The switches of a board are pressed and released by themselves at the times of its schedule")
  func schedule() async throws {
    var board = PinBoard()
    board.scheduledPresses = [
      PinBoard.Press(.pio5, at: .seconds(12), for: .seconds(2)), PinBoard.Press(at: .seconds(10)),
      PinBoard.Press(at: .seconds(13), for: .seconds(2)),
    ]
    let meeting = Encounter(board)
    try #require(await meeting.prepare(subscribing: [Self.input]))
    #expect(meeting.world.now < .seconds(9))
    var times: [Duration] = []
    for count in 1...6 {
      let isNotified = await meeting.world.run(
        until: { meeting.app.values(of: Self.input).count == count }, limit: .seconds(10))
      #expect(isNotified)
      times.append(meeting.world.now)
    }
    #expect(meeting.app.values(of: Self.input) == [[1], [0], [0x20], [0x21], [1], [0]])
    for (time, expected) in zip(times, [10, 10.2, 12, 13, 14, 15]) {
      #expect(time > .seconds(expected) && time < .seconds(expected + 0.05), "\(time)")
    }
  }
}
