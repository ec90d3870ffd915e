import BluetoothHost
import BluetoothWire
import NIOConcurrencyHelpers

/// The queue of answers for the adapter.
final class PromptInbox: Sendable {
  struct Reply: Sendable {
    let id: PromptID
    let answer: PairingAnswer
    let delay: TimeSpan
  }

  private struct State {
    var replies: [Reply] = []
    var isAsking = false
  }

  private let state = NIOLockedValueBox(State())
  private let wake: @Sendable () -> Void

  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  /// Adds a reply. Wakes the adapter unless earlier replies are waiting or the adapter is asking a question at this
  /// moment.
  func post(_ reply: Reply) {
    let isNews = state.withLockedValue { state in
      state.replies.append(reply)
      return state.replies.count == 1 && !state.isAsking
    }
    if isNews { wake() }
  }

  /// Runs `body` without waking the adapter for answers that arrive meanwhile, mostly from this thread. The caller
  /// collects them afterwards.
  func whileAsking(_ body: () -> Void) {
    state.withLockedValue { $0.isAsking = true }
    body()
    state.withLockedValue { $0.isAsking = false }
  }

  func takeAll() -> [Reply] {
    state.withLockedValue { state in
      defer { state.replies.removeAll() }
      return state.replies
    }
  }
}
