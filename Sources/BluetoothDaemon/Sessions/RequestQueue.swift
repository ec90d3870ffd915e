import DequeModule
import NIOConcurrencyHelpers

/// The runner of an adapter, as seen by code that has work for it.
package protocol AdapterExecutor: AnyObject, Sendable {
  /// Signals that there are requests. Called on any thread with no lock held, once for all requests posted until the
  /// executor takes them; never blocks.
  func wake()
}

/// The only path from apps' threads to an adapter's executor. It keeps the order and never blocks the sender.
///
/// All copies are the same queue.
package struct RequestQueue: Sendable {
  private struct State {
    var requests: Deque<DaemonRequest> = []
    weak var executor: (any AdapterExecutor)?
  }

  private let state = NIOLockedValueBox(State())

  package init() {}

  /// Sets the executor to wake. The queue holds it weakly.
  package func setExecutor(_ executor: any AdapterExecutor) {
    state.withLockedValue { $0.executor = executor }
  }

  package var isEmpty: Bool { state.withLockedValue { $0.requests.isEmpty } }

  /// The number of waiting requests.
  package var count: Int { state.withLockedValue { $0.requests.count } }

  /// Appends `request`. Allocates only when more requests are waiting than ever before.
  package func post(_ request: DaemonRequest) {
    let executor: (any AdapterExecutor)? = state.withLockedValue { state in
      let wasEmpty = state.requests.isEmpty
      state.requests.append(request)
      return wasEmpty ? state.executor : nil
    }
    executor?.wake()
  }

  /// Wakes the executor for work other than requests.
  package func wake() {
    let executor = state.withLockedValue { $0.executor }
    executor?.wake()
  }

  /// Swaps all waiting requests with `emptied`, whose memory is reused for later ones. Only the executor calls it.
  package func takeAll(_ emptied: inout Deque<DaemonRequest>) {
    state.withLockedValue { swap(&$0.requests, &emptied) }
  }
}
