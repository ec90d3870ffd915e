// Design: requests of several apps
//
// Each request carries the number of its requester, the session. `GATTRequestQueue` keeps the requests of one requester
// in order, and lets the requesters of a bearer take turns, one procedure each. So a read of one app waits for one
// procedure of each other app, however many those have queued. As long as one requester has requests, the queue is one
// deque, which costs what it did before there were requesters.
//
// - A discovery or a subscription belongs to the session that has asked first. If another one asks for the same while
//   it waits, it moves to that one's requests, if its turn comes earlier there (`Host.share`).
// - A session that leaves a peer takes its reads, and its writes with response, out of the queue (`Host.drop`). Its
//   writes without response, which an app takes for sent, are sent: 1,024 at most on all links.
// - The bound of 16,384 reads and writes that have not been answered is one of each session (`SessionLimits.requests`);
//   more fail with `outOfSpace`. All requests of the daemon itself are for attributes, so the number of attributes
//   limits them.
// - Background requests are those of one more requester, the system. The priority of a request does not change its
//   turn: it decides when background requests are made at all (`BackgroundSchedule`).

import DequeModule

/// The requests of one bearer that have not begun. The requesters take turns, one request each; the requests of one
/// requester keep their order.
///
/// As long as one requester has requests, the queue is a single deque.
struct GATTRequestQueue {
  struct Entry {
    let token: GATTToken
    let request: GATTRequest
    var priority: GATTPriority
  }

  /// The requests of one requester.
  private struct Lane {
    let requester: GATTRequester
    var entries: Deque<Entry>
  }

  /// The requests of `requester`, whose turn is next. If there are none, `others` is empty, too.
  private var entries: Deque<Entry> = []
  private var requester = GATTRequester.system
  /// The other requesters that have requests, in the order of their turns.
  private var others: Deque<Lane> = []
  /// The requester whose request has begun last.
  private var latest = GATTRequester.system

  @inline(__always)
  var isEmpty: Bool { entries.isEmpty }

  /// The request that begins next.
  @inline(__always)
  var first: Entry? { entries.first }

  /// Notes a request that has begun without waiting in the queue.
  @inline(__always)
  mutating func began(_ requester: GATTRequester) { latest = requester }

  @inline(__always)
  mutating func append(_ entry: Entry, of requester: GATTRequester) {
    if entries.isEmpty { self.requester = requester }
    if requester == self.requester {
      entries.append(entry)
    } else {
      appendToOthers(entry, of: requester)
    }
  }

  private mutating func appendToOthers(_ entry: Entry, of requester: GATTRequester) {
    if let lane = others.firstIndex(where: { $0.requester == requester }) {
      others[lane].entries.append(entry)
    } else if others.isEmpty, self.requester == latest {
      // The requester whose requests wait has just had its turn.
      others.append(Lane(requester: self.requester, entries: entries))
      self.requester = requester
      entries = [entry]
    } else {
      others.append(Lane(requester: requester, entries: [entry]))
    }
  }

  /// Removes and returns the request that begins now. The queue must not be empty.
  @inline(__always)
  mutating func removeFirst() -> Entry {
    let entry = entries.removeFirst()
    latest = requester
    if !others.isEmpty { passTurn() }
    return entry
  }

  /// Passes the turn to the next of `others`, which must not be empty.
  private mutating func passTurn() {
    let next = others.removeFirst()
    if !entries.isEmpty { others.append(Lane(requester: requester, entries: entries)) }
    requester = next.requester
    entries = next.entries
  }

  /// Removes and returns the requests for which `isRemoved` is true.
  mutating func removeAll(where isRemoved: (Entry) -> Bool) -> [Entry] {
    var removed: [Entry] = []
    func filter(_ entries: inout Deque<Entry>) {
      guard entries.contains(where: isRemoved) else { return }
      var rest: Deque<Entry> = []
      for entry in entries {
        if isRemoved(entry) { removed.append(entry) } else { rest.append(entry) }
      }
      entries = rest
    }
    filter(&entries)
    for lane in others.indices { filter(&others[lane].entries) }
    others.removeAll { $0.entries.isEmpty }
    if entries.isEmpty, !others.isEmpty { passTurn() }
    return removed
  }

  /// Changes the priority of requests. Returns their former priorities.
  mutating func setPriority(_ priority: GATTPriority, of tokens: Set<GATTToken>) -> [GATTPriority] {
    var former: [GATTPriority] = []
    func change(_ entries: inout Deque<Entry>) {
      for index in entries.indices where tokens.contains(entries[index].token) {
        former.append(entries[index].priority)
        entries[index].priority = priority
      }
    }
    change(&entries)
    for lane in others.indices { change(&others[lane].entries) }
    return former
  }

  /// Lets a request be one of another requester, too, which waits for the same result: it moves behind the requests of
  /// that one if fewer precede it there.
  mutating func share(_ token: GATTToken, with requester: GATTRequester) {
    let lanes = [Lane(requester: self.requester, entries: entries)] + others
    let waiting = lanes.first { $0.requester == requester }?.entries.count ?? 0
    for lane in lanes where lane.requester != requester {
      guard let position = lane.entries.firstIndex(where: { $0.token == token }) else { continue }
      guard position > waiting else { return }
      for entry in removeAll(where: { $0.token == token }) { append(entry, of: requester) }
      return
    }
  }
}
