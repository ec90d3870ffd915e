import BluetoothHost
import BluetoothWire

// The limits of links: their number, and the time for which they may be idle.
extension CentralBroker {
  /// Returns true if the system has as many links to peripherals as the platform allows, and none to this peer.
  func isAtLinkLimit(for peer: PeerHandle, _ context: borrowing DaemonContext) -> Bool {
    guard let limit = context.policy.linkLimit, context.links.index(of: peer) == nil else { return false }
    return context.links.centralLinkCount >= limit
  }

  /// Returns true if a session may connect to peers now: the platform has no rule about it, the app is in the foreground,
  /// or the session has a restore identifier.
  func mayConnect(_ session: CentralSessionID, _ context: borrowing DaemonContext) -> Bool {
    guard context.policy.background?.connectsWithoutRestoration == false,
      let state = context.sessions[.central(session)], let app = state.app, context.apps[app].isInBackground
    else { return true }
    return state.preservation.identifier != nil
  }

  /// Returns true if a session may request another link.
  func mayLink(_ session: CentralSessionID, _ context: inout DaemonContext) -> Bool {
    // The rule of a platform is about apps only.
    let app = context.sessions.owner(of: session)
    let platformLimit = app == nil ? nil : context.policy.linksPerApp
    guard platformLimit != nil || context.shares.hasSeveralPrograms else { return true }
    var users: [(session: AnySession, count: Int)] = []
    // A link that an app has cancelled no longer counts, although it takes a moment to end.
    for peer in context.peers.all where !peer.users.isEmpty {
      for user in peer.users where user.phase != .disconnecting(again: false) {
        users.append((.central(user.session), 1))
      }
    }
    if let platformLimit, users.count(where: { context.sessions[$0.session]?.app == app }) >= platformLimit {
      return false
    }
    return context.mayTake(of: .links, for: .central(session), beside: users)
  }

  /// Notes that the system or a session's app has as many links as the platform allows, if the platform and not the
  /// adapter's owner has set the limit.
  func noteLinkLimit(of session: CentralSessionID, to peer: PeerHandle, _ context: inout DaemonContext) {
    let app = context.sessions.owner(of: session)
    if isAtLinkLimit(for: peer, context) { return context.note(.linkLimit, of: app) }
    guard let app, let limit = context.policy.linksPerApp, limit <= context.shares.links ?? limit else { return }
    context.note(.linksPerApp, of: app)
  }

  /// Ends a new link that the peer initiated, and returns true, if the app of a peripheral manager handles no events:
  /// a peer could otherwise cause events without limit by connecting again and again.
  func refuses(_ link: Link, at now: Instant, _ context: inout DaemonContext) -> Bool {
    guard context.hasExhaustedPeripheral else { return false }
    context.backlogs.note("\(link.peer): disconnected, since the queue of an app is blocked")
    context.host.disconnect(link.handle, at: now)
    return true
  }

  /// Ends the links that have been idle for too long. Their apps see a timeout.
  func endIdleLinks(at now: Instant, _ context: inout DaemonContext) {
    guard let timeout = context.policy.idleLinkTimeout else { return }
    for link in context.links.indices where context.links.isIdle(link, timeout, at: now) {
      let peer = context.links[link].peer
      // The links of the system stay.
      if context.inputDevices.wants(peer) { continue }
      for user in context.peers[peer].users where user.phase == .connected {
        context.note(.idleLink, of: context.sessions.owner(of: user.session))
      }
      context.links.end(link, because: .timeout, at: now, &context.host)
    }
  }
}
