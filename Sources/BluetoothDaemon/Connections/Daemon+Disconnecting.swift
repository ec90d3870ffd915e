import BluetoothHost
import BluetoothWire

extension Daemon {
  /// Ends a session's connection to `peer`. The link ends if no other session uses it. The session gets `disconnected`
  /// in every case: after the link's end if the session was the last user, otherwise at once.
  mutating func cancelConnection(to peer: PeerHandle, by session: CentralSessionID, at now: Instant) {
    guard peers.contains(peer), let index = peers[peer].userIndex(of: session) else { return }
    switch peers[peer].users[index].phase {
    case .disconnecting:
      peers[peer].users[index].phase = .disconnecting(again: false)
    case .connected where isLastUser(index, of: peer):
      abandonOperations(of: session, on: peer)
      peers[peer].users[index].phase = .disconnecting(again: false)
      guard let link = linkIndex(of: peer) else { return }
      links[link].notifications = NotificationTable()
      end(link, at: now)
    default:
      leave(peer, session: session, at: now)
      deliver(.disconnected(peer, nil, isReconnecting: false), to: session)
    }
  }

  /// Ends all of a session's activities with `peer`, without an event for the session.
  mutating func leave(_ peer: PeerHandle, session: CentralSessionID, at now: Instant) {
    guard let index = peers[peer].userIndex(of: session) else { return }
    abandonOperations(of: session, on: peer)
    let user = peers[peer].users.remove(at: index)
    switch user.phase {
    case .delayed, .disconnecting:
      break
    case .connecting:
      if linkIndex(of: peer) == nil, !peers[peer].users.contains(where: { $0.phase == .connecting }) {
        host.cancelConnecting(to: peers[peer].address, at: now)
      }
    case .connected:
      guard let link = linkIndex(of: peer) else { return }
      links[link].discovery.remove(session)
      links[link].rssiReaders.removeAll { $0 == session }
      links[link].notifications.leave(session)
      closeChannels(of: session, on: link, at: now)
      advanceNotifications(of: link, at: now)
      endUnusedLink(link, at: now)
    }
  }

  /// Ends the session's part in all connections.
  mutating func leaveAll(_ session: CentralSessionID, at now: Instant) {
    for peer in peers.handles where !peers[peer].users.isEmpty { leave(peer, session: session, at: now) }
    delayedUsers.removeAll { $0.session == session }
  }

  /// Ends a link that this device initiated and that no session uses. A link that the peer initiated is the peer's to
  /// end.
  mutating func endUnusedLink(_ link: Int, at now: Instant) {
    guard links[link].link.role == .central, peers[links[link].peer].users.allSatisfy({ !$0.usesLink }) else { return }
    end(link, at: now)
  }

  private mutating func end(_ link: Int, at now: Instant) {
    guard !links[link].isClosing else { return }
    links[link].isClosing = true
    host.disconnect(links[link].link.handle, at: now)
  }

  /// Returns true if no other user needs the link to `peer`.
  private func isLastUser(_ index: Int, of peer: PeerHandle) -> Bool {
    guard let link = linkIndex(of: peer), links[link].link.role == .central else { return false }
    return !peers[peer].users.indices.contains { $0 != index && peers[peer].users[$0].usesLink }
  }
}

extension PeerUser {
  fileprivate var usesLink: Bool {
    switch phase {
    case .connected: true
    // These users do not use the link: their part in it has ended or not begun.
    case .disconnecting, .delayed, .connecting: false
    }
  }
}
