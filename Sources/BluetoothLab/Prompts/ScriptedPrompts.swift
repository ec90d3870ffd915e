import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import NIOConcurrencyHelpers

/// The simulated user of a device: a script of answers to pairing and power prompts, and a record of the prompts.
///
/// The first rule that matches a prompt and has uses left answers it; rules are tried in the order in which they were
/// added. A prompt that no rule matches gets the answer `otherwise`, which is no by default.
///
/// ```swift
/// let user = ScriptedPrompts()
/// user.answer(.yes, to: .allowPairing, from: "strap", after: .seconds(2))
/// user.answer(.passkeyShown(by: owner), to: .enterPasskey)
/// ```
///
/// The script contains no randomness and does not depend on threads: the same script gives the same world in virtual
/// time.
public final class ScriptedPrompts: Sendable {
  /// The kind of a prompt.
  public enum Kind: Hashable, Sendable, CaseIterable {
    /// Asks whether the peer may pair, without anything to compare.
    case allowPairing
    /// Shows six digits for the user to type on the peer. The prompt needs no answer; the answer `no` ends the pairing.
    case showPasskey
    /// Asks for the six digits that the peer shows.
    case enterPasskey
    /// Shows six digits and asks whether the peer shows the same.
    case compareNumbers
    /// Asks whether an app may use Bluetooth.
    case useBluetooth
    /// Asks whether to turn Bluetooth on.
    case turnOn
    /// Asks whether a bonded accessory may get the notifications of the device.
    case shareNotifications
  }

  /// A prompt that the user was shown.
  public struct Question: Hashable, Sendable {
    /// The kind of the prompt.
    public var kind: Kind
    /// The six digits that the prompt showed, 0 to 999,999; nil if it showed none.
    public var digits: Int?
    /// The peer's name; nil if it is unknown or the prompt is not about a peer.
    public var peer: String?
    /// True if an app on this device caused the pairing; false if the peer did, or if the prompt is not about a peer.
    public var isLocallyInitiated: Bool
    /// True if there is a bond with the peer, which the new one would replace.
    public var replacesBond: Bool
    /// The name of the app that the prompt is about.
    public var app: String?
    /// The app's own description of its use of Bluetooth; nil: it has none, or the question is about something else.
    public var usageDescription: String?
    /// True if the prompt was withdrawn because the pairing has ended.
    public var isWithdrawn = false
    /// The keypress notifications from the peer while its user typed the passkey, in order.
    public var keypresses: [KeypressNotification] = []

    /// Creates a question.
    public init(
      _ kind: Kind, digits: Int? = nil, peer: String? = nil, isLocallyInitiated: Bool = false,
      replacesBond: Bool = false,
      app: String? = nil, usageDescription: String? = nil
    ) {
      self.kind = kind
      self.usageDescription = usageDescription
      self.digits = digits
      self.peer = peer
      self.isLocallyInitiated = isLocallyInitiated
      self.replacesBond = replacesBond
      self.app = app
    }
  }

  /// The user's answer to a prompt.
  public enum Answer: Sendable {
    /// Agrees. This answer has no effect on `enterPasskey`.
    case yes
    /// Refuses. This answer fits every prompt, and ends a pairing.
    case no
    /// Answers `enterPasskey` with six digits, 0 to 999,999.
    case passkey(Int)
    /// Answers `enterPasskey` with the digits that these prompts show, as soon as they are shown.
    case passkeyShown(by: ScriptedPrompts)
    /// Never answers.
    case noAnswer
  }

  private struct Rule {
    let kind: Kind?
    let peer: String?
    let answer: Answer
    let delay: Duration
    let keypresses: [KeypressNotification]
    /// The number of uses left; nil for unlimited.
    var rest: Int?
  }

  /// A passkey prompt that waits until the prompts of another device show digits.
  private struct Waiter: Sendable {
    let id: PromptID
    let reply: PromptReply
    let delay: TimeSpan
  }

  private struct State {
    var rules: [Rule] = []
    var questions: [Question] = []
    var positions: [PromptID: Int] = [:]
    /// The digits currently shown, by their prompt.
    var shown: [(id: PromptID, digits: UInt32)] = []
    var waiters: [Waiter] = []

    /// Returns the first rule that matches and has uses left, and counts this use. Shown digits need no answer, so only
    /// a rule for `.showPasskey` matches them.
    mutating func takeRule(for question: Question) -> Rule? {
      let index = rules.firstIndex { rule in
        let fits = rule.kind.map { $0 == question.kind } ?? (question.kind != .showPasskey)
        return fits && (rule.peer == nil || rule.peer == question.peer) && rule.rest != 0
      }
      guard let index else { return nil }
      rules[index].rest = rules[index].rest.map { $0 - 1 }
      return rules[index]
    }
  }

  /// The IO capability that the device reports to its peers.
  public let ioCapability: IOCapability
  private let otherwise: Answer
  private let state = NIOLockedValueBox(State())

  /// Creates a user who gives the answer `otherwise` to every prompt that no rule matches.
  public init(_ ioCapability: IOCapability = .keyboardDisplay, otherwise: Answer = .no) {
    self.ioCapability = ioCapability
    self.otherwise = otherwise
  }

  /// Adds a rule.
  ///
  /// - Parameters:
  ///   - answer: the user's answer.
  ///   - kind: the prompts to answer; nil for all that need an answer, so not for `.showPasskey`.
  ///   - peer: the name of the peer that the prompt is about; nil for any peer and for prompts about no peer.
  ///   - delay: the user's reaction time, in the world's time.
  ///   - keypresses: the keypresses to report before the passkey is complete, all at the same time.
  ///   - count: the number of prompts that the rule answers; nil for unlimited.
  public func answer(
    _ answer: Answer, to kind: Kind? = nil, from peer: String? = nil, after delay: Duration = .zero,
    typing keypresses: [KeypressNotification] = [], count: Int? = nil
  ) {
    let rule = Rule(kind: kind, peer: peer, answer: answer, delay: delay, keypresses: keypresses, rest: count)
    state.withLockedValue { $0.rules.append(rule) }
  }

  /// The prompts shown so far, in order.
  public var questions: [Question] { state.withLockedValue { $0.questions } }

  /// The six digits currently shown, the latest if there are several; nil if none are shown.
  public var shownPasskey: Int? { state.withLockedValue { $0.shown.last.map { Int($0.digits) } } }
}

// MARK: Prompts

extension ScriptedPrompts: Prompts {
  package func ask(_ prompt: Prompt, reply: PromptReply) {
    let question = Question(of: prompt.question)
    let (rule, waiters) = state.withLockedValue { state in
      state.positions[prompt.id] = state.questions.count
      state.questions.append(question)
      var waiters: [Waiter] = []
      if question.kind == .showPasskey, let digits = question.digits {
        state.shown.append((prompt.id, UInt32(digits)))
        swap(&waiters, &state.waiters)
      }
      return (state.takeRule(for: question), waiters)
    }
    for waiter in waiters { waiter.reply(.passkey(UInt32(question.digits ?? 0)), after: waiter.delay) }
    if question.kind == .showPasskey, rule == nil { return }
    let delay = TimeSpan(rule?.delay ?? .zero)
    for keypress in rule?.keypresses ?? [] { reply(.keypress(keypress), after: delay) }
    switch rule?.answer ?? otherwise {
    case .yes: reply(.yes, after: delay)
    case .no: reply(.no, after: delay)
    case .passkey(let passkey): reply(.passkey(UInt32(clamping: passkey)), after: delay)
    case .passkeyShown(let other): other.whenShown(Waiter(id: prompt.id, reply: reply, delay: delay))
    case .noAnswer: break
    }
  }

  package func withdraw(_ id: PromptID) {
    state.withLockedValue { state in
      if let position = state.positions[id] { state.questions[position].isWithdrawn = true }
      state.shown.removeAll { $0.id == id }
    }
  }

  package func keypress(_ notification: SMP.KeypressNotification, for id: PromptID) {
    state.withLockedValue { state in
      if let position = state.positions[id] { state.questions[position].keypresses.append(notification) }
    }
  }

  /// Answers another device's passkey prompt with the digits that these prompts show, now or as soon as they are
  /// shown.
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
    case .useBluetooth(let app, let usage): self.init(.useBluetooth, app: app, usageDescription: usage)
    case .turnOn: self.init(.turnOn)
    case .shareNotifications(let accessory): self.init(.shareNotifications, peer: accessory.name)
    case .pairing(let prompt, let pairing):
      switch prompt {
      case .allow: self.init(.allowPairing)
      case .show(let passkey): self.init(.showPasskey, digits: Int(passkey))
      case .enterPasskey: self.init(.enterPasskey)
      case .compare(let number): self.init(.compareNumbers, digits: Int(number))
      }
      peer = pairing.name
      isLocallyInitiated = pairing.isLocallyInitiated
      replacesBond = pairing.replacesBond
    }
  }
}
