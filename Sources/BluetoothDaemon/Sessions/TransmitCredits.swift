import NIOConcurrencyHelpers

/// How many values an app may still hand over before the ones it gave have left: a counter that both sides reach
/// without waiting for each other.
package final class TransmitCredits: Sendable {
  private struct State {
    var available: Int
    var isAwaited = false
  }

  /// How many there are when nothing is on its way.
  package let capacity: Int
  private let state: NIOLockedValueBox<State>

  package init(capacity: Int) {
    self.capacity = capacity
    state = NIOLockedValueBox(State(available: capacity))
  }

  /// Takes one. False: there is none, and it is remembered that somebody waits for one.
  package func take() -> Bool {
    state.withLockedValue { state in
      guard state.available > 0 else {
        state.isAwaited = true
        return false
      }
      state.available -= 1
      return true
    }
  }

  /// Whether `take` would succeed. If not, it is remembered that somebody waits for one.
  package var isAvailable: Bool {
    state.withLockedValue { state in
      if state.available == 0 { state.isAwaited = true }
      return state.available > 0
    }
  }

  /// Gives `count` back. True: somebody waited and has to be told, once.
  package func put(_ count: Int = 1) -> Bool {
    state.withLockedValue { state in
      state.available = min(capacity, state.available + max(0, count))
      defer { state.isAwaited = false }
      return state.isAwaited && state.available > 0
    }
  }
}
