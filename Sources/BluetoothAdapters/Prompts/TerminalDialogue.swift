import BluetoothDaemon
import BluetoothHost

/// The dialogue with a user at a terminal: it converts questions to text, and typed lines to answers. It asks one
/// question at a time; further questions wait. Only an explicit "y" or "yes" counts as agreement.
struct TerminalDialogue {
  struct Question {
    let prompt: Prompt
    let reply: PromptReply
  }

  /// The open questions. The first one is being asked.
  private var questions: [Question] = []
  private var line: [UInt8] = []
  private var isLineTooLong = false
  private var hasEnded = false
  /// The text waiting to be written.
  private var output = ""
  /// The answers waiting to be sent. A caller that holds a lock for this dialogue sends them after releasing the lock.
  private var answers: [(reply: PromptReply, answer: PairingAnswer)] = []

  /// The maximum length of an answer in octets; longer lines are invalid.
  private static let maximumLine = 128

  /// True if a question waits for the user's answer.
  var isWaiting: Bool { !questions.isEmpty }

  mutating func takeOutput() -> String {
    defer { output = "" }
    return output
  }

  mutating func takeAnswers() -> [(reply: PromptReply, answer: PairingAnswer)] {
    defer { answers.removeAll() }
    return answers
  }

  // MARK: Adapter side

  mutating func ask(_ prompt: Prompt, reply: PromptReply) {
    if case .pairing(.show(let passkey), let pairing) = prompt.question {
      say("to pair with \(pairing.who), enter \(passkeyDigits(passkey, isSplit: true)) on that device.")
      repeatQuestion()
    } else if hasEnded {
      refuse(Question(prompt: prompt, reply: reply))
    } else {
      questions.append(Question(prompt: prompt, reply: reply))
      if questions.count == 1 { begin() }
    }
  }

  mutating func withdraw(_ id: PromptID) {
    guard let index = questions.firstIndex(where: { $0.prompt.id == id }) else { return }
    questions.remove(at: index)
    guard index == 0 else { return }
    output += "\n"
    say("the request was cancelled.")
    begin()
  }

  // MARK: Terminal side

  mutating func receive(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        let text = String(decoding: line, as: UTF8.self)
        let isText = !isLineTooLong
        line.removeAll()
        isLineTooLong = false
        // "?" is never a valid answer, so the user is asked again.
        understand(isText ? text : "?")
      } else if line.count < Self.maximumLine {
        line.append(byte)
      } else {
        isLineTooLong = true
      }
    }
  }

  /// Handles the end of the input: refuses all open questions.
  mutating func receiveEnd() {
    hasEnded = true
    if isWaiting { output += "\n" }
    while !questions.isEmpty { refuse(questions.removeFirst()) }
  }

  private mutating func refuse(_ question: Question) {
    say("no more input: refused \(question.prompt.question.summary).")
    answers.append((question.reply, .no))
  }

  // MARK: Parsing

  /// Answers the first question with a line of input, or asks for a valid answer.
  private mutating func understand(_ text: String) {
    guard let question = questions.first else { return }
    guard let answer = Self.answer(text, to: question.prompt.question) else {
      if case .pairing(.enterPasskey, _) = question.prompt.question {
        output += "Please enter six digits, or n: "
      } else {
        output += "Please answer y or n: "
      }
      return
    }
    questions.removeFirst()
    answers.append((question.reply, answer))
    begin()
  }

  /// Returns the answer that a line means; nil if the line is invalid. An empty line means no.
  static func answer(_ text: String, to question: Prompt.Question) -> PairingAnswer? {
    let text = text.filter { $0 != " " && $0 != "\r" && $0 != "\t" }.lowercased()
    if ["", "n", "no"].contains(text) { return .no }
    if case .pairing(.enterPasskey, _) = question {
      guard text.utf8.count == 6, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return UInt32(text).map { .passkey($0) }
    }
    return ["y", "yes"].contains(text) ? .yes : nil
  }

  // MARK: Questions

  private mutating func say(_ text: String) { output += "Bluetooth: \(text)\n" }

  /// Asks the first question. Discards text that was typed before it.
  private mutating func begin() {
    line.removeAll()
    isLineTooLong = false
    guard let question = questions.first?.prompt.question else { return }
    if case .pairing(_, let pairing) = question, pairing.replacesBond {
      say("a new bond with \(pairing.who) replaces the existing bond.")
      say("if you have not reset that device, this may be a different device.")
    }
    output += "Bluetooth: " + Self.text(question)
  }

  /// Repeats the open question after other output.
  private mutating func repeatQuestion() {
    if let question = questions.first?.prompt.question { output += "Bluetooth: " + Self.text(question) }
  }

  /// Returns the text of a question, with a space at its end.
  static func text(_ question: Prompt.Question) -> String {
    switch question {
    case .useBluetooth(let app, let usage):
      let reason = usage.flatMap { Prompt.Pairing.harmless($0) }.map { " (\($0))" } ?? ""
      return "allow \(Prompt.Pairing.harmless(app) ?? "this program") to use Bluetooth?\(reason) [y/N] "
    case .turnOn: return "the adapter is off. Turn it on? [y/N] "
    case .shareNotifications(let accessory): return "show notifications on \(accessory.who)? [y/N] "
    case .pairing(let prompt, let pairing):
      let opening =
        pairing.isLocallyInitiated
        ? "a secure connection to \(pairing.who) is required." : "\(pairing.who) wants to pair."
      switch prompt {
      case .allow: return "\(opening) Pair? [y/N] "
      case .show(let passkey): return "\(opening) Enter \(passkeyDigits(passkey, isSplit: true)) on that device. "
      case .enterPasskey: return "\(opening) Enter the six digits that it displays, or n: "
      case .compare(let number):
        return "\(opening) Does it display \(passkeyDigits(number, isSplit: true))? [y/N] "
      }
    }
  }
}
