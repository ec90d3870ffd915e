import BluetoothBonds
import BluetoothDaemon
import BluetoothHost
import BluetoothWire
import Dispatch
import NIOConcurrencyHelpers

/// Asks at a terminal. It reads and writes on a thread of its own while there is something to ask, so that no engine ever
/// waits for the user; for as long, what is typed is not the app's.
///
/// Without a terminal, and in its background, all is refused, with a line on the standard error that says so.
package final class TerminalPrompts: Prompts {
  private struct State {
    var dialogue = TerminalDialogue()
    /// The thread is at work.
    var isWorking = false
  }

  package let ioCapability: SMP.IOCapability
  private let terminal: Terminal?
  private let errors: Terminal.Output
  private let state = NIOLockedValueBox(State())
  private let queue = DispatchQueue(label: "CoreBluetooth.prompts")

  /// Asks at the terminal to which this process's standard input and standard error belong, if they do.
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
      let line = "Bluetooth: no terminal to ask at: refused \(prompt.question.summary). \(PromptsSetting.hint)\n"
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

  /// Writes and reads until there is nothing more to ask.
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
        // Somebody who types ahead answers what was not asked yet.
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

/// Which prompts real use has: the environment variable `COREBLUETOOTH_PROMPTS`.
package enum PromptsSetting: String, CaseIterable, Sendable {
  /// Asks at the terminal, and refuses where there is none. This is what counts if nothing is set.
  case terminal
  /// Accepts everything that needs no digits, without asking anybody.
  case accept
  /// Refuses everything.
  case refuse

  package static let environmentVariable = "COREBLUETOOTH_PROMPTS"

  static let hint = "\(environmentVariable)=accept accepts without asking, =refuse refuses quietly."

  /// What a variable's value says; nil stands for a variable that is not set.
  package init(_ value: String?) throws(AdapterError) {
    guard let value, !value.isEmpty else {
      self = .terminal
      return
    }
    guard let setting = PromptsSetting(rawValue: value) else {
      let forms = Self.allCases.map(\.rawValue).joined(separator: ", ")
      throw AdapterError(
        description: "\(Self.environmentVariable)=\(value) says nothing; right would be one of: \(forms)")
    }
    self = setting
  }

  /// What this process's environment says. A value that says nothing counts as none, and is told once to the log.
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
