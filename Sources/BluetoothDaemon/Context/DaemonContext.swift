import BluetoothHost
import BluetoothWire
import DequeModule

/// The parts of the daemon that all its brokers use: the host, the sessions, the peers, the links, and the events for
/// clients. The daemon passes the context to each call of a broker.
///
/// The type is noncopyable: an accidental copy would copy the host.
struct DaemonContext: ~Copyable {
  /// The state of one central manager's session.
  struct Central {
    let counters: SessionCounters
    /// The number of state changes that were sent to the session; see `SessionCounters.seenStates`.
    var reportedStates: UInt32 = 0
    var scan: ActiveScan?
    /// The connections of others that the session wants events for; nil: none.
    var connectionEvents: ConnectionEventFilter?
    /// True if the session gets reports about its links.
    var observesLinks = false
  }

  /// The state of one peripheral manager's session.
  struct Peripheral {
    let counters: SessionCounters
    var reportedStates: UInt32 = 0
  }

  var host: Host
  let directory: PeerDirectory
  let sessions: LocalSessions
  /// The open sessions, by the keys of their identifiers.
  var centrals = SlotMap<Central>()
  var peripherals = SlotMap<Peripheral>()
  var peers: PeerTable
  var links = LinkTable()
  var prompts: PromptQueue
  var backlogs = BacklogState()
  private var events = Deque<DaemonEvent>(minimumCapacity: 32)

  init(
    host: Host, sessions: LocalSessions, directory: PeerDirectory, peers: PeerTable, prompts: any Prompts
  ) {
    self.host = host
    self.sessions = sessions
    self.directory = directory
    self.peers = peers
    self.prompts = PromptQueue(prompts: prompts) { sessions.requests.wake() }
  }

  // MARK: Sessions

  /// True if an app has a session.
  var hasSessions: Bool { !centrals.isEmpty || !peripherals.isEmpty }

  /// Returns the counters of an open session.
  func centralCounters(of session: CentralSessionID) -> SessionCounters? {
    guard let index = centrals.index(of: session.key) else { return nil }
    return centrals.values[index]?.counters
  }

  /// Returns the counters of an open session.
  func peripheralCounters(of session: PeripheralSessionID) -> SessionCounters? {
    guard let index = peripherals.index(of: session.key) else { return nil }
    return peripherals.values[index]?.counters
  }

  // MARK: Events

  /// True if `takeEvent` returns an event.
  var hasEvents: Bool { !events.isEmpty }

  /// Removes and returns the next event for a client.
  mutating func takeEvent() -> DaemonEvent? { events.popFirst() }

  /// Sends an event to a session, unless it has been closed.
  mutating func deliver(_ event: CentralEvent, to session: CentralSessionID) {
    guard let counters = centralCounters(of: session) else { return }
    if counters.backlog.isFull { backlogs.full = counters.backlog }
    if case .stateChanged = event { centrals.update(session.key) { $0.reportedStates &+= 1 } }
    events.append(.central(session, event))
  }

  /// Sends an event to a session, unless it has been closed.
  mutating func deliver(_ event: PeripheralEvent, to session: PeripheralSessionID) {
    guard let counters = peripheralCounters(of: session) else { return }
    if counters.backlog.isFull { backlogs.full = counters.backlog }
    if case .stateChanged = event { peripherals.update(session.key) { $0.reportedStates &+= 1 } }
    events.append(.peripheral(session, event))
  }

  /// Sends an event to all sessions of central managers.
  mutating func deliverToCentrals(_ event: CentralEvent) {
    for index in centrals.values.indices {
      if let key = centrals.key(at: index) { deliver(event, to: CentralSessionID(key: key)) }
    }
  }

  /// Sends an event to all sessions of peripheral managers.
  mutating func deliverToPeripherals(_ event: PeripheralEvent) {
    for index in peripherals.values.indices {
      if let key = peripherals.key(at: index) { deliver(event, to: PeripheralSessionID(key: key)) }
    }
  }

  /// Sends an event about a channel.
  mutating func deliver(_ event: DaemonEvent) { events.append(event) }

  // MARK: Peers and links

  /// Returns the known attributes of the peer's server. The host owns them.
  func database(of link: LinkIndex) -> RemoteDatabase { host.remoteDatabase(on: links[link].link.handle) }

  /// Keeps the known attributes of a link's peer for the link that follows it, because a session reconnects.
  mutating func keepDatabase(of link: LinkIndex) { host.keepRemoteDatabase(on: links[link].link.handle) }

  /// Forgets the kept attributes of a peer unless a session is waiting for the peer to use them again.
  mutating func forgetDatabaseIfUnused(of peer: PeerHandle) {
    let isUsed = peers[peer].users.contains { $0.reconnects && $0.hasBeenConnected }
    if !isUsed { host.forgetRemoteDatabase(of: peers[peer].address) }
  }

  /// Returns the link over which a session may use `peer`; nil: the session is not connected to the peer. The daemon
  /// then drops the session's commands for the peer, as the session's client does.
  func usedLink(of peer: PeerHandle, by session: CentralSessionID) -> LinkIndex? {
    guard peers.contains(peer), let user = peers[peer].userIndex(of: session),
      peers[peer].users[user].phase == .connected
    else { return nil }
    return links.index(of: peer)
  }

  /// True if an app uses the link, and it is not ending.
  func isInUse(_ link: LinkIndex) -> Bool {
    !links[link].isClosing && peers[links[link].peer].users.contains { $0.phase == .connected }
  }

  /// Returns the description of the client on a link, as apps see it.
  func centralInfo(of link: LinkIndex) -> CentralInfo {
    let peer = links[link].peer
    return CentralInfo(
      handle: peer, identifier: peers[peer].info.identifier, maximumUpdateLength: links[link].maximumValueLength)
  }

  /// Updates the services in the directory for `retrieveConnectedPeripherals`, and tells sessions that registered for
  /// connections to a peer with them. The services are the discovered ones, or else the advertised ones.
  mutating func publishConnected(_ link: LinkIndex) {
    let peer = links[link].peer
    let known = database(of: link).primaryServices?.map(\.uuid) ?? peers[peer].advertisedServices
    directory.setConnected(peer, services: known)
    reportConnection(of: link, services: known)
  }

  /// Tells the sessions that registered for it of a link that others have requested: once, when it is established or
  /// when the services for which they wait become known.
  private mutating func reportConnection(of link: LinkIndex, services: [BluetoothUUID]) {
    let peer = links[link].peer
    for index in centrals.values.indices {
      guard let filter = centrals.values[index]?.connectionEvents, let key = centrals.key(at: index) else { continue }
      let session = CentralSessionID(key: key)
      guard filter.peers.contains(peers[peer].info.identifier) || !filter.services.isDisjoint(with: services),
        peers[peer].userIndex(of: session) == nil, !links[link].eventReceivers.contains(session)
      else { continue }
      links[link].eventReceivers.append(session)
      deliver(.connectionEvent(peers[peer].info, isConnected: true), to: session)
    }
  }

  /// Tells the sessions that were told of a link of its end, unless they have requested the link meanwhile.
  mutating func reportDisconnection(from peer: PeerHandle, to receivers: [CentralSessionID]) {
    for session in receivers where peers[peer].userIndex(of: session) == nil {
      deliver(.connectionEvent(peers[peer].info, isConnected: false), to: session)
    }
  }

  /// Ends all registrations for events about connections of others.
  mutating func endRegistrations() {
    for index in centrals.values.indices {
      if let key = centrals.key(at: index) { centrals.update(key) { $0.connectionEvents = nil } }
    }
  }

  /// Registers a session for events about connections of others, in place of its former registration.
  mutating func register(_ session: CentralSessionID, for filter: ConnectionEventFilter?) {
    centrals.update(session.key) { $0.connectionEvents = filter }
    for link in links.indices where filter == nil { links[link].eventReceivers.removeAll { $0 == session } }
  }

  /// Fails the waiting connection attempts to a replaced peer: no device will be found under its identifier.
  mutating func giveUp(_ peer: PeerHandle) {
    for user in peers[peer].users where user.phase == .connecting {
      deliver(.connectionFailed(peer, .unknownPeer), to: user.session)
    }
    peers[peer].users.removeAll { $0.phase == .connecting }
  }

  /// Ends a link that no session uses any more.
  mutating func end(_ link: LinkIndex, at now: Instant) {
    guard !links[link].isClosing else { return }
    links[link].isClosing = true
    host.disconnect(links[link].link.handle, at: now)
  }

  /// Ends a link with an error for the sessions that use it. Only the first reason is reported.
  mutating func end(_ link: LinkIndex, because error: SessionError, at now: Instant) {
    guard links[link].end == nil else { return }
    links[link].end = error
    links[link].isClosing = true
    host.disconnect(links[link].link.handle, at: now)
  }

  /// The earliest time at which a closed channel ends on any link; nil: none.
  ///
  /// Read-only; `mutating` avoids copying the links.
  var channelDeadline: Instant? {
    mutating get {
      var result: Instant?
      for link in links.indices { result = earliest(result, links[link].channels.deadline) }
      return result
    }
  }
}
