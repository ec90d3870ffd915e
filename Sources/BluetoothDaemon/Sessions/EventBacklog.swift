// Design: apps that do not serve their queue
//
// An app that does not serve its queue must not make the process grow. Each session counts the events that wait on
// the app's queue (`EventBacklog`; none wait in virtual time).
// - Requests wait for the app's answer, so ATT limits them to one for each link.
// - A link on which other apps depend is not held and not ended for one that does not keep up
//   (`DaemonContext.isShared`), and a held link goes on as soon as another app uses it.
// - From 256 waiting events on, the daemon holds a link that brings another event: the controller takes no more data
//   of that link and does not acknowledge it, which is the link layer's flow control (Vol 6, Part B, 4.5.9). The
//   peer keeps its notifications and write commands, and its app finds no room. The link continues when 128 events
//   are left. Other links are not affected, and nothing is lost. A request of this device on a held link gets no
//   answer meanwhile, and times out after 30 s like any other.
// - The data rate of a platform (`PlatformPolicy.linkDataRate`) holds links in the same way: `LinkPace` of a
//   `HostLink` counts the data of both directions, and the host sends the next data when they are due.
// - From 256 waiting events on, discoveries are dropped. They do not count as reported, so a later packet brings
//   them again. Events about connections of other apps (`registerForConnectionEvents`) are dropped, too.
// - Automatic reconnection waits while 256 events or more are waiting, because each link brings at least two. The
//   daemon looks again once a second.
// - HCI has no command that holds one link, so a controller outside this process continues to send. From 1,024
//   waiting events on, the daemon discards notifications, indications and write commands, as ATT allows (Vol 3, Part
//   F, 3.3.2), and logs the first one.
// - From 2,048 waiting events on, the daemon ends a link that brings more, because a peer can cause events that must
//   not be discarded, such as subscriptions, without limit. If the events wait for a peripheral manager, the daemon
//   also ends each new link that a peer initiates, and automatic reconnection waits. A server disconnects the
//   program instead, and its other programs see nothing of it.

import Synchronization

/// The number of events of one session that wait on the app's queue. In virtual time no event waits.
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
