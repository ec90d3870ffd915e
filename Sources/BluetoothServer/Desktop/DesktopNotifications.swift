import BluetoothDBus
import BluetoothDaemonProtocol
import BluetoothWire
import NIOCore

/// The part of a connection to a message bus that notifications need. Its handlers run on the event loop.
protocol NotificationBus: Sendable {
  func call(
    _ member: String, of interface: String, at path: String, on destination: String, _ arguments: [DBusValue],
    timeout: Duration?, startsService: Bool, then: @escaping @Sendable (Result<DBusReply, DBusError>) -> Void)
  func subscribe(_ rule: DBusMatchRule, _ handler: @escaping @Sendable (DBusSignal) -> Void) -> DBusSubscription
  func whenClosed(_ handler: @escaping @Sendable () -> Void)
  func close()
}

extension DBusConnection: NotificationBus {}

/// The alerts and the questions of a server on the desktop of its user, by `org.freedesktop.Notifications` · Desktop
/// Notifications Specification 1.2. A question has two actions; without an answer, it stays open when its notification
/// has gone. Each service that appears shows the open questions.
///
/// The object connects to the bus until `stop`. Confined to its event loop, except for `init`, `show` and `stop`.
package final class DesktopNotifications: @unchecked Sendable {
  // Unchecked: only code on the event loop uses the variables.

  private static let name = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  /// The name and the interface of the bus itself.
  private static let bus = "org.freedesktop.DBus"
  /// The time between two attempts to connect to the bus, and to show a question.
  private static let pause = TimeAmount.seconds(10)

  /// Connects to the bus.
  typealias Connector =
    @Sendable (any EventLoop, @escaping @Sendable (Result<any NotificationBus, DBusError>) -> Void) -> Void

  private let connector: Connector
  private let questions: UserQuestions
  private let loop: any EventLoop
  /// The connection; nil: there is none, or it is not ready.
  private var connection: (any NotificationBus)?
  private var subscriptions: [DBusSubscription] = []
  private var isStopped = false
  /// True if the reason for which there is no desktop has been logged.
  private var hasComplained = false
  /// True if the text of a notification is markup.
  private var usesMarkup = false
  /// The connection of the service that shows the notifications; nil: there is none, or it has not answered yet.
  private var owner: String?
  /// True if the service has said what it can show.
  private var isReady = false
  /// The questions on the desktop, by the numbers of their notifications.
  private var shown: [UInt32: UserQuestion] = [:]
  /// The questions whose notifications have no number yet.
  private var unnumbered: Set<UserQuestion> = []

  /// Begins to connect to the bus, and to show the questions.
  package convenience init(on bus: DBusAddress, questions: UserQuestions, loop: any EventLoop) {
    self.init(questions: questions, loop: loop) { loop, then in
      let executor: DBusConnection.Executor = { loop.execute($0) }
      DBusConnection.open(bus, executor: executor) { then($0.map { $0 as any NotificationBus }) }
    }
  }

  init(questions: UserQuestions, loop: any EventLoop, connector: @escaping Connector) {
    self.connector = connector
    self.questions = questions
    self.loop = loop
    loop.execute { self.connect() }
    questions.observe { [weak self] change in
      guard let self else { return }
      self.loop.execute { self.handle(change) }
    }
  }

  /// Shows an alert.
  package func show(_ alert: AlertDescription) {
    loop.execute { self.notify(alert.app, alert.text, actions: []) { _ in } }
  }

  /// Ends the connection. The notifications of questions are closed by the desktop or by its user.
  package func stop() {
    loop.execute { [self] in
      isStopped = true
      connection?.close()
    }
  }

  // MARK: Connection

  private func connect() {
    loop.preconditionInEventLoop()
    guard !isStopped else { return }
    connector(loop) { [weak self] result in
      guard let self else {
        if case .success(let connection) = result { connection.close() }
        return
      }
      switch result {
      case .success(let connection): ready(connection)
      case .failure(let error):
        complain("can't reach the message bus of the session: \(error.message)")
        reconnect()
      }
    }
  }

  private func reconnect() {
    guard !isStopped else { return }
    loop.scheduleTask(in: Self.pause) { [weak self] in self?.connect() }
  }

  private func ended() {
    loop.preconditionInEventLoop()
    connection = nil
    subscriptions.removeAll()
    forgetService()
    reconnect()
  }

  /// Forgets the service and what it shows: the numbers of notifications are those of one service.
  private func forgetService() {
    owner = nil
    isReady = false
    shown.removeAll()
    unnumbered.removeAll()
  }

  private func ready(_ connection: any NotificationBus) {
    loop.preconditionInEventLoop()
    self.connection = connection
    connection.whenClosed { [weak self] in self?.ended() }
    guard !isStopped else { return connection.close() }
    let rules = [
      DBusMatchRule(path: Self.path, interface: Self.name),
      DBusMatchRule(sender: Self.bus, interface: Self.bus, member: "NameOwnerChanged", argument0: Self.name),
    ]
    subscriptions = rules.map { rule in connection.subscribe(rule) { [weak self] in self?.take($0) } }
    askService()
  }

  /// Asks the service what it can show, and lets it show the open questions. The bus may start a service for that.
  private func askService() {
    call("GetCapabilities", []) { [weak self] result in
      guard let self else { return }
      guard case .success(let reply) = result, let capabilities = reply.body.first?.texts else {
        return complain("no desktop shows alerts: \(Self.reason(of: result))")
      }
      // A service that the bus starts for the first call is asked again when it appears.
      guard !isReady, owner == nil || reply.sender == owner else { return }
      owner = reply.sender
      isReady = true
      usesMarkup = capabilities.contains("body-markup")
      hasComplained = false
      ServerLog.tell("shows alerts and questions on the desktop")
      for question in questions.open { show(question) }
    }
  }

  private func complain(_ text: String) {
    if !hasComplained { ServerLog.tell(text + "; the log and ble alerts have them") }
    hasComplained = true
  }

  private static func reason(of result: Result<DBusReply, DBusError>) -> String {
    switch result {
    case .success: "its answer can't be read"
    case .failure(let error): error.name
    }
  }

  /// Calls a method of the service. The end of the connection is no answer.
  private func call(
    _ member: String, _ body: [DBusValue],
    _ answer: @escaping @Sendable (Result<DBusReply, DBusError>) -> Void = { _ in }
  ) {
    connection?.call(
      member, of: Self.name, at: Self.path, on: Self.name, body, timeout: .seconds(25), startsService: true
    ) { result in
      if case .failure(let error) = result, error.name == DBusError.Name.disconnected { return }
      answer(result)
    }
  }

  // MARK: Notifications

  /// Shows a notification. `shown` gets its number; nil: the service has refused it.
  private func notify(_ title: String, _ text: String, actions: [String], shown: @escaping @Sendable (UInt32?) -> Void)
  {
    let text = usesMarkup ? Self.markup(text) : text
    var hints: [String: DBusValue] = ["category": .string("device")]
    // Critical notifications stay until their user acts on them.
    if !actions.isEmpty { hints["urgency"] = .byte(2) }
    let body: [DBusValue] = [
      .string("Bluetooth"), .uint32(0), .string("bluetooth"), .string(Self.harmless(title)),
      .string(Self.harmless(text)), .strings(actions), .properties(hints), .int32(-1),
    ]
    call("Notify", body) { [weak self] result in
      guard let self else { return }
      guard case .success(let reply) = result, case .uint32(let number)? = reply.body.first else {
        complain("the desktop does not show an alert: \(Self.reason(of: result))")
        return shown(nil)
      }
      // The answer of a former service says nothing about this one.
      guard owner == nil || reply.sender == owner else { return }
      owner = reply.sender
      shown(number)
    }
  }

  /// Returns a text on one line without characters that change the direction of text: the name of an app can be a path,
  /// which must not look like another name. A text of D-Bus has no zero · D-Bus Specification, "Basic types".
  static func harmless(_ text: String) -> String { text.printable }

  static func markup(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.append(character)
      }
    }
  }

  private func handle(_ change: UserQuestions.Change) {
    loop.preconditionInEventLoop()
    switch change {
    case .asked(let question): show(question)
    case .ended(let question):
      unnumbered.remove(question)
      for (number, other) in shown where other == question {
        shown[number] = nil
        call("CloseNotification", [.uint32(number)])
      }
    }
  }

  private func show(_ question: UserQuestion) {
    loop.preconditionInEventLoop()
    guard connection != nil, !unnumbered.contains(question), !shown.values.contains(question) else { return }
    unnumbered.insert(question)
    let actions = ["allow", "Allow", "deny", "Don\u{2019}t allow"]
    notify("Bluetooth", question.text, actions: actions) { [weak self] number in
      guard let self else { return }
      let isAwaited = unnumbered.remove(question) != nil
      guard let number else {
        // A service that appears later shows all open questions.
        if isAwaited, owner != nil { showLater(question) }
        return
      }
      // The question may have ended, or may have been shown again because the service has just appeared.
      if shown.values.contains(question) || !questions.open.contains(question) {
        call("CloseNotification", [.uint32(number)])
      } else {
        shown[number] = question
      }
    }
  }

  /// Shows a question after a pause if it is still open.
  private func showLater(_ question: UserQuestion) {
    loop.scheduleTask(in: Self.pause) { [weak self] in
      guard let self, questions.open.contains(question) else { return }
      show(question)
    }
  }

  private func take(_ signal: DBusSignal) {
    if signal.sender == Self.bus {
      guard signal.interface == Self.bus, signal.member == "NameOwnerChanged", signal.body.count == 3,
        signal.body[0] == .string(Self.name), case .string(let new) = signal.body[2]
      else { return }
      forgetService()
      guard !new.isEmpty else { return }
      owner = new
      return askService()
    }
    // Any program of the session can send a signal with this name.
    guard signal.interface == Self.name, let owner, signal.sender == owner,
      case .uint32(let number)? = signal.body.first, let question = shown[number]
    else { return }
    switch signal.member {
    case "ActionInvoked":
      guard signal.body.count > 1, case .string(let action) = signal.body[1] else { return }
      switch action {
      case "allow": questions.answer(question, true)
      case "deny": questions.answer(question, false)
      default: break
      }
    case "NotificationClosed": shown[number] = nil
    default: break
    }
  }
}
