import BluetoothHost
import BluetoothWire

// Flow control on links whose apps do not keep up: the controller stops acknowledging the peer's data, so the peer
// keeps it · Vol 6, Part B, 4.5.9. A controller outside this process cannot be made to do so: its values that need no
// answer are discarded once a backlog is overfull, as ATT allows · Vol 3, Part F, 3.3.2. The policy's data rate of links
// holds links in the same way, and has no effect on what such a controller receives.
extension DaemonContext {
  /// Holds the link if data received on it went to an app that does not keep up. Ends the link if that has not helped.
  /// A link on which other apps depend goes on: the app that does not keep up loses the values that need no answer.
  mutating func holdIfFull(_ connection: HCI.ConnectionHandle, at now: Instant) {
    guard let client = backlogs.takeFull(), let link = links.index(of: connection), !isShared(link, beside: client)
    else { return }
    if client.backlog.isExhausted { return endExhausting(link, client.backlog, at: now) }
    links.hold(link, for: client.backlog)
  }

  /// True if the app of a peripheral manager handles no events although links that brought more have been ended.
  ///
  /// Every link brings each peripheral manager an event for its MTU and one for its end. A server disconnects such an
  /// app, and its other apps must not wait for that.
  var hasExhaustedPeripheral: Bool {
    !shares.hasSeveralPrograms
      && sessions.peripherals.values.contains { $0?.session.counters.backlog.isExhausted ?? false }
  }

  private mutating func endExhausting(_ link: DaemonLinkIndex, _ backlog: EventBacklog, at now: Instant) {
    guard !links[link].isClosing else { return }
    let peer = peers[links[link].peer].info.identifier.digits
    backlogs.note("\(peer): disconnected, since \(backlog.count) callbacks wait on the queue of an app")
    links.end(link, because: .link(.connectionTerminatedByLocalHost), at: now, &host)
  }

  /// Releases the links that another app has begun to use.
  mutating func releaseSharedLinks() {
    guard links.holdsLinks else { return }
    var shared: [(link: DaemonLinkIndex, backlog: EventBacklog)] = []
    for link in links.indices {
      for backlog in links[link].heldFor
      where sessions.client(with: backlog).map({ isShared(link, beside: $0) }) ?? true {
        shared.append((link, backlog))
      }
    }
    links.release { link, backlog in shared.contains { $0.link == link && $0.backlog === backlog } }
  }
}
