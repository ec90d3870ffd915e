import BluetoothHost
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import BluetoothDBus
@testable import BluetoothDaemon
@testable import BluetoothServer

/// A call of the server to the notification service.
private struct ServiceCall: Sendable {
  let member: String
  let body: [DBusValue]
  let then: @Sendable (Result<DBusReply, DBusError>) -> Void

  /// The call in one line.
  var text: String {
    switch (member, body.first, body.dropFirst(4).first) {
    case ("Notify", _, .string(let text)?): "show \(text)"
    case ("CloseNotification", .uint32(let number)?, _): "close \(number)"
    default: member
    }
  }
}

/// The end of a connection to a bus at which the test is the bus.
private final class ScriptedConnection: NotificationBus {
  let calls = NIOLockedValueBox<[ServiceCall]>([])
  let handlers = NIOLockedValueBox<[(rule: DBusMatchRule, handler: @Sendable (DBusSignal) -> Void)]>([])

  func call(
    _ member: String, of interface: String, at path: String, on destination: String, _ arguments: [DBusValue],
    timeout: Duration?, startsService: Bool, then: @escaping @Sendable (Result<DBusReply, DBusError>) -> Void
  ) {
    calls.withLockedValue { $0.append(ServiceCall(member: member, body: arguments, then: then)) }
  }

  func subscribe(_ rule: DBusMatchRule, _ handler: @escaping @Sendable (DBusSignal) -> Void) -> DBusSubscription {
    handlers.withLockedValue { $0.append((rule, handler)) }
    return DBusSubscription {}
  }

  func whenClosed(_ handler: @escaping @Sendable () -> Void) {}
  func close() {}
}

/// A message bus in virtual time, with a connection of a server that asks its user.
private final class Bus {
  private static let name = "org.freedesktop.DBus"
  private static let service = "org.freedesktop.Notifications"

  let questions = UserQuestions()
  private let loop = EmbeddedEventLoop()
  private let inbox = PromptInbox {}
  private let connection = ScriptedConnection()
  private var desktop: DesktopNotifications?
  private var promptCount: UInt64 = 0

  init() throws {
    let connection = connection
    desktop = DesktopNotifications(questions: questions, loop: loop) { _, then in then(.success(connection)) }
    loop.run()
  }

  deinit {
    desktop?.stop()
    // The loop must be empty at its end.
    loop.advanceTime(by: .minutes(1))
  }

  private func send(_ signal: DBusSignal) {
    for entry in connection.handlers.withLockedValue({ $0 })
    where entry.rule.interface == signal.interface && entry.rule.sender ?? signal.sender == signal.sender {
      entry.handler(signal)
    }
    loop.run()
  }

  /// Returns the calls of the notification service since the last call of this function.
  func calls() throws -> [ServiceCall] {
    loop.run()
    return connection.calls.withLockedValue { calls in
      defer { calls.removeAll() }
      return calls
    }
  }

  /// Answers a call as the program with this connection.
  func answer(_ call: ServiceCall, from sender: String, _ body: [DBusValue] = []) throws {
    call.then(.success(DBusReply(sender: sender, body: body)))
    loop.run()
  }

  /// Answers a call with an error.
  func refuse(_ call: ServiceCall) throws {
    call.then(.failure(DBusError("org.freedesktop.DBus.Error.Failed")))
    loop.run()
  }

  /// Reports that another connection is the notification service; an empty one: there is no service any more.
  func changeOwner(to owner: String) throws {
    send(
      DBusSignal(
        sender: Self.name, path: "/org/freedesktop/DBus", interface: Self.name, member: "NameOwnerChanged",
        body: [.string(Self.service), .string(""), .string(owner)]))
  }

  /// Starts a notification service. Returns the calls that follow when it has answered the first one.
  func start(_ owner: String) throws -> [ServiceCall] {
    try changeOwner(to: owner)
    let first = try calls()
    #expect(first.map(\.text) == ["GetCapabilities"])
    for call in first { try answer(call, from: owner, [.strings(["actions"])]) }
    return try calls()
  }

  /// Sends the choice of the user on a notification.
  func choose(_ action: String, on number: UInt32, from sender: String) throws {
    send(
      DBusSignal(
        sender: sender, path: "/org/freedesktop/Notifications", interface: Self.service, member: "ActionInvoked",
        body: [.uint32(number), .string(action)]))
  }

  /// Asks the user about an app. The questions are numbered from 1.
  func ask(_ app: String) {
    promptCount += 1
    let id = PromptID(number: promptCount)
    questions.ask(
      .permission(app: app, usage: nil), Prompt(id: id, question: .useBluetooth(app: app)), on: "phone",
      reply: PromptReply(inbox, id))
  }

  /// Returns the answers of the user since the last call: the number of the question, and the answer.
  func answers() -> [String] { inbox.takeAll().map { "\($0.id.number) \($0.answer)" } }

  func pass(_ time: TimeAmount) { loop.advanceTime(by: time) }
}

/// The questions of a server on a desktop whose notification service comes and goes.
@Suite("Notification services of a desktop")
struct NotificationServiceTests {
  private let torch = "show torch would like to use Bluetooth"
  private let remote = "show remote would like to use Bluetooth"

  @Test("A service that starts after the server shows the questions that are open")
  func laterService() throws {
    let bus = try Bus()
    bus.ask("torch")
    let first = try bus.calls()
    #expect(first.map(\.text) == ["GetCapabilities", torch])
    for call in first { try bus.refuse(call) }
    bus.pass(.minutes(1))
    #expect(try bus.calls().isEmpty, "there is no service to be asked again")
    let shown = try bus.start(":1.5")
    #expect(shown.map(\.text) == [torch])
    try bus.answer(shown[0], from: ":1.5", [.uint32(1)])
    try bus.choose("allow", on: 1, from: ":1.5")
    #expect(bus.answers() == ["1 yes"])
    #expect(try bus.calls().map(\.text) == ["close 1"])
  }

  @Test("A service that is started again shows open questions again, and its numbers are not those of the former one")
  func restartedService() throws {
    let bus = try Bus()
    _ = try bus.calls()
    #expect(try bus.start(":1.5").isEmpty)
    bus.ask("torch")
    bus.ask("remote")
    let shown = try bus.calls()
    #expect(shown.map(\.text) == [torch, remote])
    try bus.answer(shown[0], from: ":1.5", [.uint32(1)])
    try bus.answer(shown[1], from: ":1.5", [.uint32(2)])
    try bus.changeOwner(to: "")
    #expect(try bus.calls().isEmpty)
    let again = try bus.start(":1.6")
    #expect(again.map(\.text) == [torch, remote])
    // Before the numbers of the new service are known, and from the former service.
    try bus.choose("allow", on: 1, from: ":1.6")
    try bus.answer(again[0], from: ":1.6", [.uint32(2)])
    try bus.answer(again[1], from: ":1.6", [.uint32(1)])
    try bus.choose("allow", on: 1, from: ":1.5")
    #expect(bus.answers().isEmpty)
    try bus.choose("allow", on: 1, from: ":1.6")
    #expect(bus.answers() == ["2 yes"])
    #expect(try bus.calls().map(\.text) == ["close 1"])
    try bus.choose("deny", on: 2, from: ":1.6")
    #expect(bus.answers() == ["1 no"])
  }

  @Test("A late answer of a former service is no notification of the new one")
  func lateAnswer() throws {
    let bus = try Bus()
    _ = try bus.calls()
    _ = try bus.start(":1.5")
    bus.ask("torch")
    let former = try #require(try bus.calls().first)
    let new = try #require(try bus.start(":1.6").first)
    try bus.answer(former, from: ":1.5", [.uint32(7)])
    try bus.answer(new, from: ":1.6", [.uint32(9)])
    try bus.choose("allow", on: 7, from: ":1.6")
    #expect(bus.answers().isEmpty)
    try bus.choose("deny", on: 9, from: ":1.6")
    #expect(bus.answers() == ["1 no"])
  }

  @Test("A question that has reached the new service already is not shown a second time")
  func earlyAnswer() throws {
    let bus = try Bus()
    _ = try bus.calls()
    _ = try bus.start(":1.5")
    bus.ask("torch")
    let question = try #require(try bus.calls().first)
    try bus.changeOwner(to: ":1.6")
    let capabilities = try #require(try bus.calls().first)
    try bus.answer(question, from: ":1.6", [.uint32(3)])
    try bus.answer(capabilities, from: ":1.6", [.strings(["actions"])])
    #expect(try bus.calls().isEmpty)
    try bus.choose("allow", on: 3, from: ":1.6")
    #expect(bus.answers() == ["1 yes"])
  }

  @Test("A question that the service refuses is shown again after 10 s, as long as it is open")
  func refusal() throws {
    let bus = try Bus()
    _ = try bus.calls()
    _ = try bus.start(":1.5")
    bus.ask("torch")
    try bus.refuse(try #require(try bus.calls().first))
    bus.pass(.milliseconds(9_999))
    #expect(try bus.calls().isEmpty)
    bus.pass(.milliseconds(1))
    let second = try bus.calls()
    #expect(second.map(\.text) == [torch])
    try bus.refuse(second[0])
    bus.questions.answer(try #require(bus.questions.open.first), true)
    bus.pass(.minutes(1))
    #expect(try bus.calls().isEmpty)
  }
}
