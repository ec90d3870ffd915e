import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import NIOConcurrencyHelpers

/// The user of a device, played by a script: what is answered to which question, and, afterwards, what was asked.
///
/// The rules are tried in the order in which they were added; the first one that fits a question answers it, as often as it
/// may. A question that no rule fits gets `otherwise`, which is no unless the script says something else.
///
/// ```swift
/// let user = ScriptedPrompts()
/// user.answer(.yes, to: .allowPairing, from: "strap", after: .seconds(2))
/// user.answer(.passkeyShown(by: owner), to: .enterPasskey)
/// ```
///
/// Nothing in it is left to chance or to threads: with the same script a world of virtual time is the same.
public final class ScriptedPrompts: Sendable {
  /// What kind of question it is.
  public enum Kind: Hashable, Sendable, CaseIterable {
    /// May the peer pair, without anything to compare?
    case allowPairing
    /// Six digits are shown, to be typed on the peer. No answer is waited for; no ends the pairing.
    case showPasskey
    /// The six digits that the peer shows are asked for.
    case enterPasskey
    /// Six digits are shown: does the peer show the same?
    case compareNumbers
    /// May an app use Bluetooth?
    case useBluetooth
    /// Bluetooth is off: turn it on?
    case turnOn
  }

  /// A question that was asked.
  public struct Question: Hashable, Sendable {
    /// What was asked.
    public var kind: Kind
    /// The six digits that were shown with it, 0 to 999,999.
    public var digits: Int?
    /// What the peer calls itself; nil: it has not said, or the question is not about a peer.
    public var peer: String?
    /// This device's app has given reason to pair; false: the peer wants to, or the question is not about a peer.
    public var isOwnWish: Bool
    /// There is a bond with the peer, which a new one would replace.
    public var replacesBond: Bool
    /// The app that the question is about.
    public var app: String?
    /// Nobody wants to know any more, since the pairing has ended.
    public var isWithdrawn = false
    /// The digits that were typed on the peer, in the order in which it told of them.
    public var keypresses: [Keypress] = []

    /// A question as the script sees it.
    public init(
      _ kind: Kind, digits: Int? = nil, peer: String? = nil, isOwnWish: Bool = false, replacesBond: Bool = false,
      app: String? = nil
    ) {
      self.kind = kind
      self.digits = digits
      self.peer = peer
      self.isOwnWish = isOwnWish
      self.replacesBond = replacesBond
      self.app = app
    }
  }

  /// What is typed while a passkey is entered.
  public enum Keypress: UInt8, Hashable, Sendable {
    case started, digitEntered, digitErased, cleared, completed
  }

  /// What the user says.
  public enum Answer: Sendable {
    /// To `enterPasskey` it is no answer.
    case yes
    /// To every question: it ends the pairing.
    case no
    /// To `enterPasskey`: six digits, 0 to 999,999.
    case passkey(Int)
    /// To `enterPasskey`: what these prompts show, as soon as they do.
    case passkeyShown(by: ScriptedPrompts)
    /// Nothing, ever.
    case silence
  }

  /// What the user can see and type.
  public enum Capability: Hashable, Sendable, CaseIterable {
    case displayOnly, displayYesNo, keyboardOnly, noInputNoOutput, keyboardDisplay
  }

  private struct Rule {
    let kind: Kind?
    let peer: String?
    let answer: Answer
    let delay: Duration
    let keypresses: [Keypress]
    /// How often it may still answer; nil: always.
    var rest: Int?
  }

  /// What waits for digits to be shown.
  private struct Waiter: Sendable {
    let id: PromptID
    let reply: PromptReply
    let delay: TimeSpan
  }

  private struct State {
    var rules: [Rule] = []
    var asked: [Question] = []
    var positions: [PromptID: Int] = [:]
    /// The digits that are shown, by their question.
    var shown: [(id: PromptID, digits: UInt32)] = []
    var waiters: [Waiter] = []

    /// The first rule that fits, one time less.
    mutating func takeRule(for question: Question) -> Rule? {
      let index = rules.firstIndex { rule in
        (rule.kind ?? question.kind) == question.kind && (rule.peer == nil || rule.peer == question.peer)
          && rule.rest != 0
      }
      guard let index else { return nil }
      rules[index].rest = rules[index].rest.map { $0 - 1 }
      return rules[index]
    }
  }

  /// What the user can see and type, as the device tells its peers.
  public let capability: Capability
  private let otherwise: Answer
  private let state = NIOLockedValueBox(State())

  /// A user who says the same to all questions that no rule fits.
  public init(_ capability: Capability = .keyboardDisplay, otherwise: Answer = .no) {
    self.capability = capability
    self.otherwise = otherwise
  }

  /// Adds a rule.
  ///
  /// - Parameters:
  ///   - answer: what is said.
  ///   - kind: to which questions; nil: to all.
  ///   - peer: about which peer, by the name that it gives itself; nil: about any, and about none.
  ///   - delay: how long the user thinks, in the world's time.
  ///   - keypresses: what is told of the typing of a passkey before it is complete, all at the same time.
  ///   - count: for how many questions the rule is good; nil: for any number.
  public func answer(
    _ answer: Answer, to kind: Kind? = nil, from peer: String? = nil, after delay: Duration = .zero,
    typing keypresses: [Keypress] = [], count: Int? = nil
  ) {
    let rule = Rule(kind: kind, peer: peer, answer: answer, delay: delay, keypresses: keypresses, rest: count)
    state.withLockedValue { $0.rules.append(rule) }
  }

  /// What was asked until now, in order.
  public var asked: [Question] { state.withLockedValue { $0.asked } }

  /// The six digits that are being shown; nil: none are. Of several those that came last.
  public var shownPasskey: Int? { state.withLockedValue { $0.shown.last.map { Int($0.digits) } } }
}

// MARK: Prompts

extension ScriptedPrompts: Prompts {
  package var ioCapability: SMP.IOCapability {
    switch capability {
    case .displayOnly: .displayOnly
    case .displayYesNo: .displayYesNo
    case .keyboardOnly: .keyboardOnly
    case .noInputNoOutput: .noInputNoOutput
    case .keyboardDisplay: .keyboardDisplay
    }
  }

  package func ask(_ prompt: Prompt, reply: PromptReply) {
    let question = Question(of: prompt.question)
    let (rule, waiters) = state.withLockedValue { state in
      state.positions[prompt.id] = state.asked.count
      state.asked.append(question)
      var waiters: [Waiter] = []
      if question.kind == .showPasskey, let digits = question.digits {
        state.shown.append((prompt.id, UInt32(digits)))
        swap(&waiters, &state.waiters)
      }
      return (state.takeRule(for: question), waiters)
    }
    for waiter in waiters { waiter.reply(.passkey(UInt32(question.digits ?? 0)), after: waiter.delay) }
    // Digits that are shown need no answer: only a rule of their own ends the pairing.
    if question.kind == .showPasskey, rule?.kind != .showPasskey { return }
    let delay = TimeSpan(rule?.delay ?? .zero)
    for keypress in rule?.keypresses ?? [] { reply(.keypress(keypress.notification), after: delay) }
    switch rule?.answer ?? otherwise {
    case .yes: reply(.yes, after: delay)
    case .no: reply(.no, after: delay)
    case .passkey(let passkey): reply(.passkey(UInt32(clamping: passkey)), after: delay)
    case .passkeyShown(let other): other.whenShown(Waiter(id: prompt.id, reply: reply, delay: delay))
    case .silence: break
    }
  }

  package func withdraw(_ id: PromptID) {
    state.withLockedValue { state in
      if let position = state.positions[id] { state.asked[position].isWithdrawn = true }
      state.shown.removeAll { $0.id == id }
    }
  }

  package func keypress(_ notification: SMP.KeypressNotification, for id: PromptID) {
    guard let keypress = Keypress(rawValue: notification.rawValue) else { return }
    state.withLockedValue { state in
      if let position = state.positions[id] { state.asked[position].keypresses.append(keypress) }
    }
  }

  /// Has a question of other prompts answered by the digits that these show, now or when they do.
  private func whenShown(_ waiter: Waiter) {
    let digits = state.withLockedValue { state in
      if state.shown.isEmpty { state.waiters.append(waiter) }
      return state.shown.last?.digits
    }
    if let digits { waiter.reply(.passkey(digits), after: waiter.delay) }
  }
}

extension ScriptedPrompts.Question {
  fileprivate init(of question: Prompt.Question) {
    switch question {
    case .useBluetooth(let app): self.init(.useBluetooth, app: app)
    case .turnOn: self.init(.turnOn)
    case .pairing(let prompt, let pairing):
      switch prompt {
      case .allow: self.init(.allowPairing)
      case .show(let passkey): self.init(.showPasskey, digits: Int(passkey))
      case .enterPasskey: self.init(.enterPasskey)
      case .compare(let number): self.init(.compareNumbers, digits: Int(number))
      }
      peer = pairing.name
      isOwnWish = pairing.isOwnWish
      replacesBond = pairing.replacesBond
    }
  }
}

extension ScriptedPrompts.Keypress {
  fileprivate var notification: SMP.KeypressNotification {
    switch self {
    case .started: .passkeyEntryStarted
    case .digitEntered: .passkeyDigitEntered
    case .digitErased: .passkeyDigitErased
    case .cleared: .passkeyCleared
    case .completed: .passkeyEntryCompleted
    }
  }
}
