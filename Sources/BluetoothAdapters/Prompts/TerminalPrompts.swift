import BluetoothBonds
import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import Dispatch
import NIOConcurrencyHelpers

/// Prompts that ask the user at a terminal. While a question is open, a separate thread reads and writes the terminal,
/// so that the adapter never waits for the user. The app does not receive input that is typed while a question is open.
///
/// Without a terminal, or in the background, every question is refused, with a line on the standard error.
package final class TerminalPrompts: Prompts {
  private struct State {
    var dialogue = TerminalDialogue()
    /// True while the thread is working.
    var isWorking = false
  }

  package let ioCapability: SMP.IOCapability
  private let terminal: Terminal?
  private let errors: Terminal.Output
  private let state = NIOLockedValueBox(State())
  private let queue = DispatchQueue(label: "CoreBluetooth.prompts")

  /// Creates prompts for the terminal to which this process's standard input and standard error belong, if there is
  /// one.
  package convenience init() {
    self.init(terminal: Terminal.standard(), errors: .standardError)
  }

  init(terminal: Terminal?, errors: Terminal.Output) {
    self.terminal = terminal
    self.errors = errors
    ioCapability = terminal == nil ? .noInputNoOutput : .keyboardDisplay
  }

  package var isUser: Bool { terminal?.isInForeground ?? false }

  package func ask(_ prompt: Prompt, reply: PromptReply) {
    guard let terminal, terminal.isInForeground else {
      let line = "Bluetooth: no terminal available: refused \(prompt.question.summary). \(PromptsSetting.hint)\n"
      let errors = errors
      queue.async { errors.write(line) }
      return reply(.no)
    }
    change { $0.ask(prompt, reply: reply) }
  }

  package func withdraw(_ id: PromptID) { change { $0.withdraw(id) } }

  private func change(_ body: (inout TerminalDialogue) -> Void) {
    let begins = state.withLockedValue { state in
      body(&state.dialogue)
      defer { state.isWorking = true }
      return !state.isWorking
    }
    if begins { queue.async { self.work() } } else { terminal?.interrupt() }
  }

  /// Writes questions and reads answers until no question is open. Runs on `queue`.
  private func work() {
    guard let terminal else { return }
    while true {
      let (output, answers, isWaiting) = state.withLockedValue { state in
        let result = (state.dialogue.takeOutput(), state.dialogue.takeAnswers(), state.dialogue.isWaiting)
        if result.0.isEmpty, result.1.isEmpty, !result.2 { state.isWorking = false }
        return result
      }
      for (reply, answer) in answers { reply(answer) }
      if !output.isEmpty {
        // Text typed ahead would answer a question that the user has not seen.
        terminal.discardInput()
        terminal.output.write(output)
      } else if !isWaiting {
        if answers.isEmpty { return }
      } else {
        switch terminal.read() {
        case .bytes(let bytes): state.withLockedValue { $0.dialogue.receive(bytes) }
        case .interrupted: break
        case .end: state.withLockedValue { $0.dialogue.receiveEnd() }
        }
      }
    }
  }
}

/// The kind of prompts of devices that run in real time, as set by the environment variable `COREBLUETOOTH_PROMPTS`.
package enum PromptsSetting: String, CaseIterable, Sendable {
  /// Asks at the terminal; refuses if there is none. This is the default.
  case terminal
  /// Accepts everything that needs no passkey, without asking the user.
  case accept
  /// Refuses everything.
  case refuse

  package static let environmentVariable = "COREBLUETOOTH_PROMPTS"

  static let hint = "Set \(environmentVariable)=accept to accept without asking, =refuse to refuse silently."

  /// Parses the variable's value; nil stands for a variable that is not set.
  package init(_ value: String?) throws(AdapterError) {
    guard let value, !value.isEmpty else {
      self = .terminal
      return
    }
    guard let setting = PromptsSetting(rawValue: value) else {
      let forms = Self.allCases.map(\.rawValue).joined(separator: ", ")
      throw AdapterError(
        description: "invalid \(Self.environmentVariable)=\(value): expected one of: \(forms)")
    }
    self = setting
  }

  /// The setting of this process's environment. An invalid value counts as not set and is logged once.
  package static var ofProcess: PromptsSetting {
    let value = SystemFiles.environment(environmentVariable)
    do throws(AdapterError) {
      return try PromptsSetting(value)
    } catch {
      DaemonLog.note("\(error)", of: "prompts")
      return .terminal
    }
  }

  package func makePrompts() -> any Prompts {
    switch self {
    case .terminal: TerminalPrompts()
    case .accept: AutomaticPrompts(.accept, isUser: false)
    case .refuse: AutomaticPrompts(.refuse, isUser: false)
    }
  }
}
