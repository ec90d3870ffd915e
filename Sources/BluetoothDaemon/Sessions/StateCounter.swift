import Synchronization

/// Counts the state changes that a session's app has seen. The daemon drops commands that the app sent before it knew
/// the adapter's current state, as it drops everything else of the former state: a connection attempt that crosses a
/// reset would establish a link for which the app has no peripheral.
package final class StateCounter: Sendable {
  /// The number of state changes that the daemon has sent. Unsafe because only the adapter's executor uses it, as with
  /// a session's slot.
  nonisolated(unsafe) var told: UInt32 = 0
  private let seenCount = Atomic<UInt32>(0)

  /// The number of state changes that the app has seen. Each command carries this count as of the time it was sent.
  var seen: UInt32 { seenCount.load(ordering: .acquiring) }

  /// Counts a state change that the app is about to see: commands sent from now on, including those sent in the
  /// callback, belong to the new state.
  package func noteSeen() { seenCount.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}
