import BluetoothHost
import BluetoothWire

extension Daemon {
  /// A session wants `peer` no more. The link ends when nobody else uses it; the session is told in any case, once the
  /// link is gone if it was the last one.
  mutating func cancelConnection(to peer: PeerHandle, by session: CentralSlot, at now: Instant) {
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

  /// Takes a session out of everything that it does with `peer`, and tells it nothing.
  mutating func leave(_ peer: PeerHandle, session: CentralSlot, at now: Instant) {
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

  /// Ends every part that a session has in connections.
  mutating func leaveAll(_ session: CentralSlot, at now: Instant) {
    for peer in peers.handles where !peers[peer].users.isEmpty { leave(peer, session: session, at: now) }
    delayedUsers.removeAll { $0.session == session }
  }

  /// Ends a link that this device made and that nobody uses. A link that the peer made is the peer's to end.
  mutating func endUnusedLink(_ link: Int, at now: Instant) {
    guard links[link].link.role == .central, peers[links[link].peer].users.allSatisfy({ !$0.usesLink }) else { return }
    end(link, at: now)
  }

  private mutating func end(_ link: Int, at now: Instant) {
    guard !links[link].isClosing else { return }
    links[link].isClosing = true
    host.disconnect(links[link].link.handle, at: now)
  }

  /// Whether the link to `peer` has no use without this user.
  private func isLastUser(_ index: Int, of peer: PeerHandle) -> Bool {
    guard let link = linkIndex(of: peer), links[link].link.role == .central else { return false }
    return !peers[peer].users.indices.contains { $0 != index && peers[peer].users[$0].usesLink }
  }
}

extension PeerUser {
  fileprivate var usesLink: Bool {
    switch phase {
    case .connected: true
    // Its share has ended already; the link may end as well.
    case .disconnecting, .delayed, .connecting: false
    }
  }
}
