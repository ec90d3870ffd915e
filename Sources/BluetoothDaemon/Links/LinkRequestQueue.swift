import BluetoothHost
import DequeModule

/// The requests of sessions for other properties of a link. The first one is in progress; the host takes one at a time.
struct LinkRequestQueue {
  struct Entry {
    /// The session that gets the answer; nil: it has left the link.
    var session: CentralSessionID?
    let request: LinkRequest
  }

  private var entries: Deque<Entry> = []

  /// The request in progress; nil: none.
  var first: LinkRequest? { entries.first?.request }

  /// Adds a request. Returns true if it is the only one, and must be started.
  mutating func append(_ request: LinkRequest, of session: CentralSessionID) -> Bool {
    entries.append(Entry(session: session, request: request))
    return entries.count == 1
  }

  /// Removes and returns the request in progress, which has ended.
  mutating func removeFirst() -> Entry? { entries.popFirst() }

  /// Removes the requests of a session. The one in progress goes on without an answer.
  mutating func leave(_ session: CentralSessionID) {
    guard !entries.isEmpty else { return }
    if entries[0].session == session { entries[0].session = nil }
    let first = entries.removeFirst()
    entries.removeAll { $0.session == session }
    entries.prepend(first)
  }
}
