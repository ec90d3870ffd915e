import DequeModule
import NIOConcurrencyHelpers

/// What runs an adapter, seen from those who have work for it.
package protocol AdapterExecutor: AnyObject, Sendable {
  /// There is mail. Called on any thread, with no lock held, once for all mail that comes before it is taken; never
  /// waits.
  func wake()
}

/// What apps' sessions hand to the adapter's executor.
package enum Mail: Sendable {
  case centralOpened(CentralSession)
  /// `seenStates`: see `StateCounter`.
  case central(CentralSession, CentralCommand, seenStates: UInt32)
  case centralClosed(CentralSession)
  case peripheralOpened(PeripheralSession)
  case peripheral(PeripheralSession, PeripheralCommand, seenStates: UInt32)
  case peripheralClosed(PeripheralSession)
  /// An app has used a channel.
  case channel(ChannelPipe)
}

/// The one way from apps' threads to an adapter's executor: in order, and without ever waiting for it.
package final class Mailbox: Sendable {
  private struct State {
    var mail: Deque<Mail> = []
    weak var executor: (any AdapterExecutor)?
  }

  private let state = NIOLockedValueBox(State())

  package init() {}

  /// Whom to wake from now on. It is held weakly.
  package func setExecutor(_ executor: any AdapterExecutor) {
    state.withLockedValue { $0.executor = executor }
  }

  package var isEmpty: Bool { state.withLockedValue { $0.mail.isEmpty } }

  /// Appends; allocates only when more mail waits than ever before.
  package func post(_ mail: Mail) {
    let executor: (any AdapterExecutor)? = state.withLockedValue { state in
      let wasEmpty = state.mail.isEmpty
      state.mail.append(mail)
      return wasEmpty ? state.executor : nil
    }
    executor?.wake()
  }

  /// Wakes the executor for something else than mail.
  package func wake() {
    let executor = state.withLockedValue { $0.executor }
    executor?.wake()
  }

  /// Exchanges all waiting mail for `emptied`, whose memory the next mail will use. The executor only.
  package func takeAll(_ emptied: inout Deque<Mail>) {
    state.withLockedValue { swap(&$0.mail, &emptied) }
  }
}
