import BluetoothHost
import BluetoothWire

/// The questions of one adapter that are open: an engine between whoever wants to know and `Prompts`.
///
/// What is answered from within `ask` is there when `ask` returns; what is answered later wakes the adapter, which then calls
/// `collect`. So nothing depends on threads as long as those who are asked use none.
package struct PromptDesk {
  /// An answer to a question that is still open.
  package struct Answer: Hashable, Sendable {
    package let id: PromptID
    package let answer: PairingAnswer
  }

  private struct Waiting {
    let time: Instant
    let answer: Answer
  }

  /// Nobody thinks longer: a day.
  private static let longestDelay = TimeSpan.seconds(86_400)

  private let prompts: any Prompts
  private let inbox: PromptInbox
  private var nextNumber: UInt64 = 1
  private var open: [PromptID: Prompt.Question] = [:]
  /// By time, and those of one instant as they came.
  private var waiting: [Waiting] = []

  /// - Parameter wake: there is something to collect; called on any thread, once for all that comes before it is collected.
  package init(prompts: any Prompts, wake: @escaping @Sendable () -> Void) {
    self.prompts = prompts
    inbox = PromptInbox(wake: wake)
  }

  /// What the user can see and type.
  package var ioCapability: SMP.IOCapability { prompts.ioCapability }

  /// Whether what is said of an app is kept.
  package var isUser: Bool { prompts.isUser }

  /// True if a fixed rule answers.
  var isAutomatic: Bool { prompts.isAutomatic }

  /// Whether anything is asked: without that, nothing can be answered.
  package var hasOpenQuestions: Bool { !open.isEmpty }

  /// When `takeAnswer` will have something; nil: nobody knows.
  package var deadline: Instant? { waiting.first?.time }

  /// Asks the user.
  package mutating func ask(_ question: Prompt.Question, at now: Instant) -> PromptID {
    let id = PromptID(number: nextNumber)
    nextNumber += 1
    open[id] = question
    let (prompts, reply) = (prompts, PromptReply(inbox, id))
    inbox.whileAsking { prompts.ask(Prompt(id: id, question: question), reply: reply) }
    collect(at: now)
    return id
  }

  /// The question is void. Withdrawing one that is answered changes nothing.
  package mutating func withdraw(_ id: PromptID) {
    guard open.removeValue(forKey: id) != nil else { return }
    waiting.removeAll { $0.answer.id == id }
    prompts.withdraw(id)
  }

  /// All questions are void: Bluetooth goes off, or the adapter is gone.
  package mutating func withdrawAll() {
    for id in open.keys.sorted(by: { $0.number < $1.number }) { withdraw(id) }
  }

  /// The peer's user types what this question shows.
  package func keypress(_ notification: SMP.KeypressNotification, for id: PromptID) {
    if open[id] != nil { prompts.keypress(notification, for: id) }
  }

  /// Takes in what has come from other threads.
  package mutating func collect(at now: Instant) {
    for reply in inbox.takeAll() where open[reply.id] != nil {
      let time = now + min(max(reply.delay, .zero), Self.longestDelay)
      let index = waiting.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
      waiting.insert(Waiting(time: time, answer: Answer(id: reply.id, answer: reply.answer)), at: index)
    }
  }

  /// The next answer whose time has come. After one that ends its question nothing more comes for it.
  package mutating func takeAnswer(at now: Instant) -> Answer? {
    while let first = waiting.first, first.time <= now {
      waiting.removeFirst()
      let answer = first.answer
      guard let question = open[answer.id] else { continue }
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

  /// What an answer does: one that does not fit the question does nothing.
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
