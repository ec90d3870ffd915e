import BluetoothDaemon
import BluetoothHost
import BluetoothLab
import BluetoothWire
import Requirements
import Testing

@Suite("A scripted user")
struct ScriptedPromptsTests {
  private let user = ScriptedPrompts()

  private func question(
    _ prompt: PairingPrompt, peer: String? = "strap", isLocallyInitiated: Bool = true, replacesBond: Bool = false
  ) -> Prompt.Question {
    .pairing(
      prompt,
      Prompt.Pairing(
        identifier: PeerIdentifier(high: 1, low: 2), name: peer, isLocallyInitiated: isLocallyInitiated,
        replacesBond: replacesBond))
  }

  private func queue() -> PromptQueue { PromptQueue(prompts: user) {} }

  /// Asks a question. Returns the immediate answer.
  private func answer(to question: Prompt.Question, _ queue: inout PromptQueue) -> PairingAnswer? {
    _ = queue.ask(question, at: .zero)
    return queue.takeAnswer(at: .zero)?.answer
  }

  @Test("Without a rule all questions are refused, and they are recorded")
  func recording() {
    var queue = queue()
    #expect(answer(to: question(.allow, isLocallyInitiated: false, replacesBond: true), &queue) == .no)
    #expect(answer(to: question(.compare(123_456)), &queue) == .no)
    #expect(answer(to: question(.enterPasskey, peer: nil), &queue) == .no)
    #expect(answer(to: .useBluetooth(app: "app"), &queue) == .no)
    #expect(answer(to: .turnOn, &queue) == .no)
    #expect(
      user.questions == [
        .init(.allowPairing, peer: "strap", replacesBond: true),
        .init(.compareNumbers, digits: 123_456, peer: "strap", isLocallyInitiated: true),
        .init(.enterPasskey, isLocallyInitiated: true),
        .init(.useBluetooth, app: "app"), .init(.turnOn),
      ])
  }

  @Test("The first rule that matches a question and its peer answers it, up to its maximum count")
  func rules() {
    user.answer(.yes, to: .allowPairing, from: "strap", count: 1)
    user.answer(.passkey(123_456), to: .enterPasskey)
    user.answer(.yes, from: "phone")
    var queue = queue()
    #expect(answer(to: question(.allow), &queue) == .yes)
    #expect(answer(to: question(.allow), &queue) == .no)
    #expect(answer(to: question(.enterPasskey), &queue) == .passkey(123_456))
    #expect(answer(to: question(.allow, peer: "phone"), &queue) == .yes)
    #expect(answer(to: question(.compare(1), peer: "phone"), &queue) == .yes)
    #expect(answer(to: .turnOn, &queue) == .no)
  }

  @Test("The user answers after the scripted delay, and types meanwhile")
  func thinking() {
    user.answer(
      .passkey(1), to: .enterPasskey, after: .milliseconds(500), typing: [.passkeyEntryStarted, .passkeyDigitEntered])
    var queue = queue()
    _ = queue.ask(question(.enterPasskey), at: .zero)
    let then = Instant.zero + .milliseconds(500)
    #expect(queue.takeAnswer(at: .zero) == nil)
    #expect(queue.deadline == then)
    #expect(queue.takeAnswer(at: then)?.answer == .keypress(.passkeyEntryStarted))
    #expect(queue.takeAnswer(at: then)?.answer == .keypress(.passkeyDigitEntered))
    #expect(queue.takeAnswer(at: then)?.answer == .passkey(1))
  }

  @Test("Shown digits are readable until the pairing ends, and only a specific rule answers them")
  func showing() {
    user.answer(.no)
    var queue = queue()
    let id = queue.ask(question(.show(passkey: 42)), at: .zero)
    #expect(queue.takeAnswer(at: .zero) == nil)
    #expect(user.shownPasskey == 42)
    queue.keypress(.passkeyDigitEntered, for: id)
    queue.withdraw(id)
    #expect(user.shownPasskey == nil)
    #expect(user.questions.first?.isWithdrawn == true)
    #expect(user.questions.first?.keypresses == [.passkeyDigitEntered])

    let other = ScriptedPrompts(.displayOnly)
    other.answer(.no, to: .showPasskey)
    var others = PromptQueue(prompts: other) {}
    #expect(answer(to: question(.show(passkey: 1)), &others) == .no)
    #expect(others.ioCapability == .displayOnly)
  }

  @Test("Shown digits use up no rule for all questions, and such a rule hides no rule for shown digits")
  func showingWithGeneralRule() {
    user.answer(.yes, count: 1)
    user.answer(.no, to: .showPasskey)
    var queue = queue()
    #expect(answer(to: question(.show(passkey: 42)), &queue) == .no)
    #expect(answer(to: question(.allow), &queue) == .yes)
    #expect(answer(to: question(.allow), &queue) == .no)
  }

  @Test("A passkey shown on one device is typed on the other, whichever prompt comes first", .requirement("L038"))
  func passkeyShownByOther() {
    let owner = ScriptedPrompts(.displayOnly)
    user.answer(.passkeyShown(by: owner), to: .enterPasskey)
    var (queue, owners) = (queue(), PromptQueue(prompts: owner) {})
    _ = queue.ask(question(.enterPasskey), at: .zero)
    #expect(queue.takeAnswer(at: .zero) == nil)
    let shown = owners.ask(question(.show(passkey: 111_111)), at: .zero)
    queue.collect(at: .zero)
    #expect(queue.takeAnswer(at: .zero)?.answer == .passkey(111_111))
    #expect(answer(to: question(.enterPasskey), &queue) == .passkey(111_111))
    owners.withdraw(shown)
    #expect(answer(to: question(.enterPasskey), &queue) == nil)
    _ = owners.ask(question(.show(passkey: 222_222)), at: .zero)
    queue.collect(at: .zero)
    #expect(queue.takeAnswer(at: .zero)?.answer == .passkey(222_222))
  }

  @Test("A silent user, and a user who accepts everything")
  func otherwise() {
    user.answer(.noAnswer, to: .allowPairing)
    var queue = queue()
    #expect(answer(to: question(.allow), &queue) == nil)
    var agreeable = PromptQueue(prompts: ScriptedPrompts(otherwise: .yes)) {}
    #expect(answer(to: question(.compare(1)), &agreeable) == .yes)
    #expect(answer(to: question(.show(passkey: 1)), &agreeable) == nil)
  }

  @Test("Each scripted capability has the IO capability of its name", arguments: IOCapability.allCases)
  func capabilities(capability: IOCapability) {
    #expect("\(PromptQueue(prompts: ScriptedPrompts(capability)) {}.ioCapability)" == "\(capability)")
  }
}
