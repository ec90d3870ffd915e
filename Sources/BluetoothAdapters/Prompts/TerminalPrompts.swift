// Design: questions at a terminal
//
// `TerminalPrompts` reads and writes on a separate thread. It asks one question at a time. An empty line means no, and
// input typed before a question does not answer it. A peer's name is printed without control sequences. Without a
// terminal, or in its background, everything is refused, with a line that says so.

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
  private let terminal: PromptTerminal?
  private let errors: PromptTerminal.Output
  private let state = NIOLockedValueBox(State())
  private let queue = DispatchQueue(label: "CoreBluetooth.prompts")

  /// Creates prompts for the terminal to which this process's standard input and standard error belong, if there is
  /// one.
  package convenience init() {
    self.init(terminal: PromptTerminal.standard(), errors: .standardError)
  }

  init(terminal: PromptTerminal?, errors: PromptTerminal.Output) {
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
