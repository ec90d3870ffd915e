import BluetoothHost
import BluetoothWire
import NIOConcurrencyHelpers

/// Where answers wait for the adapter.
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

  /// Wakes the adapter unless it knows of mail already, or waits for just this.
  func post(_ reply: Reply) {
    let isNews = state.withLockedValue { state in
      state.replies.append(reply)
      return state.replies.count == 1 && !state.isAsking
    }
    if isNews { wake() }
  }

  /// What comes while `body` runs is taken afterwards without anybody's being woken. It comes from this thread, mostly.
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
