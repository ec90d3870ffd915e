import Synchronization

/// The number of events of one session that wait on the app's queue. In virtual time no event waits.
///
/// A queue that the app blocks must not make the process grow: see Documentation/Contributing/Design.md, "Queues".
package final class EventBacklog: Sendable {
  private let waiting = Atomic<Int>(0)
  private let isAwaited = Atomic<Bool>(false)
  private let isEndAwaited = Atomic<Bool>(false)

  package init() {}

  /// The number of waiting events.
  package var count: Int { waiting.load(ordering: .relaxed) }

  /// True if the link from which an event comes must be held, so that its peer sends no more data.
  package var isFull: Bool { count >= SessionLimits.waitingEvents }

  /// True if values that need no answer are discarded.
  var isOverfull: Bool { count >= SessionLimits.mostWaitingEvents }

  /// True if a link that brings more events must be ended.
  var isExhausted: Bool { count >= SessionLimits.maximumWaitingEvents }

  /// Counts an event that has been handed to the app's queue.
  func append() { waiting.wrappingAdd(1, ordering: .sequentiallyConsistent) }

  /// Counts an event that the app has handled. Returns true, once, if the daemon waits for a low or an empty backlog and
  /// it is low or empty.
  func removeFirst() -> Bool {
    let left = waiting.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
    if left == 0, isEndAwaited.load(ordering: .sequentiallyConsistent),
      isEndAwaited.exchange(false, ordering: .sequentiallyConsistent)
    {
      return true
    }
    guard left <= SessionLimits.fewWaitingEvents, isAwaited.load(ordering: .sequentiallyConsistent) else {
      return false
    }
    return isAwaited.exchange(false, ordering: .sequentiallyConsistent)
  }

  /// Makes `removeFirst` report when the backlog becomes low. Returns false if it is low already.
  package func awaitLow() -> Bool {
    isAwaited.store(true, ordering: .sequentiallyConsistent)
    if waiting.load(ordering: .sequentiallyConsistent) > SessionLimits.fewWaitingEvents { return true }
    isAwaited.store(false, ordering: .sequentiallyConsistent)
    return false
  }

  /// Makes `removeFirst` report when the backlog becomes empty. Returns false if it is empty already.
  package func awaitEmpty() -> Bool {
    isEndAwaited.store(true, ordering: .sequentiallyConsistent)
    if waiting.load(ordering: .sequentiallyConsistent) > 0 { return true }
    isEndAwaited.store(false, ordering: .sequentiallyConsistent)
    return false
  }
}
