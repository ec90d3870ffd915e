import BluetoothHost
import BluetoothWire

extension CentralBroker {
  /// The pause before the daemon repeats a failed attempt to re-establish a dropped link, and before it looks again if
  /// a blocked app has handled its events.
  private static let pause = TimeSpan.seconds(1)

  /// Requests a connection to `peer` for a session. The attempt begins after `delay` and lasts until the session
  /// cancels.
  mutating func connect(
    _ peer: PeerHandle, delay: TimeSpan, reconnects: Bool, for session: CentralSessionID, at now: Instant,
    _ context: inout DaemonContext
  ) {
    guard let counters = context.sessions.counters(of: session) else { return }
    guard context.peers.contains(peer) else {
      return context.deliver(.connectionFailed(peer, .unknownPeer), to: session)
    }
    context.peers.use(peer)
    if let index = context.peers[peer].userIndex(of: session) {
      context.peers.setReconnects(reconnects, ofUser: index, of: peer)
      switch context.peers[peer].users[index].phase {
      case .connected:
        deliverConnected(peer, to: session, &context)
        if reconnects, let link = context.links.index(of: peer) {
          context.host.keepRemoteDatabase(on: context.links[link].link.handle)
        }
      case .disconnecting: context.peers.setPhase(.disconnecting(again: true), ofUser: index, of: peer)
      case .delayed, .held, .connecting: break
      }
      return
    }
    guard mayLink(session, &context), !isAtLinkLimit(for: peer, context) else {
      noteLinkLimit(of: session, to: peer, &context)
      return context.deliver(.connectionFailed(peer, .connectionLimitReached), to: session)
    }
    let firstPhase = mayConnect(session, context) ? PeerUser.Phase.connecting : .held
    let phase = delay > .zero ? PeerUser.Phase.delayed(until: now + delay) : firstPhase
    context.peers.add(
      PeerUser(session: session, credits: counters.writeCredits(for: peer), phase: phase, reconnects: reconnects),
      to: peer)
    switch phase {
    case .delayed(let until): delayedUsers.append(DelayedUser(peer: peer, session: session, until: until))
    case .held: break
    default: attempt(peer, at: now, &context)
    }
  }

  /// Holds the attempts of apps that may not connect any more, and begins those of apps that may again.
  mutating func updateConnecting(at now: Instant, _ context: inout DaemonContext) {
    guard context.policy.linkLimit != nil || context.policy.background?.connectsWithoutRestoration == false else {
      return
    }
    for peer in context.peers.handles {
      var index = 0
      while index < context.peers[peer].users.count {
        let (user, count) = (context.peers[peer].users[index], context.peers[peer].users.count)
        switch user.phase {
        case .connecting where mustHold(user, of: peer, context):
          context.peers.setPhase(.held, ofUser: index, of: peer)
          cancelUnusedAttempt(peer, at: now, &context)
        case .held where !mustHold(user, of: peer, context):
          context.peers.setPhase(.connecting, ofUser: index, of: peer)
          attempt(peer, at: now, &context)
        default: break
        }
        // An attempt to connect to a replaced peer fails at once, and its user is gone.
        if context.peers[peer].users.count == count { index += 1 }
      }
    }
  }

  /// True if an attempt must wait for the end of another link, or for its app to be in the foreground. The
  /// re-establishment of a dropped link does not wait for the app.
  private func mustHold(_ user: PeerUser, of peer: PeerHandle, _ context: borrowing DaemonContext) -> Bool {
    isAtLinkLimit(for: peer, context) || !user.hasBeenConnected && !mayConnect(user.session, context)
  }

  /// Cancels the host's attempt to connect to a peer, unless a session or the system waits for it.
  func cancelUnusedAttempt(_ peer: PeerHandle, at now: Instant, _ context: inout DaemonContext) {
    guard context.links.index(of: peer) == nil, !context.inputDevices.wants(peer),
      !context.peers[peer].isAwaited
    else { return }
    context.host.cancelConnecting(to: context.peers[peer].address, at: now)
  }

  /// Uses the existing link, or asks the host to establish one.
  mutating func attempt(_ peer: PeerHandle, at now: Instant, _ context: inout DaemonContext) {
    guard let link = context.links.index(of: peer) else {
      if context.peers[peer].isReplaced { return context.giveUp(peer) }
      let isFirst = context.peers[peer].users.count { $0.phase == .connecting } == 1
      if isFirst { context.host.connect(to: context.peers[peer].address, at: now) }
      return
    }
    // A link that is being ended is re-established after its end.
    guard !context.links[link].isClosing else { return }
    adoptLink(link, at: now, &context)
  }

  /// Connects all sessions that wait for this link's peer.
  private mutating func adoptLink(_ link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext) {
    let peer = context.links[link].peer
    var isUsed = false
    for index in context.peers[peer].users.indices where context.peers[peer].users[index].phase == .connecting {
      context.peers.setPhase(.connected, ofUser: index, of: peer)
      if context.peers[peer].users[index].reconnects {
        context.host.keepRemoteDatabase(on: context.links[link].link.handle)
      }
      deliverConnected(peer, to: context.peers[peer].users[index].session, &context)
      isUsed = true
    }
    guard isUsed else { return }
    context.apps.noteLinks(context.policy)
    context.releaseSharedLinks()
    context.publishConnected(link)
    gattClient.linkWasAdopted(link, at: now, &context)
  }

  /// Delivers `connected` at once, with the current MTU. The MTU exchange is still running, and
  /// `maximumWriteLengthChanged` follows it.
  private mutating func deliverConnected(
    _ peer: PeerHandle, to session: CentralSessionID, _ context: inout DaemonContext
  ) {
    guard let link = context.links.index(of: peer) else { return }
    if let user = context.peers[peer].userIndex(of: session), context.peers[peer].users[user].requiresNotifications {
      context.peers.awaitNotifications(for: peer)
    }
    reportProperties(of: link, to: session, &context)
    context.deliver(.connected(peer, maximumWriteLength: context.links[link].maximumValueLength), to: session)
  }

  /// Reports the properties of a link to a session that begins to use it, if the session observes its links.
  private func reportProperties(
    of link: DaemonLinkIndex, to session: CentralSessionID, _ context: inout DaemonContext
  ) {
    guard context.sessions.observesLinks(session), let info = context.linkInfo(of: link) else { return }
    context.links[link].observed.noteReport(info)
    context.deliver(.link(context.links[link].peer, .changed(info)), to: session)
  }

  /// Forgets the kept attributes of a peer unless a session is waiting for the peer to use them again.
  func forgetDatabaseIfUnused(of peer: PeerHandle, _ context: inout DaemonContext) {
    let isUsed = context.peers[peer].users.contains { $0.reconnects && $0.hasBeenConnected }
    if !isUsed { context.host.forgetRemoteDatabase(of: context.peers[peer].address) }
  }

  // MARK: Host events

  /// Adds a new link, and connects the sessions that wait for its peer.
  mutating func connected(_ link: Link, at now: Instant, _ context: inout DaemonContext) {
    if link.role == .peripheral, refuses(link, at: now, &context) { return }
    guard let peer = context.enter(link.peer, isLinked: true) else {
      context.host.disconnect(link.handle, at: now)
      return
    }
    let index = context.links.add(link, to: peer, mtu: context.host.mtu(of: link.handle), at: now)
    context.deliver(.system(.linkBegan(count: context.links.all.count)))
    let isAwaited = context.peers[peer].isAwaited || context.inputDevices.wants(peer)
    if link.role == .peripheral, isAwaited {
      context.host.cancelConnecting(to: link.peer, at: now)
    }
    adoptLink(index, at: now, &context)
    if !context.peers[peer].isUsed { adoptForSystem(index, at: now, &context) }
    guard link.role == .central else { return }
    endUnusedLink(index, at: now, &context)
    updateConnecting(at: now, &context)
  }

  /// Reports a failed attempt to the sessions that wait, and delays those that reconnect.
  mutating func connectionFailed(
    _ address: DeviceAddress, _ reason: HCI.ErrorCode, at now: Instant, _ context: inout DaemonContext
  ) {
    guard let peer = context.peers.handle(of: address) else { return }
    if context.inputDevices.wants(peer) { context.inputDevices.retryLater(peer, at: now) }
    // LE Extended Create Connection reports 0x0D where LE Create Connection reports 0x09 · Vol 4, Part E, 7.8.66.
    let hasNoRoom = reason == .connectionLimitExceeded || reason == .connectionRejectedLimitedResources
    let error: SessionError = hasNoRoom ? .connectionLimitReached : .link(reason)
    var index = 0
    while index < context.peers[peer].users.count {
      let user = context.peers[peer].users[index]
      guard user.phase == .connecting else {
        index += 1
        continue
      }
      if user.reconnects && user.hasBeenConnected {
        delay(index, of: peer, until: now + Self.pause, &context.peers)
        index += 1
      } else {
        context.peers.removeUser(index, of: peer)
        forgetDatabaseIfUnused(of: peer, &context)
        context.deliver(.connectionFailed(peer, error), to: user.session)
      }
    }
  }

  /// Reports the end of a link to the users of its peer, and connects to the peer again for those that want it.
  ///
  /// - Parameter end: the reason if the daemon itself ended the link.
  mutating func linkEnded(
    to peer: PeerHandle, _ reason: HCI.ErrorCode, _ end: SessionError?, at now: Instant,
    _ context: inout DaemonContext
  ) {
    defer { updateConnecting(at: now, &context) }
    context.apps.noteLinks(context.policy)
    var isWanted = false
    var user = 0
    while user < context.peers[peer].users.count {
      if usesAgain(user, of: peer, after: reason, end, at: now, &context) {
        isWanted = isWanted || context.peers[peer].users[user].phase == .connecting
        user += 1
      } else {
        context.peers.removeUser(user, of: peer)
      }
    }
    forgetDatabaseIfUnused(of: peer, &context)
    if end == .link(.pinOrKeyMissing) || end == .encryptionTimedOut { context.inputDevices.refuse(peer) }
    guard isWanted else { return connectInputDevice(peer, at: now, &context) }
    if context.peers[peer].isReplaced {
      context.giveUp(peer)
    } else {
      context.host.connect(to: context.peers[peer].address, at: now)
    }
  }

  /// Reports the end of a link to one of its users. Returns false if the session no longer wants the peer.
  ///
  /// - Parameter end: the reason if the daemon itself ended the link; it is then not re-established.
  private mutating func usesAgain(
    _ index: Int, of peer: PeerHandle, after reason: HCI.ErrorCode, _ end: SessionError?, at now: Instant,
    _ context: inout DaemonContext
  ) -> Bool {
    let user = context.peers[peer].users[index]
    switch user.phase {
    case .delayed, .held, .connecting:
      return true
    case .connected:
      // No session ended the link, so the host did: the peer does not answer · Vol 3, Part F, 3.3.3.
      let error = end ?? (reason == .connectionTerminatedByLocalHost ? .timeout : .link(reason))
      let reconnects = user.reconnects && end == nil
      context.report(.ended(reason), of: peer, to: user.session)
      context.deliver(.disconnected(peer, error, isReconnecting: reconnects), to: user.session)
      guard reconnects else { return false }
    case .disconnecting(let again):
      context.report(.ended(reason), of: peer, to: user.session)
      context.deliver(.disconnected(peer, nil, isReconnecting: false), to: user.session)
      guard again else { return false }
    }
    context.peers.reconnect(index, of: peer)
    if mustHold(context.peers[peer].users[index], of: peer, context) {
      context.peers.setPhase(.held, ofUser: index, of: peer)
    } else if mustWait(index, of: peer, &context) {
      delay(index, of: peer, until: now + Self.pause, &context.peers)
    }
    return true
  }

  /// True if a link must not be re-established yet: each link brings events for an app that does not handle the
  /// earlier ones. An attempt that the app itself has requested does not wait.
  private func mustWait(_ index: Int, of peer: PeerHandle, _ context: inout DaemonContext) -> Bool {
    let user = context.peers[peer].users[index]
    guard user.hasBeenConnected else { return false }
    return context.sessions.counters(of: user.session)?.backlog.isFull ?? false || context.hasExhaustedPeripheral
  }

  /// Reports the maximum length of values after a change of a link's MTU.
  mutating func mtuChanged(_ mtu: Int, of index: DaemonLinkIndex, _ context: inout DaemonContext) {
    context.links[index].setMTU(mtu)
    let peer = context.links[index].peer
    for user in context.peers[peer].users where user.phase == .connected {
      context.deliver(.maximumWriteLengthChanged(peer, context.links[index].maximumValueLength), to: user.session)
    }
    context.reportChanges(of: index)
    context.deliverToPeripherals(.maximumUpdateLengthChanged(context.centralInfo(of: index)), on: index)
  }

  // MARK: Delayed attempts

  private mutating func delay(_ index: Int, of peer: PeerHandle, until: Instant, _ peers: inout Peers) {
    peers.setPhase(.delayed(until: until), ofUser: index, of: peer)
    delayedUsers.append(DelayedUser(peer: peer, session: peers[peer].users[index].session, until: until))
  }

  /// The start of the next delayed attempt; nil: none.
  var delayDeadline: Instant? { delayedUsers.isEmpty ? nil : delayedUsers.reduce(nil) { earliest($0, $1.until) } }

  /// Begins the attempts whose delay has passed.
  mutating func beginDelayedAttempts(at now: Instant, _ context: inout DaemonContext) {
    guard let next = delayDeadline, next <= now else { return }
    let due = delayedUsers.filter { $0.until <= now }
    delayedUsers.removeAll { $0.until <= now }
    for user in due {
      guard context.peers.contains(user.peer), let index = context.peers[user.peer].userIndex(of: user.session),
        context.peers[user.peer].users[index].phase == .delayed(until: user.until)
      else { continue }
      if mustHold(context.peers[user.peer].users[index], of: user.peer, context) {
        context.peers.setPhase(.held, ofUser: index, of: user.peer)
      } else if mustWait(index, of: user.peer, &context) {
        delay(index, of: user.peer, until: now + Self.pause, &context.peers)
      } else {
        context.peers.setPhase(.connecting, ofUser: index, of: user.peer)
        attempt(user.peer, at: now, &context)
      }
    }
  }
}
