import DequeModule
import NIOConcurrencyHelpers

/// The runner of an adapter, as seen by code that has work for it.
package protocol AdapterExecutor: AnyObject, Sendable {
  /// Signals that there is mail. Called on any thread with no lock held, once for all mail posted until the executor
  /// takes it; never blocks.
  func wake()
}

/// A message from an app's session to the adapter's executor.
package enum Mail: Sendable {
  case centralOpened(CentralSession)
  /// A command of a central manager; `seenStates`: see `StateCounter`.
  case central(CentralSession, CentralCommand, seenStates: UInt32)
  case centralClosed(CentralSession)
  case peripheralOpened(PeripheralSession)
  case peripheral(PeripheralSession, PeripheralCommand, seenStates: UInt32)
  case peripheralClosed(PeripheralSession)
  /// A read from, a write to or another use of a channel by an app.
  case channel(ChannelPipe)
}

/// The only path from apps' threads to an adapter's executor. It keeps the order and never blocks the sender.
package final class Mailbox: Sendable {
  private struct State {
    var mail: Deque<Mail> = []
    weak var executor: (any AdapterExecutor)?
  }

  private let state = NIOLockedValueBox(State())

  package init() {}

  /// Sets the executor to wake. The mailbox holds it weakly.
  package func setExecutor(_ executor: any AdapterExecutor) {
    state.withLockedValue { $0.executor = executor }
  }

  package var isEmpty: Bool { state.withLockedValue { $0.mail.isEmpty } }

  /// Appends `mail`. Allocates only when more mail is waiting than ever before.
  package func post(_ mail: Mail) {
    let executor: (any AdapterExecutor)? = state.withLockedValue { state in
      let wasEmpty = state.mail.isEmpty
      state.mail.append(mail)
      return wasEmpty ? state.executor : nil
    }
    executor?.wake()
  }

  /// Wakes the executor for work other than mail.
  package func wake() {
    let executor = state.withLockedValue { $0.executor }
    executor?.wake()
  }

  /// Swaps all waiting mail with `emptied`, whose memory is reused for later mail. Only the executor calls it.
  package func takeAll(_ emptied: inout Deque<Mail>) {
    state.withLockedValue { swap(&$0.mail, &emptied) }
  }
}
