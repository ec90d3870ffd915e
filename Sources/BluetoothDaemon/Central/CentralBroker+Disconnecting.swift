import BluetoothHost
import BluetoothWire

extension CentralBroker {
  /// Ends a session's connection to `peer`. The link ends if no other session uses it. The session gets `disconnected`
  /// in every case: after the link's end if the session was the last user, otherwise at once.
  mutating func cancelConnection(
    to peer: PeerHandle, by session: CentralSessionID, at now: Instant, _ context: inout DaemonContext
  ) {
    guard context.peers.contains(peer), let index = context.peers[peer].userIndex(of: session) else { return }
    context.apps.noteLinks(context.policy)
    switch context.peers[peer].users[index].phase {
    case .disconnecting: context.peers.setPhase(.disconnecting(again: false), ofUser: index, of: peer)
    case .connected where isLastUser(index, of: peer, &context):
      gattClient.abandonOperations(of: session, on: peer, at: now, &context)
      context.peers.setPhase(.disconnecting(again: false), ofUser: index, of: peer)
      guard let link = context.links.index(of: peer) else { return }
      context.links[link].client.notifications.removeAll()
      context.links.end(link, at: now, &context.host)
    default:
      leave(peer, session: session, at: now, &context)
      context.deliver(.disconnected(peer, nil, isReconnecting: false), to: session)
    }
  }

  /// Ends all of a session's activities with `peer`, without an event for the session.
  mutating func leave(_ peer: PeerHandle, session: CentralSessionID, at now: Instant, _ context: inout DaemonContext) {
    guard let index = context.peers[peer].userIndex(of: session) else { return }
    gattClient.abandonOperations(of: session, on: peer, at: now, &context)
    let user = context.peers.removeUser(index, of: peer)
    context.apps.noteLinks(context.policy)
    forgetDatabaseIfUnused(of: peer, &context)
    switch user.phase {
    case .delayed: delayedUsers.removeAll { $0.peer == peer && $0.session == session }
    case .held, .disconnecting: break
    case .connecting: cancelUnusedAttempt(peer, at: now, &context)
    case .connected:
      guard let link = context.links.index(of: peer) else { return }
      context.links[link].client.notifications.leave(session)
      ChannelBroker.closeChannels(of: session, on: link, at: now, &context)
      gattClient.advanceNotifications(of: link, at: now, &context)
      endUnusedLink(link, at: now, &context)
    }
  }

  /// Ends the session's part in all connections.
  mutating func leaveAll(_ session: CentralSessionID, at now: Instant, _ context: inout DaemonContext) {
    for peer in context.peers.handles where !context.peers[peer].users.isEmpty {
      leave(peer, session: session, at: now, &context)
    }
    delayedUsers.removeAll { $0.session == session }
  }

  /// Ends a link that this device initiated and that neither a session nor the system uses. A link that the peer
  /// initiated is the peer's to end.
  mutating func endUnusedLink(_ link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext) {
    guard context.links[link].link.role == .central, !context.inputDevices.wants(context.links[link].peer),
      context.peers[context.links[link].peer].users.allSatisfy({ !$0.usesLink })
    else { return }
    context.links.end(link, at: now, &context.host)
  }

  /// Returns true if no other user needs the link to `peer`, nor the system.
  private func isLastUser(_ index: Int, of peer: PeerHandle, _ context: inout DaemonContext) -> Bool {
    guard let link = context.links.index(of: peer), context.links[link].link.role == .central,
      !context.inputDevices.wants(peer)
    else { return false }
    return !context.peers[peer].users.indices.contains { $0 != index && context.peers[peer].users[$0].usesLink }
  }
}

extension PeerUser {
  fileprivate var usesLink: Bool {
    switch phase {
    case .connected: true
    // These users do not use the link: their part in it has ended or not begun.
    case .disconnecting, .delayed, .held, .connecting: false
    }
  }
}
