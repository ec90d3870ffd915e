// Design: asking the user
//
// `Prompts` belongs to the adapter, because an app cannot answer for the user. `PromptQueue` is the engine between
// `Prompts` and the parts that ask. It numbers the questions, drops answers that are late or do not fit, and has a
// deadline, since an answer may arrive with a delay in the adapter's time. An answer given inside the question wakes no
// thread: prompts without threads leave virtual time deterministic.
//
// - A session's command (`askForPower`) asks the user to turn Bluetooth on, if Bluetooth is off and the app may use it.
//   The question is void when Bluetooth comes on.

import BluetoothHost
import BluetoothWire

/// The open questions of one adapter. The queue passes questions to `Prompts` and returns the user's answers.
///
/// An answer given from within `ask` is available when `ask` returns. A later answer wakes the adapter, which then
/// calls `collect`. The queue involves other threads only if `Prompts` uses other threads.
package struct PromptQueue {
  /// An answer to a question that is still open.
  package struct Answer: Hashable, Sendable {
    package let id: PromptID
    package let answer: PairingAnswer
  }

  private struct Open {
    let question: Prompt.Question
    /// The user whose app has caused the question; nil: no app has.
    let user: ClientUser?
  }

  private struct Waiting {
    let time: Instant
    let answer: Answer
  }

  /// The maximum delay of an answer: a day.
  private static let longestDelay = TimeSpan.seconds(86_400)

  private let prompts: any Prompts
  private let inbox: PromptInbox
  private var nextNumber: UInt64 = 1
  private var open: [PromptID: Open] = [:]
  /// The received answers by time; answers of the same time in order of arrival.
  private var waiting: [Waiting] = []

  /// Creates the questions of one adapter, with none open.
  ///
  /// - Parameter wake: signals that there are answers to collect; called on any thread, once for all answers until they
  ///   are collected.
  package init(prompts: any Prompts, wake: @escaping @Sendable () -> Void) {
    self.prompts = prompts
    inbox = PromptInbox(wake: wake)
  }

  /// The user's input and output capability.
  package var ioCapability: SMP.IOCapability { prompts.ioCapability }

  /// True if answers about apps are stored.
  package var isUser: Bool { prompts.isUser }

  /// True if a fixed rule answers.
  var isAutomatic: Bool { prompts.isAutomatic }

  /// True if a question is open; otherwise no answer can come.
  package var hasOpenQuestions: Bool { !open.isEmpty }

  /// The time of the next answer that `takeAnswer` will return; nil: none is known.
  package var deadline: Instant? { waiting.first?.time }

  /// The number of open questions that apps of a user have caused.
  package func openCount(of user: ClientUser) -> Int { open.values.count { $0.user == user } }

  /// Asks the user.
  ///
  /// - Parameter user: the user whose app has caused the question; nil: no app has.
  package mutating func ask(_ question: Prompt.Question, of user: ClientUser? = nil, at now: Instant) -> PromptID {
    let id = PromptID(number: nextNumber)
    nextNumber += 1
    open[id] = Open(question: question, user: user)
    let (prompts, reply) = (prompts, PromptReply(inbox, id))
    inbox.whileAsking { prompts.ask(Prompt(id: id, question: question), reply: reply) }
    collect(at: now)
    return id
  }

  /// Withdraws a question. Has no effect on an answered question.
  package mutating func withdraw(_ id: PromptID) {
    guard open.removeValue(forKey: id) != nil else { return }
    waiting.removeAll { $0.answer.id == id }
    prompts.withdraw(id)
  }

  /// Withdraws all questions: Bluetooth goes off, or the adapter is gone.
  package mutating func withdrawAll() {
    for id in open.keys.sorted(by: { $0.number < $1.number }) { withdraw(id) }
  }

  /// Reports that the peer's user is entering the passkey that this question displays.
  package func keypress(_ notification: SMP.KeypressNotification, for id: PromptID) {
    if open[id] != nil { prompts.keypress(notification, for: id) }
  }

  /// Collects the answers that have come from other threads.
  package mutating func collect(at now: Instant) {
    for reply in inbox.takeAll() where open[reply.id] != nil {
      let time = now + min(max(reply.delay, .zero), Self.longestDelay)
      let index = waiting.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
      waiting.insert(Waiting(time: time, answer: Answer(id: reply.id, answer: reply.answer)), at: index)
    }
  }

  /// Removes and returns the next answer that is due. If the answer ends its question, further answers to the question
  /// are dropped.
  package mutating func takeAnswer(at now: Instant) -> Answer? {
    while let first = waiting.first, first.time <= now {
      waiting.removeFirst()
      let answer = first.answer
      guard let question = open[answer.id]?.question else { continue }
      switch question.effect(of: answer.answer) {
      case .none: continue
      case .goesOn: return answer
      case .ends:
        open[answer.id] = nil
        waiting.removeAll { $0.answer.id == answer.id }
        return answer
      }
    }
    return nil
  }
}

extension Prompt.Question {
  enum Effect { case none, goesOn, ends }

  /// Returns the effect of an answer: an answer that does not fit the question has none.
  func effect(of answer: PairingAnswer) -> Effect {
    switch (self, answer) {
    case (_, .no): .ends
    case (.pairing(.show, _), _): .none
    case (.pairing(.enterPasskey, _), .keypress): .goesOn
    case (.pairing(.enterPasskey, _), .passkey(let passkey)): passkey <= 999_999 ? .ends : .none
    case (.pairing(.enterPasskey, _), .yes): .none
    case (_, .yes): .ends
    case (_, .passkey), (_, .keypress): .none
    }
  }
}
