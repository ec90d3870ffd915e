import BluetoothDaemon
import BluetoothHost
import BluetoothTypes
import NIOConcurrencyHelpers

/// The prompts of an adapter that the service serves: agents of D-Bus answer the questions of pairing.
///
/// An adapter gets its prompts before the service exists, so a question without a service is answered with no.
package final class BlueZPrompts: Prompts {
  /// The receiver of questions, which is called on the adapter's thread.
  protocol Receiver: AnyObject, Sendable {
    func ask(_ prompt: Prompt, reply: PromptReply)
    func withdraw(_ id: PromptID)
    func keypress(_ notification: KeypressNotification, for id: PromptID)
  }

  private struct State {
    weak var receiver: (any Receiver)?
  }

  private let state = NIOLockedValueBox(State())

  /// The capability until there is an agent: the service sets those of agents with `SystemRequest.setIOCapability`.
  package var ioCapability: IOCapability { .noInputNoOutput }

  package init() {}

  func setReceiver(_ receiver: any Receiver) { state.withLockedValue { $0.receiver = receiver } }

  private var receiver: (any Receiver)? { state.withLockedValue { $0.receiver } }

  package func ask(_ prompt: Prompt, reply: PromptReply) {
    switch prompt.question {
    // Clients of the bus have the permission of the bus.
    case .useBluetooth: reply(.yes)
    case .turnOn, .shareNotifications: reply(.no)
    case .pairing:
      guard let receiver else { return reply(.no) }
      receiver.ask(prompt, reply: reply)
    }
  }

  package func withdraw(_ id: PromptID) { receiver?.withdraw(id) }

  package func keypress(_ notification: KeypressNotification, for id: PromptID) {
    receiver?.keypress(notification, for: id)
  }
}
