import NIOConcurrencyHelpers

/// The credits for values that an app may submit before earlier ones have been sent: a counter that both sides access
/// without waiting for each other.
package final class TransmitCredits: Sendable {
  private struct State {
    var available: Int
    var isAwaited = false
    var observer: (@Sendable (Int) -> Void)?
  }

  /// The number of credits when no value is pending.
  package let capacity: Int
  private let state: NIOLockedValueBox<State>

  package init(capacity: Int) {
    self.capacity = capacity
    state = NIOLockedValueBox(State(available: capacity))
  }

  /// Takes one credit. Returns false if there is none, and remembers that the caller waits for one.
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

  /// True if `take` would succeed. If not, remembers that the caller waits for a credit.
  package var isAvailable: Bool {
    state.withLockedValue { state in
      if state.available == 0 { state.isAwaited = true }
      return state.available > 0
    }
  }

  /// Returns `count` credits to the pool. Returns true, once, if the app waits for a credit and must be notified.
  package func put(_ count: Int = 1) -> Bool {
    let (isReady, returned, observer) = state.withLockedValue { state in
      let returned = min(capacity - state.available, max(0, count))
      state.available += returned
      defer { state.isAwaited = false }
      return (state.isAwaited && state.available > 0, returned, state.observer)
    }
    if returned > 0, let observer { observer(returned) }
    return isReady
  }

  /// Calls `observer` with the number of returned credits whenever credits are returned.
  func observe(_ observer: @escaping @Sendable (Int) -> Void) { state.withLockedValue { $0.observer = observer } }
}
