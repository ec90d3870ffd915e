import BluetoothHost
import BluetoothTransport
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers
import Requirements
import Testing

@testable import BluetoothAdapters
@testable import BluetoothDaemon

/// A dialogue with its queue of prompts, and simulated typing.
private struct Talk {
  private final class Bridge: Prompts {
    let ioCapability = SMP.IOCapability.keyboardDisplay
    let asked = NIOLockedValueBox<[(Prompt, PromptReply)]>([])
    func ask(_ prompt: Prompt, reply: PromptReply) { asked.withLockedValue { $0.append((prompt, reply)) } }
    func withdraw(_ id: PromptID) {}
  }

  private let bridge: Bridge
  private var queue: PromptQueue
  var dialogue = TerminalDialogue()

  init() {
    bridge = Bridge()
    queue = PromptQueue(prompts: bridge) {}
  }

  /// Asks a question. Returns the text that is written.
  mutating func ask(_ question: Prompt.Question) -> String {
    let id = queue.ask(question, at: .zero)
    if let (prompt, reply) = bridge.asked.withLockedValue({ $0.first { $0.0.id == id } }) {
      dialogue.ask(prompt, reply: reply)
    }
    return dialogue.takeOutput()
  }

  mutating func withdraw(_ number: UInt64) -> String {
    dialogue.withdraw(PromptID(number: number))
    return dialogue.takeOutput()
  }

  mutating func type(_ text: String) -> String {
    dialogue.receive(Array(text.utf8))
    return dialogue.takeOutput()
  }

  /// The answers since the last call.
  mutating func answers() -> [PairingAnswer] {
    for (reply, answer) in dialogue.takeAnswers() { reply(answer) }
    queue.collect(at: .zero)
    var answers: [PairingAnswer] = []
    while let answer = queue.takeAnswer(at: .zero) { answers.append(answer.answer) }
    return answers
  }
}

private let identifier = PeerIdentifier(high: 0x0123_4567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF)

extension Prompt.Question {
  /// Returns a question about a device called "strap".
  fileprivate static func strap(
    _ prompt: PairingPrompt, isLocallyInitiated: Bool = true, replacesBond: Bool = false, name: String? = "strap"
  ) -> Prompt.Question {
    .pairing(
      prompt,
      Prompt.Pairing(
        identifier: identifier, name: name, isLocallyInitiated: isLocallyInitiated, replacesBond: replacesBond))
  }
}

@Suite("Prompts on a terminal")
struct TerminalTests {
  @Test("Each kind of question has its text on the terminal")
  func texts() {
    let text = { (question: Prompt.Question) in TerminalDialogue.text(question) }
    #expect(text(.strap(.allow)) == "a secure connection to “strap” is required. Pair? [y/N] ")
    #expect(text(.strap(.allow, isLocallyInitiated: false)) == "“strap” wants to pair. Pair? [y/N] ")
    #expect(
      text(.strap(.compare(1_234), isLocallyInitiated: false))
        == "“strap” wants to pair. Does it display 001 234? [y/N] ")
    #expect(
      text(.strap(.enterPasskey))
        == "a secure connection to “strap” is required. Enter the six digits that it displays, or n: ")
    #expect(text(.useBluetooth(app: "my app")) == "allow my app to use Bluetooth? [y/N] ")
    #expect(text(.turnOn) == "the adapter is off. Turn it on? [y/N] ")
    #expect(
      text(.strap(.allow, isLocallyInitiated: false, name: nil))
        == "an unnamed device (01234567…) wants to pair. Pair? [y/N] ")
  }

  @Test("Yes accepts, an empty line refuses, and other input repeats the question")
  func yesAndNo() {
    var talk = Talk()
    #expect(talk.ask(.turnOn) == "Bluetooth: the adapter is off. Turn it on? [y/N] ")
    #expect(talk.type("maybe\n") == "Please answer y or n: ")
    #expect(talk.type("Y") == "")
    #expect(talk.answers() == [])
    #expect(talk.type("ES\n") == "")
    #expect(talk.answers() == [.yes])
    #expect(!talk.dialogue.isWaiting)
    _ = talk.ask(.turnOn)
    _ = talk.type("\n")
    #expect(talk.answers() == [.no])
  }

  @Test("A passkey is six digits, with or without a blank; other input is refused")
  func passkey() {
    var talk = Talk()
    _ = talk.ask(.strap(.enterPasskey))
    for text in ["12345", "1234567", "y", "12345x", "-12345", "１２３４５６"] {
      #expect(talk.type(text + "\n") == "Please enter six digits, or n: ")
    }
    #expect(talk.answers() == [])
    _ = talk.type(" 012 345\r\n")
    #expect(talk.answers() == [.passkey(12_345)])
    _ = talk.ask(.strap(.enterPasskey))
    _ = talk.type("n\n")
    #expect(talk.answers() == [.no])
  }

  @Test("Questions are asked one after the other, and input from before a question does not answer it")
  func turns() {
    var talk = Talk()
    _ = talk.type("yes\nyes\ny")
    _ = talk.ask(.strap(.allow))
    #expect(talk.ask(.turnOn) == "")
    #expect(talk.answers() == [])
    #expect(talk.type("n\n") == "Bluetooth: the adapter is off. Turn it on? [y/N] ")
    #expect(talk.answers() == [.no])
    _ = talk.type("y\n")
    #expect(talk.answers() == [.yes])
  }

  @Test("A withdrawn question makes room for the next, and its partial input does not count for that one")
  func withdrawing() {
    var talk = Talk()
    _ = talk.ask(.strap(.allow))
    _ = talk.ask(.turnOn)
    _ = talk.ask(.useBluetooth(app: "app"))
    _ = talk.type("y")
    #expect(talk.withdraw(3) == "")
    #expect(
      talk.withdraw(1) == "\nBluetooth: the request was cancelled.\nBluetooth: the adapter is off. Turn it on? [y/N] ")
    _ = talk.type("\n")
    #expect(talk.answers() == [.no])
    #expect(!talk.dialogue.isWaiting)
    #expect(talk.withdraw(1) == "")
  }

  @Test("Digits to type on the peer are shown at once, even in the middle of a question")
  func showing() {
    var talk = Talk()
    #expect(talk.ask(.strap(.show(passkey: 42))) == "Bluetooth: to pair with “strap”, enter 000 042 on that device.\n")
    #expect(!talk.dialogue.isWaiting)
    _ = talk.ask(.turnOn)
    #expect(
      talk.ask(.strap(.show(passkey: 7)))
        == "Bluetooth: to pair with “strap”, enter 000 007 on that device.\n"
        + "Bluetooth: the adapter is off. Turn it on? [y/N] ")
  }

  @Test("The prompt for a peer that would replace a bond contains a warning")
  func replacing() {
    var talk = Talk()
    let lines = talk.ask(.strap(.allow, isLocallyInitiated: false, replacesBond: true)).split(separator: "\n")
    #expect(
      lines == [
        "Bluetooth: a new bond with “strap” replaces the existing bond.",
        "Bluetooth: if you have not reset that device, this may be a different device.",
        "Bluetooth: “strap” wants to pair. Pair? [y/N] ",
      ])
  }

  @Test("At the end of the input all questions are refused, now and later")
  func end() {
    var talk = Talk()
    _ = talk.ask(.strap(.allow))
    _ = talk.ask(.turnOn)
    talk.dialogue.receiveEnd()
    #expect(talk.answers() == [.no, .no])
    #expect(
      talk.dialogue.takeOutput()
        == "\nBluetooth: no more input: refused pairing with “strap”.\n"
        + "Bluetooth: no more input: refused turning Bluetooth on.\n")
    #expect(talk.ask(.useBluetooth(app: "app")).contains("refused use of Bluetooth by app"))
    #expect(talk.answers() == [.no])
  }

  @Test("An endless line uses no memory and is not an answer")
  func longLine() {
    var talk = Talk()
    _ = talk.ask(.turnOn)
    _ = talk.type(String(repeating: "y", count: 100_000))
    #expect(talk.type("\n") == "Please answer y or n: ")
    #expect(talk.type("y\n") == "")
    #expect(talk.answers() == [.yes])
  }

  @Test(
    "A peer's name can't control the terminal",
    arguments: [
      ("strap", "“strap”"), ("\u{1B}[2J\u{1B}]0;x\u{7}a", "“?[2J?]0;x?a”"), ("a\nBluetooth: ok", "“a?Bluetooth: ok”"),
      ("\u{202E}evil", "“?evil”"), ("a” is yours. “b", "“a\" is yours. \"b”"), ("\u{200B}\u{2028}\u{E000}", "“???”"),
      ("Zoë e\u{301}", "“Zoë é”"), ("\u{301}\u{301}x\u{301}\u{302}\u{303}", "“x\u{301}”"),
      (String(repeating: "n", count: 300), "“\(String(repeating: "n", count: 39))…”"),
      ("", "an unnamed device (01234567…)"),
      ("  ", "an unnamed device (01234567…)"), ("\u{1F600}", "“\u{1F600}”"),
    ])
  func names(name: String, text: String) {
    let pairing = Prompt.Pairing(identifier: identifier, name: name, isLocallyInitiated: false, replacesBond: false)
    #expect(pairing.who == text)
  }

  // MARK: With a thread

  /// Prompts on two pipes, and a queue that reports its wakeups.
  private struct TerminalHarness {
    let input = Pipe()
    let output = Pipe()
    let wakes: AsyncStream<Void>
    let prompts: TerminalPrompts
    var queue: PromptQueue

    /// - Parameter isReal: True to treat the pipe like a real terminal, whose foreground belongs to another process.
    init(isTerminal: Bool = true, isReal: Bool = false) throws {
      let (wakes, source) = AsyncStream.makeStream(of: Void.self)
      self.wakes = wakes
      let out = PromptTerminal.Output(descriptor: output.fileHandleForWriting.fileDescriptor)
      let terminal = PromptTerminal(input: input.fileHandleForReading.fileDescriptor, output: out, isReal: isReal)
      prompts = TerminalPrompts(terminal: isTerminal ? terminal : nil, errors: out)
      queue = PromptQueue(prompts: prompts) { source.yield() }
    }

    func type(_ text: String) throws { try input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }

    /// Returns the text that is written until `end` appears.
    func written(until end: String) -> String {
      var data = Data()
      while !String(decoding: data, as: UTF8.self).hasSuffix(end) {
        let more = output.fileHandleForReading.availableData
        if more.isEmpty { break }
        data += more
      }
      return String(decoding: data, as: UTF8.self)
    }

    mutating func nextAnswer() async -> PairingAnswer? {
      for await _ in wakes {
        queue.collect(at: .zero)
        if let answer = queue.takeAnswer(at: .zero) { return answer.answer }
      }
      return nil
    }
  }

  @Test("Typed input reaches the adapter from the terminal's own thread, question after question")
  func typing() async throws {
    var bench = try TerminalHarness()
    #expect(bench.prompts.ioCapability == .keyboardDisplay)
    _ = bench.queue.ask(.strap(.allow), at: .zero)
    _ = bench.queue.ask(.strap(.enterPasskey), at: .zero)
    #expect(bench.written(until: "[y/N] ").hasPrefix("Bluetooth: a secure"))
    try bench.type("y\n")
    #expect(await bench.nextAnswer() == .yes)
    #expect(bench.written(until: "or n: ").contains("six digits"))
    try bench.type("123456\n")
    #expect(await bench.nextAnswer() == .passkey(123_456))
    // The thread has ended; the next question starts it again.
    _ = bench.queue.ask(.turnOn, at: .zero)
    _ = bench.written(until: "[y/N] ")
    try bench.type("no\n")
    #expect(await bench.nextAnswer() == .no)
  }

  @Test("A question can be withdrawn while the terminal waits for its answer")
  func withdrawingWhileReading() async throws {
    var bench = try TerminalHarness()
    let id = bench.queue.ask(.strap(.allow), at: .zero)
    _ = bench.written(until: "[y/N] ")
    bench.queue.withdraw(id)
    #expect(bench.written(until: "cancelled.\n") == "\nBluetooth: the request was cancelled.\n")
    _ = bench.queue.ask(.turnOn, at: .zero)
    _ = bench.written(until: "[y/N] ")
    try bench.input.fileHandleForWriting.close()
    #expect(await bench.nextAnswer() == .no)
    // The reader writes after its answer. The numbers of the pipes belong to the next test later.
    #expect(bench.written(until: "on.\n") == "\nBluetooth: no more input: refused turning Bluetooth on.\n")
  }

  @Test("Without a terminal all questions are refused at once, with a log line")
  func noTerminal() throws {
    var bench = try TerminalHarness(isTerminal: false)
    #expect(bench.prompts.ioCapability == .noInputNoOutput)
    _ = bench.queue.ask(.strap(.allow), at: .zero)
    #expect(bench.queue.takeAnswer(at: .zero)?.answer == .no)
    #expect(
      bench.written(until: "\n")
        == "Bluetooth: no terminal available: refused pairing with “strap”. "
        + "Set COREBLUETOOTH_PROMPTS=accept to accept without asking, =refuse to refuse silently.\n")
  }

  @Test("In the background of a terminal all questions are refused, since the system would stop a reading process")
  func background() throws {
    var bench = try TerminalHarness(isReal: true)
    _ = bench.queue.ask(.turnOn, at: .zero)
    #expect(bench.queue.takeAnswer(at: .zero)?.answer == .no)
    #expect(bench.written(until: "\n").hasPrefix("Bluetooth: no terminal available: refused turning Bluetooth on."))
  }

  @Test(
    "COREBLUETOOTH_PROMPTS selects the prompts; an empty value means the terminal, an invalid one is an error",
    .requirement("G044"))
  func setting() throws {
    #expect(try PromptsSetting(nil) == .terminal)
    #expect(try PromptsSetting("") == .terminal)
    #expect(try PromptsSetting("terminal") == .terminal)
    #expect(try PromptsSetting("accept").makePrompts() is AutomaticPrompts)
    #expect(try PromptsSetting("refuse").makePrompts() is AutomaticPrompts)
    do throws(AdapterError) {
      _ = try PromptsSetting("yes")
      Issue.record("taken")
    } catch {
      #expect("\(error)" == "invalid COREBLUETOOTH_PROMPTS=yes: expected one of: terminal, accept, refuse")
    }
  }

  @Test("The default device uses the prompts of the environment; an invalid value counts as none")
  func ofProcess() async {
    await #expect(processExitsWith: .success) {
      for (value, setting) in [
        ("refuse", PromptsSetting.refuse), ("accept", .accept), ("", .terminal), ("?", .terminal),
      ] {
        setenv(PromptsSetting.environmentVariable, value, 1)
        #expect(PromptsSetting.ofProcess == setting)
      }
    }
  }
}
