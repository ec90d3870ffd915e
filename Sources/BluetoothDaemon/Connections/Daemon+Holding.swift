import BluetoothHost
import BluetoothWire

// Flow control towards a link whose apps do not keep up: the controller stops acknowledging the peer's data, so the peer
// keeps it · Vol 6, Part B, 4.5.9. Controllers that are not in this process cannot be told: of them, values that need no
// answer are discarded once a backlog is overfull, as ATT allows · Vol 3, Part F, 3.3.2.
extension Daemon {
  /// True if `takeHeldLinks` has another answer than before.
  package var heldLinksChanged: Bool { backlogs.heldLinksChanged }

  /// The links from which the controller is to take no data now.
  package mutating func takeHeldLinks() -> [HCI.ConnectionHandle] {
    backlogs.heldLinksChanged = false
    return links.indices.filter { !links[$0].heldFor.isEmpty }.map { links[$0].link.handle }
  }

  /// Holds the link if what has come over it went to an app that does not keep up.
  mutating func holdIfFull(_ connection: HCI.ConnectionHandle) {
    guard let backlog = backlogs.full else { return }
    backlogs.full = nil
    guard let link = linkIndex(of: connection), !links[link].heldFor.contains(where: { $0 === backlog }),
      backlog.awaitLow()
    else { return }
    links[link].heldFor.append(backlog)
    backlogs.holdsLinks = true
    backlogs.heldLinksChanged = true
  }

  /// Lets the links go on whose apps have caught up.
  mutating func releaseLinks() {
    if backlogs.holdsLinks { releaseLinks { $0.isLow } }
  }

  /// The session has closed: nobody handles its events any more.
  mutating func releaseLinks(heldFor backlog: EventBacklog) { releaseLinks { $0 === backlog } }

  private mutating func releaseLinks(where isReady: (EventBacklog) -> Bool) {
    backlogs.holdsLinks = false
    for link in links.indices where !links[link].heldFor.isEmpty {
      links[link].heldFor.removeAll(where: isReady)
      if links[link].heldFor.isEmpty { backlogs.heldLinksChanged = true } else { backlogs.holdsLinks = true }
    }
  }

  /// True if a value for the session is to be discarded; the first one is logged.
  mutating func discards(_ backlog: EventBacklog) -> Bool {
    guard backlog.isOverfull else { return false }
    backlogs.discardedValues += 1
    if backlogs.discardedValues == 1 {
      bonds.note(
        "values of peers are discarded: \(backlog.count) callbacks wait on the queue of an app, which does not serve it"
      )
    }
    return true
  }
}

/// The sessions whose apps do not keep up with their events.
struct BacklogState {
  /// The backlog that the latest event has found full.
  var full: EventBacklog?
  /// True while a link is held.
  var holdsLinks = false
  var heldLinksChanged = false
  var discardedValues = 0
}
