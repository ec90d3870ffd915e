import Synchronization

/// Counts the state changes that a session's app has been told of. What the app asked for before it knew the adapter's
/// state is dropped, as everything is that was there in the state before: an attempt to connect that crossed a reset would
/// make a link that the app has no peripheral for.
package final class StateCounter: Sendable {
  /// The changes that the service has told. Unsafe, because only the adapter's executor uses it, as with a session's slot.
  nonisolated(unsafe) var told: UInt32 = 0
  private let seenCount = Atomic<UInt32>(0)

  /// The changes that the app knows. Commands carry the count of the time at which they were sent.
  var seen: UInt32 { seenCount.load(ordering: .acquiring) }

  /// The app is told of the next change: what it asks for from now on, also in the callback, is asked for in that state.
  package func noteSeen() { seenCount.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}
