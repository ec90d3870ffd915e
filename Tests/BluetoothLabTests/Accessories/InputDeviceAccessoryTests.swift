import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Keyboard and mouse")
struct InputDeviceAccessoryTests {
  private static let (report, bootKeyboard, bootMouse, protocolMode) = ("2A4D", "2A22", "2A33", "2A4E")

  /// Devices without peripheral latency, so that what the app writes arrives at once.
  private var keyboard: Keyboard {
    var keyboard = Keyboard()
    keyboard.connection = nil
    return keyboard
  }

  private var mouse: Mouse {
    var mouse = Mouse()
    mouse.connection = nil
    return mouse
  }

  private func reports(_ app: PhoneApp, _ uuid: String = report) -> [[UInt8]] { app.values(of: uuid) }

  @Test(
    "A keyboard types text as reports over an encrypted link, with shifted characters and without unknown ones",
    .requirement("L189"))
  func types() async throws {
    let meeting = Encounter(keyboard)
    try #require(await meeting.prepare(subscribing: [Self.report]))
    #expect(meeting.phone.bonds.count == 1, "the report needs encryption")
    meeting.accessory.act { $0.type("aZ€?\n", in: &$1) }
    await meeting.world.run(for: .seconds(1))
    let released = [UInt8](repeating: 0, count: 8)
    func pressed(_ modifiers: UInt8, _ key: UInt8) -> [UInt8] { [modifiers, 0, key, 0, 0, 0, 0, 0] }
    #expect(
      reports(meeting.app) == [
        pressed(0, 0x04), released, pressed(2, 0x1D), released, pressed(2, 0x38), released, pressed(0, 0x28), released,
      ])
    meeting.accessory.act { $0.press([4, 5, 6, 7, 8, 9, 10], in: &$1) }
    meeting.accessory.act { $0.press([4, 5], modifiers: [.leftControl, .rightAlt], in: &$1) }
    meeting.accessory.act { $0.release(in: &$1) }
    await meeting.world.run(for: .milliseconds(500))
    #expect(
      Array(reports(meeting.app).suffix(3)) == [[0, 0, 1, 1, 1, 1, 1, 1], [0x41, 0, 4, 5, 0, 0, 0, 0], released])
    meeting.app.read(Self.report)
    await meeting.world.run(for: .milliseconds(200))
    #expect(reports(meeting.app).last == released)
  }

  @Test("A keyboard types its text by itself while an HID host is subscribed, again after the interval")
  func typesByItself() async throws {
    var keyboard = keyboard
    (keyboard.typedText, keyboard.typingInterval) = ("ab", .seconds(2))
    let meeting = Encounter(keyboard)
    try #require(await meeting.prepare(subscribing: [Self.report]))
    let before = reports(meeting.app).count
    await meeting.world.run(for: .seconds(5))
    let pressed = reports(meeting.app).dropFirst(before).compactMap { $0[2] == 0 ? nil : $0[2] }
    #expect(pressed == [4, 5, 4, 5])
    #expect(await meeting.subscribe(Self.report, false))
    await meeting.world.run(for: .milliseconds(200))
    let count = reports(meeting.app).count
    await meeting.world.run(for: .seconds(5))
    #expect(reports(meeting.app).count == count)
  }

  @Test("A mouse makes its movements in turn by itself while an HID host is subscribed")
  func movesByItself() async throws {
    var mouse = mouse
    (mouse.movements, mouse.movementInterval) = ([.init(x: 5), .init(y: -3, wheel: 1)], .milliseconds(500))
    let meeting = Encounter(mouse)
    try #require(await meeting.prepare(subscribing: [Self.report]))
    let before = reports(meeting.app).count
    await meeting.world.run(for: .milliseconds(1_900))
    let all = Array(reports(meeting.app).dropFirst(before))
    #expect(all == [[0, 5, 0, 0], [0, 0, 0xFD, 1], [0, 5, 0, 0]])
  }

  @Test(
    "The reports of a keyboard have their references, the map describes them, and the LEDs are set through them",
    .requirement("L189"))
  func map() async throws {
    let meeting = Encounter(keyboard)
    try #require(await meeting.prepare(subscribing: [Self.report]))
    for uuid in ["2A4B", "2A4A", "2A50"] { meeting.app.read(uuid) }
    let peripheral = try #require(meeting.app.peripheral)
    let service = try #require(peripheral.services?.first { $0.uuid == CBUUID(string: "1812") })
    let all = try #require(service.characteristics?.filter { $0.uuid == CBUUID(string: Self.report) })
    #expect(all.count == 2)
    for report in all { peripheral.discoverDescriptors(for: report) }
    await meeting.world.run(for: .milliseconds(500))
    let references = all.compactMap { $0.descriptors?.first { $0.uuid == CBUUID(string: "2908") } }
    for reference in references { peripheral.readValue(for: reference) }
    peripheral.writeValue(Data([0b10]), for: all[1], type: .withResponse)
    await meeting.world.run(for: .milliseconds(500))
    #expect(references.map { Array($0.value as? Data ?? Data()) } == [[1, 1], [1, 2]])
    #expect(meeting.accessory.accessory.leds == .capsLock)
    peripheral.writeValue(Data([1, 2]), for: all[1], type: .withResponse)
    meeting.app.write([1], to: "2A32", .withResponse)
    await meeting.world.run(for: .milliseconds(500))
    #expect(meeting.app.events.contains(.notWritten(0x0D)), "the report has one octet")
    #expect(meeting.accessory.accessory.leds == .numLock)

    #expect(meeting.app.values(of: "2A4A") == [[0x11, 0x01, 0, 2]])
    #expect(meeting.app.values(of: "2A50").first?.count == 7)
    let items = try ReportMap(try #require(meeting.app.values(of: "2A4B").first)).items()
    // Modifiers, a reserved octet and keys are inputs: 8, 8 and 48 bits. LEDs and their padding are outputs.
    var (bits, size, count) = (["Input": 0, "Output": 0], 0, 0)
    for item in items {
      switch item {
      case .global(.reportSize, let data): size = Int(data[0])
      case .global(.reportCount, let data): count = Int(data[0])
      case .main(let tag, _): bits[tag.description]? += size * count
      default: break
      }
    }
    #expect(bits == ["Input": 64, "Output": 8])
  }

  @Test("In Boot Protocol Mode a keyboard notifies boot reports only, until the next connection", .requirement("L189"))
  func boot() async throws {
    let meeting = Encounter(keyboard)
    try #require(await meeting.prepare(subscribing: [Self.report, Self.bootKeyboard]))
    meeting.app.write([2], to: Self.protocolMode, .withoutResponse)
    meeting.app.write([0], to: "2A4C", .withoutResponse)
    await meeting.world.run(for: .milliseconds(200))
    #expect(meeting.accessory.accessory.mode == .report, "2 is no mode")
    #expect(meeting.accessory.accessory.isSuspended)
    meeting.app.write([0], to: Self.protocolMode, .withoutResponse)
    meeting.app.write([1], to: "2A4C", .withoutResponse)
    meeting.app.read(Self.protocolMode)
    await meeting.world.run(for: .milliseconds(200))
    #expect(meeting.app.values(of: Self.protocolMode) == [[0]])
    #expect(!meeting.accessory.accessory.isSuspended)
    meeting.accessory.act { $0.type("x", in: &$1) }
    await meeting.world.run(for: .milliseconds(300))
    #expect(reports(meeting.app).isEmpty)
    #expect(reports(meeting.app, Self.bootKeyboard) == [[0, 0, 0x1B, 0, 0, 0, 0, 0], [UInt8](repeating: 0, count: 8)])
    meeting.accessory.act { _, context in context.disconnect() }
    await meeting.world.run(for: .seconds(2))
    #expect(meeting.accessory.accessory.mode == .report)
  }

  @Test("The LEDs of a keyboard are off after a disconnection")
  func ledsOfOneConnection() async throws {
    let meeting = Encounter(keyboard)
    try #require(await meeting.prepare(subscribing: [Self.report]))
    meeting.app.write([2], to: "2A32", .withResponse)
    await meeting.world.run(for: .milliseconds(500))
    #expect(meeting.accessory.accessory.leds == .capsLock)
    meeting.accessory.act { _, context in context.disconnect() }
    await meeting.world.run(for: .seconds(2))
    #expect(meeting.app.has(.disconnected))
    #expect(meeting.accessory.accessory.leds == [])
  }

  @Test("A mouse moves in steps of at most 127, and clicks, in reports and in boot reports", .requirement("L189"))
  func moves() async throws {
    let meeting = Encounter(mouse)
    try #require(await meeting.prepare(subscribing: [Self.report, Self.bootMouse]))
    meeting.accessory.act { $0.move(x: 300, y: -5, wheel: 1, in: &$1) }
    meeting.accessory.act { $0.click(in: &$1) }
    await meeting.world.run(for: .seconds(1))
    #expect(
      reports(meeting.app) == [[0, 127, 251, 1], [0, 127, 0, 0], [0, 46, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    meeting.app.write([0], to: Self.protocolMode, .withoutResponse)
    await meeting.world.run(for: .milliseconds(200))
    meeting.accessory.act { mouse, context in
      mouse.press([.second], in: &context)
      mouse.move(x: -1, in: &context)
    }
    await meeting.world.run(for: .milliseconds(500))
    #expect(reports(meeting.app).count == 5)
    #expect(reports(meeting.app, Self.bootMouse) == [[2, 0, 0, 0], [2, 255, 0, 0]])
  }
}
