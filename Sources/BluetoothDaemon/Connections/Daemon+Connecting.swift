import BluetoothHost
import BluetoothWire

extension Daemon {
  /// The pause before the daemon repeats a failed attempt to re-establish a dropped link.
  private static let pause = TimeSpan.seconds(1)

  /// Requests a connection to `peer` for a session. The attempt begins after `delay` and lasts until the session
  /// cancels.
  mutating func connect(
    _ peer: PeerHandle, delay: TimeSpan, reconnects: Bool, for session: CentralSessionID, at now: Instant
  ) {
    guard peers.contains(peer), let counters = centralCounters(of: session) else { return }
    if let index = peers[peer].userIndex(of: session) {
      peers[peer].users[index].reconnects = reconnects
      switch peers[peer].users[index].phase {
      case .connected: deliverConnected(peer, to: session)
      case .disconnecting: peers[peer].users[index].phase = .disconnecting(again: true)
      case .delayed, .connecting: break
      }
      return
    }
    let phase = delay > .zero ? PeerUser.Phase.delayed(until: now + delay) : .connecting
    peers[peer].users.append(
      PeerUser(session: session, credits: counters.writeCredits(for: peer), phase: phase, reconnects: reconnects))
    switch phase {
    case .delayed(let until): delayedUsers.append(DelayedUser(peer: peer, session: session, until: until))
    default: attempt(peer, at: now)
    }
  }

  /// Uses the existing link, or asks the host to establish one.
  mutating func attempt(_ peer: PeerHandle, at now: Instant) {
    guard let link = linkIndex(of: peer) else {
      if peers[peer].isReplaced { return giveUp(peer) }
      let isFirst = peers[peer].users.count { $0.phase == .connecting } == 1
      if isFirst { host.connect(to: peers[peer].address, at: now) }
      return
    }
    // A link that is being ended is re-established after its end.
    guard !links[link].isClosing else { return }
    adoptLink(link, at: now)
  }

  /// Fails the waiting connection attempts to a replaced peer: no device will be found under its identifier.
  mutating func giveUp(_ peer: PeerHandle) {
    for user in peers[peer].users where user.phase == .connecting {
      deliver(.connectionFailed(peer, .unknownPeer), to: user.session)
    }
    peers[peer].users.removeAll { $0.phase == .connecting }
  }

  /// Connects all sessions that wait for this link's peer.
  private mutating func adoptLink(_ link: Int, at now: Instant) {
    let peer = links[link].peer
    var isUsed = false
    for index in peers[peer].users.indices where peers[peer].users[index].phase == .connecting {
      peers[peer].users[index].phase = .connected
      deliverConnected(peer, to: peers[peer].users[index].session)
      isUsed = true
    }
    guard isUsed else { return }
    publishConnected(link)
    links[link].preparation.linkWasUsed(at: now)
  }

  /// Delivers `connected` at once, with the current MTU. The MTU exchange is still running, and
  /// `maximumWriteLengthChanged` follows it.
  private mutating func deliverConnected(_ peer: PeerHandle, to session: CentralSessionID) {
    guard let link = linkIndex(of: peer) else { return }
    deliver(.connected(peer, maximumWriteLength: links[link].maximumValueLength), to: session)
  }

  /// Updates the services in the directory for `retrieveConnectedPeripherals`: the discovered ones, or else the
  /// advertised ones.
  mutating func publishConnected(_ link: Int) {
    let peer = links[link].peer
    let known = links[link].database.primaryServices?.map(\.uuid) ?? peers[peer].advertisedServices
    directory.setConnected(peer, services: known)
  }

  // MARK: Host events

  mutating func connected(_ link: Link, at now: Instant) {
    guard let peer = peers.enter(link.peer, isLinked: true) else {
      host.disconnect(link.handle, at: now)
      return
    }
    links.append(LinkState(link: link, peer: peer, mtu: host.mtu(of: link.handle)))
    if link.role == .peripheral, peers[peer].users.contains(where: { $0.phase == .connecting }) {
      host.cancelConnecting(to: link.peer, at: now)
    }
    adoptLink(links.count - 1, at: now)
    if link.role == .central { endUnusedLink(links.count - 1, at: now) }
  }

  mutating func connectionFailed(_ address: DeviceAddress, _ reason: HCI.ErrorCode, at now: Instant) {
    guard let peer = peers.handle(of: address) else { return }
    // LE Extended Create Connection reports 0x0D where LE Create Connection reports 0x09 · Vol 4, Part E, 7.8.66.
    let hasNoRoom = reason == .connectionLimitExceeded || reason == .connectionRejectedLimitedResources
    let error: SessionError = hasNoRoom ? .connectionLimitReached : .link(reason)
    var index = 0
    while index < peers[peer].users.count {
      let user = peers[peer].users[index]
      guard user.phase == .connecting else {
        index += 1
        continue
      }
      if user.reconnects && user.hasBeenConnected {
        delay(index, of: peer, until: now + Self.pause)
        index += 1
      } else {
        peers[peer].users.remove(at: index)
        deliver(.connectionFailed(peer, error), to: user.session)
      }
    }
  }

  mutating func disconnected(_ handle: HCI.ConnectionHandle, _ reason: HCI.ErrorCode, at now: Instant) {
    guard let index = linkIndex(of: handle) else { return }
    let peer = links[index].peer
    endOperations(on: handle)
    endChannels(of: index, channelEnd(of: index, reason))
    endServing(index)
    withdrawPrompt(of: index)
    if !links[index].heldFor.isEmpty { backlogs.heldLinksChanged = true }
    let end = links.remove(at: index).end
    keepDatabases(of: peers[peer].address, at: now)
    directory.setDisconnected(peer)
    var isWanted = false
    var user = 0
    while user < peers[peer].users.count {
      if usesAgain(user, of: peer, after: reason, end) {
        isWanted = isWanted || peers[peer].users[user].phase == .connecting
        user += 1
      } else {
        peers[peer].users.remove(at: user)
      }
    }
    guard isWanted else { return }
    if peers[peer].isReplaced { giveUp(peer) } else { host.connect(to: peers[peer].address, at: now) }
  }

  /// Returns the reason of the end for the apps at this end of a link's channels.
  private func channelEnd(of link: Int, _ reason: HCI.ErrorCode) -> ChannelEnd {
    if let end = links[link].end { return .lost(end) }
    switch reason {
    case .connectionTerminatedByLocalHost: return links[link].isClosing ? .closed : .lost(.timeout)
    case .remoteUserTerminatedConnection, .remoteDeviceTerminatedLowResources, .remoteDeviceTerminatedPowerOff:
      return .closed
    default: return .lost(.link(reason))
    }
  }

  /// Reports the end of a link to a user of it. Returns false if the session no longer wants the peer.
  ///
  /// - Parameter end: the reason if the daemon itself ended the link; it is then not re-established.
  private mutating func usesAgain(
    _ index: Int, of peer: PeerHandle, after reason: HCI.ErrorCode, _ end: SessionError?
  ) -> Bool {
    let user = peers[peer].users[index]
    switch user.phase {
    case .delayed, .connecting:
      return true
    case .connected:
      // No session ended the link, so the host did: the peer does not answer · Vol 3, Part F, 3.3.3.
      let error = end ?? (reason == .connectionTerminatedByLocalHost ? .timeout : .link(reason))
      let reconnects = user.reconnects && end == nil
      deliver(.disconnected(peer, error, isReconnecting: reconnects), to: user.session)
      guard reconnects else { return false }
    case .disconnecting(let again):
      deliver(.disconnected(peer, nil, isReconnecting: false), to: user.session)
      guard again else { return false }
    }
    peers[peer].users[index].phase = .connecting
    peers[peer].users[index].hasBeenConnected = user.phase == .connected
    peers[peer].users[index].discoveredServices = nil
    return true
  }

  mutating func mtuChanged(_ mtu: Int, of index: Int) {
    links[index].mtu = mtu
    let peer = links[index].peer
    for user in peers[peer].users where user.phase == .connected {
      deliver(.maximumWriteLengthChanged(peer, links[index].maximumValueLength), to: user.session)
    }
    let central = centralInfo(of: index)
    deliverToPeripherals(.maximumUpdateLengthChanged(central))
  }

  // MARK: Delayed attempts

  private mutating func delay(_ index: Int, of peer: PeerHandle, until: Instant) {
    peers[peer].users[index].phase = .delayed(until: until)
    delayedUsers.append(DelayedUser(peer: peer, session: peers[peer].users[index].session, until: until))
  }

  /// The start of the next delayed attempt; nil: none.
  var delayDeadline: Instant? { delayedUsers.reduce(nil) { earliest($0, $1.until) } }

  mutating func beginDelayedAttempts(at now: Instant) {
    guard let next = delayDeadline, next <= now else { return }
    let due = delayedUsers.filter { $0.until <= now }
    delayedUsers.removeAll { $0.until <= now }
    for user in due {
      guard let index = peers[user.peer].userIndex(of: user.session),
        peers[user.peer].users[index].phase == .delayed(until: user.until)
      else { continue }
      peers[user.peer].users[index].phase = .connecting
      attempt(user.peer, at: now)
    }
  }
}

/// A session's connection attempt that has not begun.
struct DelayedUser {
  let peer: PeerHandle
  let session: CentralSessionID
  let until: Instant
}
