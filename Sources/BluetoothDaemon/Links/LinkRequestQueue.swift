// Design: properties of links
//
// Properties of links that Apple's API lacks are events, too. A session asks for them once
// (`CentralCommand.observeLinks`): it then gets each link's properties before `connected`, each change, and the
// controller's reason before `disconnected` (`CentralEvent.link`). The host reports changes only if a session observes,
// so other apps pay nothing. The daemon gives the host one `LinkRequest` of a link at a time, because the controller's
// events do not tell which request they answer. Addresses and bonds are in the `PeerDirectory`.

import BluetoothHost
import DequeModule

/// The requests of sessions for other properties of a link. The first one is in progress; the host takes one at a time.
struct LinkRequestQueue {
  /// The maximum number of requests of one session, so that others do not wait for long.
  private static let limit = 8

  struct Entry {
    /// The session that gets the answer; nil: it has left the link.
    var requester: AnySession?
    let request: LinkRequest
  }

  private var entries: Deque<Entry> = []

  /// The request in progress; nil: none.
  var first: LinkRequest? { entries.first?.request }

  /// True if a session has so many requests that it can't have another one.
  func isFull(for requester: AnySession) -> Bool { entries.count { $0.requester == requester } >= Self.limit }

  /// Adds a request. Returns true if it is the only one, and must be started.
  mutating func append(_ request: LinkRequest, of requester: AnySession) -> Bool {
    entries.append(Entry(requester: requester, request: request))
    return entries.count == 1
  }

  /// Removes and returns the request in progress, which has ended.
  mutating func removeFirst() -> Entry? { entries.popFirst() }

  /// Removes the requests of a session. The one in progress goes on without an answer.
  mutating func leave(_ requester: AnySession) {
    guard !entries.isEmpty else { return }
    if entries[0].requester == requester { entries[0].requester = nil }
    let first = entries.removeFirst()
    entries.removeAll { $0.requester == requester }
    entries.prepend(first)
  }
}
