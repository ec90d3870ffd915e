import Synchronization

/// Counts the events of one session that wait on the app's queue. In virtual time none wait.
///
/// A queue that the app blocks must not make the process grow: see Documentation/Design.md, "Queues".
package final class EventBacklog: Sendable {
  private let waiting = Atomic<Int>(0)
  private let isAwaited = Atomic<Bool>(false)

  package init() {}

  /// The number of events that wait.
  package var count: Int { waiting.load(ordering: .relaxed) }

  /// True if the link that an event comes from is to be held: its peer sends no more data.
  var isFull: Bool { count >= SessionLimits.waitingEvents }

  /// True if values that need no answer are discarded.
  var isOverfull: Bool { count >= SessionLimits.mostWaitingEvents }

  /// True if held links go on.
  var isLow: Bool { count <= SessionLimits.fewWaitingEvents }

  /// Counts an event that was handed to the app's queue.
  func append() { waiting.wrappingAdd(1, ordering: .sequentiallyConsistent) }

  /// Counts an event that the app has handled. Returns true, once, if the service waits for a low backlog and it is low.
  func removeFirst() -> Bool {
    let left = waiting.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
    guard left <= SessionLimits.fewWaitingEvents, isAwaited.load(ordering: .sequentiallyConsistent) else {
      return false
    }
    return isAwaited.exchange(false, ordering: .sequentiallyConsistent)
  }

  /// Has `removeFirst` tell when the backlog is low. Returns false if it is low already.
  func awaitLow() -> Bool {
    isAwaited.store(true, ordering: .sequentiallyConsistent)
    if waiting.load(ordering: .sequentiallyConsistent) > SessionLimits.fewWaitingEvents { return true }
    isAwaited.store(false, ordering: .sequentiallyConsistent)
    return false
  }
}
