import BluetoothHost
import DequeModule

/// The requests of sessions for other properties of a link. The first one is in progress; the host takes one at a time.
struct LinkRequestQueue {
  /// The session that gets the answer to a request.
  enum Requester: Hashable {
    case central(CentralSessionID)
    case peripheral(PeripheralSessionID)
  }

  struct Entry {
    /// The session that gets the answer; nil: it has left the link.
    var requester: Requester?
    let request: LinkRequest
  }

  private var entries: Deque<Entry> = []

  /// The request in progress; nil: none.
  var first: LinkRequest? { entries.first?.request }

  /// Adds a request. Returns true if it is the only one, and must be started.
  mutating func append(_ request: LinkRequest, of requester: Requester) -> Bool {
    entries.append(Entry(requester: requester, request: request))
    return entries.count == 1
  }

  /// Removes and returns the request in progress, which has ended.
  mutating func removeFirst() -> Entry? { entries.popFirst() }

  /// Removes the requests of a session. The one in progress goes on without an answer.
  mutating func leave(_ requester: Requester) {
    guard !entries.isEmpty else { return }
    if entries[0].requester == requester { entries[0].requester = nil }
    let first = entries.removeFirst()
    entries.removeAll { $0.requester == requester }
    entries.prepend(first)
  }
}
