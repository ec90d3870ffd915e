import BluetoothHost
import BluetoothWire

// Flow control on links whose apps do not keep up: the controller stops acknowledging the peer's data, so the peer
// keeps it · Vol 6, Part B, 4.5.9. A controller outside this process cannot be made to do so: its values that need no
// answer are discarded once a backlog is overfull, as ATT allows · Vol 3, Part F, 3.3.2. The policy's data rate of links
// holds links in the same way, and has no effect on what such a controller receives.
extension DaemonContext {
  /// Returns the links from which the controller must accept no data now.
  mutating func takeHeldLinks() -> [HCI.ConnectionHandle] {
    backlogs.heldLinksChanged = false
    let held = links.indices.filter { !links[$0].heldFor.isEmpty }.map { links[$0].link.handle }
    return policy.linkDataRate == nil ? held : held + host.takePacedLinks()
  }

  /// Holds the link if data received on it went to an app that does not keep up. Ends the link if that has not helped.
  /// A link on which other apps depend goes on: the app that does not keep up loses the values that need no answer.
  mutating func holdIfFull(_ connection: HCI.ConnectionHandle, at now: Instant) {
    guard let client = backlogs.full else { return }
    backlogs.full = nil
    guard let link = links.index(of: connection), !isShared(link, beside: client) else { return }
    if client.backlog.isExhausted { return endExhausting(link, client.backlog, at: now) }
    guard !links[link].heldFor.contains(where: { $0 === client.backlog }), client.backlog.awaitLow() else {
      return
    }
    links[link].heldFor.append(client.backlog)
    backlogs.holdsLinks = true
    backlogs.heldLinksChanged = true
  }

  /// True if the app of a peripheral manager handles no events although links that brought more have been ended.
  ///
  /// Every link brings each peripheral manager an event for its MTU and one for its end. A server disconnects such an
  /// app, and its other apps must not wait for that.
  var hasExhaustedPeripheral: Bool {
    !shares.hasSeveralPrograms && peripherals.values.contains { $0?.counters.backlog.isExhausted ?? false }
  }

  /// Ends a new link that the peer initiated, and returns true, if the app of a peripheral manager handles no events:
  /// a peer could otherwise cause events without limit by connecting again and again.
  mutating func refuses(_ link: Link, at now: Instant) -> Bool {
    guard hasExhaustedPeripheral else { return false }
    backlogs.note("\(link.peer): disconnected, since the queue of an app is blocked")
    host.disconnect(link.handle, at: now)
    return true
  }

  private mutating func endExhausting(_ link: LinkIndex, _ backlog: EventBacklog, at now: Instant) {
    guard !links[link].isClosing else { return }
    let peer = peers[links[link].peer].info.identifier.digits
    backlogs.note("\(peer): disconnected, since \(backlog.count) callbacks wait on the queue of an app")
    end(link, because: .link(.connectionTerminatedByLocalHost), at: now)
  }

  /// Releases the links whose apps have caught up.
  mutating func releaseLinks() {
    // A backlog that has grown again since it woke the daemon must wake it once more.
    if backlogs.holdsLinks { releaseLinks { _, backlog, _ in !backlog.awaitLow() } }
  }

  /// Releases the links that another app has begun to use.
  mutating func releaseSharedLinks() {
    guard backlogs.holdsLinks else { return }
    releaseLinks { context, backlog, link in
      guard let client = context.client(with: backlog) else { return true }
      return context.isShared(link, beside: client)
    }
  }

  /// Releases the links held for a closed session, whose events no app handles any more.
  mutating func releaseLinks(heldFor backlog: EventBacklog) {
    releaseLinks { _, held, _ in held === backlog }
  }

  private mutating func releaseLinks(where isReady: (borrowing DaemonContext, EventBacklog, LinkIndex) -> Bool) {
    backlogs.holdsLinks = false
    for link in links.indices where !links[link].heldFor.isEmpty {
      let held = links[link].heldFor
      links[link].heldFor = held.filter { !isReady(self, $0, link) }
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
