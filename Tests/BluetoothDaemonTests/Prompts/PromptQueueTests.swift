import BluetoothHost
import BluetoothWire
import NIOConcurrencyHelpers
import Testing

@testable import BluetoothDaemon

/// A prompt handler that records the questions and answers when a test calls it.
final class PromptRecorder: Prompts {
  private struct State {
    var asked: [Prompt] = []
    var replies: [PromptReply] = []
    var withdrawn: [PromptID] = []
    var keypresses: [SMP.KeypressNotification] = []
    var answers: [PairingAnswer] = []
    var delay = TimeSpan.zero
  }

  private let state = NIOLockedValueBox(State())
  let ioCapability = SMP.IOCapability.keyboardDisplay

  /// Sets the answers that are given from within `ask`.
  func answerAtOnce(_ answers: [PairingAnswer], after delay: TimeSpan = .zero) {
    state.withLockedValue {
      $0.answers = answers
      $0.delay = delay
    }
  }

  var asked: [Prompt] { state.withLockedValue { $0.asked } }
  var replies: [PromptReply] { state.withLockedValue { $0.replies } }
  var withdrawn: [PromptID] { state.withLockedValue { $0.withdrawn } }
  var keypresses: [SMP.KeypressNotification] { state.withLockedValue { $0.keypresses } }

  func ask(_ prompt: Prompt, reply: PromptReply) {
    let (answers, delay) = state.withLockedValue { state in
      state.asked.append(prompt)
      state.replies.append(reply)
      return (state.answers, state.delay)
    }
    for answer in answers { reply(answer, after: delay) }
  }

  func withdraw(_ id: PromptID) { state.withLockedValue { $0.withdrawn.append(id) } }

  func keypress(_ notification: SMP.KeypressNotification, for id: PromptID) {
    state.withLockedValue { $0.keypresses.append(notification) }
  }
}

extension Prompt.Question {
  /// Returns a question about a device called "strap".
  static func strap(
    _ prompt: PairingPrompt, isLocallyInitiated: Bool = true, replacesBond: Bool = false, isProven: Bool = false,
    name: String? = "strap"
  ) -> Prompt.Question {
    .pairing(
      prompt,
      Prompt.Pairing(
        identifier: PeerIdentifier(high: 0x0123_4567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF), name: name,
        isLocallyInitiated: isLocallyInitiated, replacesBond: replacesBond, isProven: isProven))
  }
}

@Suite("Open questions")
struct PromptQueueTests {
  private let recorder = PromptRecorder()
  private let wakes = NIOLockedValueBox(0)

  private func queue() -> PromptQueue {
    let wakes = wakes
    return PromptQueue(prompts: recorder) { wakes.withLockedValue { $0 += 1 } }
  }

  private static func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  @Test("An answer from within the question is available at once, without a wakeup")
  func atOnce() {
    recorder.answerAtOnce([.yes])
    var queue = queue()
    let id = queue.ask(.strap(.allow), at: .zero)
    #expect(queue.deadline == .zero)
    #expect(queue.takeAnswer(at: .zero) == .init(id: id, answer: .yes))
    #expect(queue.takeAnswer(at: .zero) == nil)
    #expect(queue.deadline == nil)
    #expect(wakes.withLockedValue { $0 } == 0)
  }

  @Test("Later answers wake the adapter once for all that it collects")
  func later() {
    var queue = queue()
    let first = queue.ask(.strap(.allow), at: .zero)
    let second = queue.ask(.useBluetooth(app: "app"), at: .zero)
    recorder.replies[1](.no)
    recorder.replies[0](.yes)
    #expect(wakes.withLockedValue { $0 } == 1)
    #expect(queue.takeAnswer(at: .zero) == nil)
    queue.collect(at: Self.at(1))
    #expect(queue.takeAnswer(at: Self.at(1)) == .init(id: second, answer: .no))
    #expect(queue.takeAnswer(at: Self.at(1)) == .init(id: first, answer: .yes))
    #expect(queue.takeAnswer(at: Self.at(1)) == nil)
  }

  @Test("A delayed answer arrives that much later in the adapter's time, and simultaneous ones stay in order")
  func delay() {
    recorder.answerAtOnce([.keypress(.passkeyEntryStarted), .passkey(7)], after: .milliseconds(20))
    var queue = queue()
    let slow = queue.ask(.strap(.enterPasskey), at: Self.at(5))
    recorder.answerAtOnce([.yes], after: .milliseconds(10))
    let fast = queue.ask(.turnOn, at: Self.at(5))
    #expect(queue.deadline == Self.at(15))
    #expect(queue.takeAnswer(at: Self.at(14)) == nil)
    #expect(queue.takeAnswer(at: Self.at(15)) == .init(id: fast, answer: .yes))
    #expect(queue.deadline == Self.at(25))
    #expect(queue.takeAnswer(at: Self.at(25)) == .init(id: slow, answer: .keypress(.passkeyEntryStarted)))
    #expect(queue.takeAnswer(at: Self.at(25)) == .init(id: slow, answer: .passkey(7)))
  }

  @Test("A withdrawn question gets no answer, whether the answer is pending or late")
  func withdrawn() {
    var queue = queue()
    recorder.answerAtOnce([.yes], after: .milliseconds(10))
    let first = queue.ask(.strap(.allow), at: .zero)
    recorder.answerAtOnce([])
    let second = queue.ask(.strap(.compare(1)), at: .zero)
    queue.withdraw(first)
    queue.withdraw(second)
    queue.withdraw(second)
    recorder.replies[1](.yes)
    queue.collect(at: .zero)
    #expect(queue.takeAnswer(at: Self.at(100)) == nil)
    #expect(queue.deadline == nil)
    #expect(recorder.withdrawn == [first, second])
  }

  @Test("When all questions are void, each is withdrawn once, in order")
  func withdrawnAll() {
    var queue = queue()
    let questions: [Prompt.Question] = [.turnOn, .strap(.allow), .useBluetooth(app: "app")]
    let ids = questions.map { queue.ask($0, at: .zero) }
    queue.withdraw(ids[1])
    queue.withdrawAll()
    queue.withdrawAll()
    #expect(recorder.withdrawn == [ids[1], ids[0], ids[2]])
  }

  @Test("The first answer that ends a question is the last one, and keypresses do not end it")
  func onlyOneAnswer() {
    recorder.answerAtOnce([.keypress(.passkeyDigitEntered), .passkey(123_456), .passkey(1), .no])
    var queue = queue()
    let id = queue.ask(.strap(.enterPasskey), at: .zero)
    #expect(queue.takeAnswer(at: .zero)?.answer == .keypress(.passkeyDigitEntered))
    #expect(queue.takeAnswer(at: .zero) == .init(id: id, answer: .passkey(123_456)))
    #expect(queue.takeAnswer(at: .zero) == nil)
    queue.withdraw(id)
    #expect(recorder.withdrawn.isEmpty)
  }

  @Test(
    "An answer that does not fit its question has no effect",
    arguments: [
      (.strap(.allow), .passkey(1)), (.strap(.compare(1)), .keypress(.passkeyDigitEntered)),
      (.strap(.enterPasskey), .yes), (.strap(.enterPasskey), .passkey(1_000_000)), (.strap(.show(passkey: 1)), .yes),
      (.turnOn, .passkey(1)), (.useBluetooth(app: ""), .keypress(.passkeyCleared)),
    ] as [(Prompt.Question, PairingAnswer)])
  func unfit(question: Prompt.Question, answer: PairingAnswer) {
    recorder.answerAtOnce([answer, .no])
    var queue = queue()
    _ = queue.ask(question, at: .zero)
    #expect(queue.takeAnswer(at: .zero)?.answer == .no)
    #expect(queue.takeAnswer(at: .zero) == nil)
  }

  @Test("The peer's keypresses go to the question that shows the digits, as long as it is open")
  func keypresses() {
    var queue = queue()
    let id = queue.ask(.strap(.show(passkey: 1)), at: .zero)
    queue.keypress(.passkeyDigitEntered, for: id)
    queue.withdraw(id)
    queue.keypress(.passkeyDigitErased, for: id)
    #expect(recorder.keypresses == [.passkeyDigitEntered])
  }
}

@Suite("Automatic prompts")
struct AutomaticPromptsTests {
  private static let questions: [Prompt.Question] = [
    .strap(.allow), .strap(.compare(1)), .strap(.enterPasskey), .strap(.show(passkey: 1)), .useBluetooth(app: "app"),
    .turnOn, .strap(.allow, isLocallyInitiated: false), .strap(.allow, replacesBond: true, isProven: true),
  ]

  /// Returns the answer to each question.
  private static func answers(_ policy: AutomaticPrompts.Policy) -> [PairingAnswer?] {
    var queue = PromptQueue(prompts: AutomaticPrompts(policy)) {}
    return questions.map { question in
      _ = queue.ask(question, at: .zero)
      return queue.takeAnswer(at: .zero)?.answer
    }
  }

  @Test("By default they refuse everything that a phone would ask about")
  func refusing() {
    #expect(Self.answers(AutomaticPrompts.Policy()) == Self.questions.map { _ in .no })
    #expect(AutomaticPrompts().ioCapability == .noInputNoOutput)
  }

  @Test("The accepting policy accepts everything that needs no passkey")
  func accepting() {
    #expect(Self.answers(.accept) == [.yes, .yes, .no, nil, .yes, .yes, .yes, .yes])
  }

  @Test("No policy lets a peer without the bond's key replace that bond")
  func unproven() {
    for prompt in [PairingPrompt.allow, .show(passkey: 1), .compare(1), .enterPasskey] {
      var policy = AutomaticPrompts.Policy.accept
      policy.passkey = 42
      #expect(policy.answer(to: .strap(prompt, replacesBond: true)) == .no)
    }
  }

  @Test("Each permission can be granted separately")
  func single() {
    var policy = AutomaticPrompts.Policy()
    policy.allowsOwnPairing = true
    policy.passkey = 42
    #expect(Self.answers(policy) == [.yes, .no, .passkey(42), nil, .no, .no, .no, .no])
    policy = AutomaticPrompts.Policy()
    policy.allowsPeersPairing = true
    policy.turnsOn = true
    #expect(Self.answers(policy) == [.no, .no, .no, .no, .no, .yes, .yes, .no])
  }

  @Test("A log line names each refusal and contains no secret")
  func notes() {
    let lines = NIOLockedValueBox<[String]>([])
    let prompts = AutomaticPrompts { line in lines.withLockedValue { $0.append(line) } }
    var queue = PromptQueue(prompts: prompts) {}
    _ = queue.ask(.strap(.compare(123_456)), at: .zero)
    #expect(
      lines.withLockedValue { $0 }
        == ["refused automatically: pairing with \u{201C}strap\u{201D} by numeric comparison"])
  }
}
