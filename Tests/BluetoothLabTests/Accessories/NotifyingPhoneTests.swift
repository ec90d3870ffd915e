import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import TestSupport
import Testing

@Suite("Notifying phone")
struct NotifyingPhoneTests {
  private static let service = CBUUID(string: "7905F431-B5CE-4E99-A40F-4B1E122D00D0")
  private static let source = "9FBF120D-6301-42D9-8C58-25E699A21DBD"
  private static let control = "69D1D8F3-45E1-49A8-9821-9BBDFDAAD9D9"
  private static let data = "22EAC6E9-24D6-4BB5-BE44-B36ACE7C7BFB"

  private static func email(_ identifier: String, message: String = "") -> DeviceNotification {
    var email = DeviceNotification(identifier, app: "com.example.mail", title: "Mail from Ann", message: message)
    email.category = .email
    email.appName = "Mail"
    return email
  }

  private static var call: DeviceNotification {
    var call = DeviceNotification("call", app: "com.example.phone", title: "Ben")
    call.category = .incomingCall
    call.positiveAction = "Answer"
    call.negativeAction = "Decline"
    call.isImportant = true
    return call
  }

  /// Connects an app that subscribes to both sources.
  private func meet(_ phone: NotifyingPhone) async throws -> Encounter<NotifyingPhone> {
    let meeting = Encounter(phone)
    try #require(await meeting.prepare(subscribing: [Self.data, Self.source]))
    await meeting.world.run(for: .milliseconds(500))
    return meeting
  }

  /// Runs the world until this radio time.
  private func run(_ meeting: Encounter<NotifyingPhone>, to seconds: Double) async {
    await meeting.world.run(for: Duration.seconds(seconds) - meeting.world.now)
  }

  /// Writes a command, and returns the octets of the response.
  private func response(_ meeting: Encounter<NotifyingPhone>, to command: [UInt8]) async -> [UInt8] {
    let before = meeting.app.values(of: Self.data).count
    #expect(await meeting.command(command, to: Self.control, for: .seconds(1)) == .accepted)
    return meeting.app.values(of: Self.data).dropFirst(before).flatMap { $0 }
  }

  @Test("A phone notifies the events of its schedule at their times, over an encrypted link")
  func schedule() async throws {
    var phone = NotifyingPhone(notifications: [Self.email("one")])
    phone.scheduledNotifications += [
      .init(Self.email("one", message: "more"), at: .seconds(30)),
      .init(Self.call, at: .seconds(20), removedAt: .seconds(25)),
    ]
    let meeting = try await meet(phone)
    #expect(meeting.phone.bonds.count == 1, "the sources need encryption")
    func events() -> [[UInt8]] { meeting.app.values(of: Self.source) }
    await run(meeting, to: 19.9)
    #expect(events() == [[0, 0b00100, 6, 1, 1, 0, 0, 0]])
    await run(meeting, to: 20.5)
    #expect(events().dropFirst() == [[0, 0b11010, 1, 1, 2, 0, 0, 0]])
    #expect(meeting.accessory.accessory.notifications.map(\.identifier) == ["one", "call"])
    await run(meeting, to: 24.9)
    #expect(events().count == 2)
    await run(meeting, to: 25.5)
    #expect(events().dropFirst(2) == [[2, 0b11010, 1, 0, 2, 0, 0, 0]])
    await run(meeting, to: 29.9)
    #expect(events().count == 3)
    await run(meeting, to: 30.5)
    #expect(events().dropFirst(3) == [[1, 0, 6, 1, 1, 0, 0, 0]])
    #expect(meeting.accessory.accessory.notifications.map(\.message) == ["more"])
    // Without a subscription there are no events.
    #expect(await meeting.subscribe(Self.source, false))
    meeting.accessory.act { $0.remove("one", in: &$1) }
    await meeting.world.run(for: .seconds(1))
    #expect(events().count == 4)
  }

  @Test("The removal time of a notification does not remove one that has replaced it")
  func replacement() async {
    var phone = NotifyingPhone()
    phone.scheduledNotifications = [
      .init(Self.email("one"), removedAt: .seconds(10)),
      .init(Self.email("one", message: "more"), at: .seconds(5)),
      // The first one has gone when the second one appears at the same time.
      .init(Self.email("two"), removedAt: .seconds(5)),
      .init(Self.email("two", message: "more"), at: .seconds(5), removedAt: .seconds(15)),
    ]
    let world = World(seed: 1)
    let device = world.add(phone, named: "phone")
    await world.run(for: .seconds(4))
    #expect(device.accessory.notifications.map(\.message) == ["", ""])
    await world.run(for: .seconds(10))
    #expect(device.accessory.notifications.map(\.message) == ["more", "more"])
    await world.run(for: .seconds(2))
    #expect(device.accessory.notifications.map(\.identifier) == ["one"])
  }

  @Test("The schedule of a phone begins again when the phone is turned on, and other notifications stay")
  func powerCycle() async {
    var phone = NotifyingPhone(notifications: [Self.email("one")])
    phone.scheduledNotifications.append(.init(Self.email("two"), at: .seconds(5)))
    let world = World(seed: 1)
    let device = world.add(phone, named: "phone")
    device.act { $0.post(Self.call, in: &$1) }
    await world.run(for: .seconds(6))
    #expect(Set(device.accessory.notifications.map(\.identifier)) == ["one", "two", "call"])
    device.setPower(false)
    await world.run(for: .seconds(1))
    device.setPower(true)
    await world.run(for: .seconds(1))
    #expect(Set(device.accessory.notifications.map(\.identifier)) == ["one", "call"])
    await world.run(for: .seconds(5))
    #expect(device.accessory.notifications.map(\.identifier).last == "two")
  }

  @Test("A phone responds with attributes of notifications and apps, and dates by its clock, in parts if they are long")
  func attributes() async throws {
    let message = String(repeating: "äöü ", count: 200)
    var phone = NotifyingPhone(
      notifications: [Self.email("one", message: message)],
      startTime: DateTime(year: 2024, month: 2, day: 29, hours: 23, minutes: 59, seconds: 50))
    phone.scheduledNotifications += [
      .init(Self.call, at: .seconds(10)),
      .init(Self.email("two"), date: DateTime(year: 2020, month: 1, day: 2, hours: 3, minutes: 4, seconds: 5)),
      .init(Self.email("three"), date: DateTime(year: 2020, month: 1, day: 0)),
    ]
    let meeting = try await meet(phone)
    await run(meeting, to: 11)
    let short = await response(meeting, to: [0, 1, 0, 0, 0, 0, 1, 4, 0, 2, 9, 0, 3, 4, 0, 4, 6, 7])
    let app = Array("com.example.mail".utf8)
    let texts: [(UInt8, [UInt8])] = [
      (0, app), (1, Array("Mail".utf8)), (2, []), (3, Array("äö".utf8)), (4, Array("1400".utf8)), (6, []), (7, []),
    ]
    var expected: [UInt8] = [0, 1, 0, 0, 0]
    for (attribute, text) in texts { expected += [attribute, UInt8(text.count), 0] + text }
    #expect(short == expected)

    // The third notification has a date without a day.
    for (uid, date) in [(2, "20200102T030405"), (3, ""), (4, "20240301T000000")] as [(UInt8, String)] {
      let response = await response(meeting, to: [0, uid, 0, 0, 0, 5])
      #expect(response == [0, uid, 0, 0, 0, 5, UInt8(date.utf8.count), 0] + Array(date.utf8))
    }
    let request: [UInt8] = [1] + app + [0, 0]
    let name: [UInt8] = request + [4, 0] + Array("Mail".utf8)
    #expect(await response(meeting, to: request) == name)

    let before = meeting.app.values(of: Self.data).count
    let long = await response(meeting, to: [0, 1, 0, 0, 0, 3, 0xFF, 0xFF])
    let head: [UInt8] = [0, 1, 0, 0, 0, 3, 0x78, 0x05]
    #expect(long == head + Array(message.utf8))
    let parts = meeting.app.values(of: Self.data).dropFirst(before)
    let length = parts.first?.count ?? 0
    #expect(length > 20, "ATT_MTU has grown")
    #expect(parts.count == (long.count + length - 1) / length)
    #expect(parts.dropLast().allSatisfy { $0.count == length })
  }

  @Test("A watch that unsubscribes from Data Source drops the rest of a response")
  func unsubscription() async throws {
    let message = String(repeating: "ä", count: 30_000)
    let meeting = try await meet(NotifyingPhone(notifications: [Self.email("one", message: message)]))
    meeting.app.write([0, 1, 0, 0, 0, 3, 0xFF, 0xFF], to: Self.control, .withResponse)
    let hasBegun = await meeting.world.run(
      until: { !meeting.app.values(of: Self.data).isEmpty }, limit: .seconds(2))
    #expect(hasBegun)
    #expect(await meeting.subscribe(Self.data, false))
    let before = meeting.app.values(of: Self.data)
    #expect(before.reduce(0) { $0 + $1.count } < 30_000)
    // A command without a subscription has no response.
    #expect(await response(meeting, to: [0, 1, 0, 0, 0, 4]).isEmpty)
    #expect(await meeting.subscribe(Self.data))
    let size: [UInt8] = [0, 1, 0, 0, 0, 4, 5, 0] + Array("60000".utf8)
    #expect(await response(meeting, to: [0, 1, 0, 0, 0, 4]) == size)
  }

  @Test("A bonded watch gets an event for each notification on a later link, once more after each new subscription")
  func laterLink() throws {
    let world = World(seed: 41)
    let device = world.add(NotifyingPhone(notifications: [Self.call]), named: "phone")
    let watch = TestCentral(on: world.makeDevice(named: "watch"))
    let phone = try watch.connect(to: .service(Self.service))
    func events() -> [[UInt8]] {
      watch.events.compactMap { event in
        if case .valueUpdated(_, CBUUID(string: Self.source), let value, nil) = event { value } else { nil }
      }
    }
    try watch.setNotify(for: Self.source, of: phone)
    world.run(for: .seconds(1))
    let event: [UInt8] = [0, 0b11110, 1, 1, 1, 0, 0, 0]
    #expect(events() == [event])
    // A repetition on the same link is no new subscription.
    try watch.setNotify(for: Self.source, of: phone)
    world.run(for: .seconds(1))
    #expect(events() == [event])

    try watch.disconnect(from: phone)
    world.run(for: .seconds(1))
    try watch.connect(to: phone)
    try watch.setNotify(for: Self.source, of: phone)
    world.run(for: .seconds(1))
    #expect(events().count > 1 && Set(events()) == [event])
    #expect(watch.device.bonds.count == 1 && device.accessory.notifications.count == 1)
  }

  @Test("A phone rejects malformed commands with the errors of Apple's specification")
  func errors() async throws {
    let meeting = try await meet(NotifyingPhone(notifications: [Self.email("one")]))
    let cases: [([UInt8], Int)] = [
      ([3], 0xA0), ([], 0xA1), ([0, 1, 0], 0xA1), ([0, 1, 0, 0, 0], 0xA1), ([0, 1, 0, 0, 0, 1, 5], 0xA1),
      ([0, 9, 0, 0, 0, 0], 0xA2), ([0, 1, 0, 0, 0, 8], 0xA2), ([1, 65, 66], 0xA1), ([1, 65, 0, 0], 0xA2),
      ([2, 1, 0, 0, 0], 0xA1), ([2, 1, 0, 0, 0, 2], 0xA2), ([2, 9, 0, 0, 0, 0], 0xA2),
      // The notification has no positive action.
      ([2, 1, 0, 0, 0, 0], 0xA3),
    ]
    for (command, error) in cases {
      #expect(await meeting.command(command, to: Self.control) == .rejected(error), "\(command)")
    }
    #expect(meeting.app.values(of: Self.data).isEmpty)
  }

  @Test("An action that a watch performs ends the notification of a phone")
  func actions() async throws {
    let meeting = try await meet(NotifyingPhone(notifications: [Self.call]))
    #expect(await meeting.command([2, 1, 0, 0, 0, 1], to: Self.control) == .accepted)
    let phone = meeting.accessory.accessory
    #expect(phone.actions == [NotifyingPhone.Action(notification: "call", isPositive: false)])
    #expect(phone.notifications.isEmpty)
    #expect(meeting.app.values(of: Self.source).last == [2, 0b11010, 1, 0, 1, 0, 0, 0])
    #expect(await meeting.command([2, 1, 0, 0, 0, 1], to: Self.control) == .rejected(0xA2))
  }

  @Test("A watch that refuses to pair can't use the service of a phone, which advertises it")
  func refusedPairing() throws {
    let world = World(seed: 41)
    world.add(NotifyingPhone(name: "A phone with a long name", notifications: [Self.call]), named: "phone")
    let refusing = ScriptedPrompts(.noInputNoOutput)
    let watch = TestCentral(on: world.makeDevice(named: "watch", DeviceOptions(), prompts: refusing))
    let phone = try watch.connect(to: .service(Self.service))
    for uuid in [Self.source, Self.data] {
      #expect(throws: CBATTError.self) { try watch.setNotify(for: uuid, of: phone) }
    }
    #expect(throws: CBATTError.self) { try watch.write([2, 1, 0, 0, 0, 0], to: Self.control, of: phone) }
    #expect(watch.events.allSatisfy { if case .valueUpdated = $0 { false } else { true } })
  }
}
