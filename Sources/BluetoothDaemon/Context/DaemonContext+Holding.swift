import BluetoothHost
import BluetoothWire

// Flow control on links whose apps do not keep up: the controller stops acknowledging the peer's data, so the peer
// keeps it · Vol 6, Part B, 4.5.9. A controller outside this process cannot be made to do so: its values that need no
// answer are discarded once a backlog is overfull, as ATT allows · Vol 3, Part F, 3.3.2.
extension DaemonContext {
  /// Returns the links from which the controller must accept no data now.
  mutating func takeHeldLinks() -> [HCI.ConnectionHandle] {
    backlogs.heldLinksChanged = false
    return links.indices.filter { !links[$0].heldFor.isEmpty }.map { links[$0].link.handle }
  }

  /// Holds the link if data received on it went to an app that does not keep up. Ends the link if that has not helped.
  mutating func holdIfFull(_ connection: HCI.ConnectionHandle, at now: Instant) {
    guard let backlog = backlogs.full else { return }
    backlogs.full = nil
    if backlog.isExhausted { endExhausting(connection, backlog, at: now) }
    guard let link = links.index(of: connection), !links[link].heldFor.contains(where: { $0 === backlog }),
      backlog.awaitLow()
    else { return }
    links[link].heldFor.append(backlog)
    backlogs.holdsLinks = true
    backlogs.heldLinksChanged = true
  }

  /// True if the app of a peripheral manager handles no events although links that brought more have been ended.
  ///
  /// Every link brings each peripheral manager an event for its MTU and one for its end.
  var hasExhaustedPeripheral: Bool { peripherals.values.contains { $0?.counters.backlog.isExhausted ?? false } }

  /// Ends a new link that the peer initiated, and returns true, if the app of a peripheral manager handles no events:
  /// a peer could otherwise cause events without limit by connecting again and again.
  mutating func refuses(_ link: Link, at now: Instant) -> Bool {
    guard hasExhaustedPeripheral else { return false }
    backlogs.note("\(link.peer): disconnected, since the queue of an app is blocked")
    host.disconnect(link.handle, at: now)
    return true
  }

  private mutating func endExhausting(_ connection: HCI.ConnectionHandle, _ backlog: EventBacklog, at now: Instant) {
    guard let link = links.index(of: connection), !links[link].isClosing else { return }
    let peer = peers[links[link].peer].info.identifier.digits
    backlogs.note("\(peer): disconnected, since \(backlog.count) callbacks wait on the queue of an app")
    end(link, because: .link(.connectionTerminatedByLocalHost), at: now)
  }

  /// Releases the links whose apps have caught up.
  mutating func releaseLinks() {
    // A backlog that has grown again since it woke the daemon must wake it once more.
    if backlogs.holdsLinks { releaseLinks { !$0.awaitLow() } }
  }

  /// Releases the links held for a closed session, whose events no app handles any more.
  mutating func releaseLinks(heldFor backlog: EventBacklog) { releaseLinks { $0 === backlog } }

  private mutating func releaseLinks(where isReady: (EventBacklog) -> Bool) {
    backlogs.holdsLinks = false
    for link in links.indices where !links[link].heldFor.isEmpty {
      links[link].heldFor.removeAll(where: isReady)
      if links[link].heldFor.isEmpty { backlogs.heldLinksChanged = true } else { backlogs.holdsLinks = true }
    }
  }

  /// Returns true if a value for the session must be discarded. Logs the first one.
  mutating func discards(_ backlog: EventBacklog) -> Bool {
    guard backlog.isOverfull else { return false }
    backlogs.discardedValues += 1
    if backlogs.discardedValues == 1 {
      backlogs.note(
        "discarding values from peers: \(backlog.count) callbacks are pending on the queue of an app, which is blocked")
    }
    return true
  }
}
