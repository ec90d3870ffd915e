import BluetoothDaemonProtocol
import BluetoothWire
import NIOCore
import NIOPosix

/// The alerts and the questions of a server on the desktop of its user, by `org.freedesktop.Notifications` · Desktop
/// Notifications Specification 1.2. A question has two actions; without an answer, it stays open when its notification
/// has gone.
///
/// The object connects to the bus until `stop`. Confined to its event loop, except for `init`, `show` and `stop`.
package final class DesktopNotifications: @unchecked Sendable {
  // Unchecked: only code on the event loop uses the variables.

  private static let name = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"
  /// The time between two attempts to connect to the bus.
  private static let pause = TimeAmount.seconds(10)

  private let bus: SessionBus
  private let questions: UserQuestions
  private let loop: any EventLoop
  /// The connection; nil: there is none, or it is not ready.
  private var handler: DBusHandler?
  private var channel: (any Channel)?
  private var isStopped = false
  /// True if the reason for which there is no desktop has been logged.
  private var hasComplained = false
  /// True if the text of a notification is markup.
  private var usesMarkup = false
  /// The connection of the service that shows the notifications.
  private var owner: String?
  /// The questions on the desktop, by the numbers of their notifications.
  private var shown: [UInt32: UserQuestion] = [:]
  /// The questions whose notifications have no number yet.
  private var unnumbered: Set<UserQuestion> = []

  /// Begins to connect to the bus, and to show the questions.
  package init(on bus: SessionBus, questions: UserQuestions, loop: any EventLoop) {
    self.bus = bus
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
      channel?.close(promise: nil)
    }
  }

  // MARK: Connection

  private func connect() {
    guard !isStopped else { return }
    let handler = DBusHandler()
    handler.onReady = { [weak self, weak handler] in
      if let handler { self?.ready(handler) }
    }
    handler.onSignal = { [weak self] in self?.take($0) }
    handler.onEnd = { [weak self] in self?.ended() }
    bus.connect(on: loop, handler).assumeIsolated().whenComplete { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let channel):
        self.channel = channel
        if isStopped { channel.close(promise: nil) }
      case .failure(let error):
        complain("can't reach the message bus of the session: \(error)")
        reconnect()
      }
    }
  }

  private func reconnect() {
    guard !isStopped else { return }
    loop.scheduleTask(in: Self.pause) { [weak self] in self?.connect() }
  }

  private func ended() {
    handler = nil
    channel = nil
    owner = nil
    shown.removeAll()
    unnumbered.removeAll()
    reconnect()
  }

  private func ready(_ handler: DBusHandler) {
    self.handler = handler
    let bus = "org.freedesktop.DBus"
    let rule = "type='signal',interface='\(Self.name)',path='\(Self.path)'"
    handler.call(DBusMessage(calling: "AddMatch", of: bus, at: "/org/freedesktop/DBus", on: bus, [.string(rule)]))
    call("GetCapabilities", []) { [weak self] answer in
      guard let self else { return }
      guard case .strings(let capabilities)? = answer.body.first, answer.kind == .reply else {
        return complain("no desktop shows alerts: \(answer.errorName ?? "it has not answered")")
      }
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

  private func call(_ member: String, _ body: [DBusValue], _ answer: @escaping (DBusMessage) -> Void = { _ in }) {
    handler?.call(DBusMessage(calling: member, of: Self.name, at: Self.path, on: Self.name, body), answer)
  }

  // MARK: Notifications

  /// Shows a notification. `shown` gets its number.
  private func notify(_ title: String, _ text: String, actions: [String], shown: @escaping (UInt32) -> Void) {
    let text = usesMarkup ? Self.markup(text) : text
    var hints: [String: DBusValue] = ["category": .string("device")]
    // Critical notifications stay until their user acts on them.
    if !actions.isEmpty { hints["urgency"] = .byte(2) }
    let body: [DBusValue] = [
      .string("Bluetooth"), .uint32(0), .string("bluetooth"), .string(Self.harmless(title)),
      .string(Self.harmless(text)), .strings(actions), .options(hints), .int32(-1),
    ]
    call("Notify", body) { [weak self] answer in
      guard let self else { return }
      guard case .uint32(let number)? = answer.body.first, answer.kind == .reply else {
        return complain("the desktop does not show an alert: \(answer.errorName ?? "it has not answered")")
      }
      owner = answer.sender
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
    guard handler != nil, !unnumbered.contains(question), !shown.values.contains(question) else { return }
    unnumbered.insert(question)
    let actions = ["allow", "Allow", "deny", "Don\u{2019}t allow"]
    notify("Bluetooth", question.text, actions: actions) { [weak self] number in
      guard let self else { return }
      if unnumbered.remove(question) == nil {
        call("CloseNotification", [.uint32(number)])
      } else {
        shown[number] = question
      }
    }
  }

  private func take(_ signal: DBusMessage) {
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
