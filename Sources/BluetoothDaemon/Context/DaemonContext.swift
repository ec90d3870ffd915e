import BluetoothHost
import BluetoothWire
import DequeModule

/// The parts of the daemon that all its brokers use: the host, the sessions, the peers, the links, the apps, and the events
/// for clients. The daemon passes the context to each call of a broker.
///
/// Each part has private state and changes it by its own functions, and a function that uses one part gets that part
/// alone. The context has what takes several parts: the delivery of events, the life of apps, the check of requests.
///
/// The type is noncopyable: an accidental copy would copy the host.
struct DaemonContext: ~Copyable {
  var host: Host
  let directory: PeerDirectory
  /// The clients' ends of the sessions.
  let clients: LocalSessions
  var sessions = SessionTable()
  var peers: Peers
  var links = Links()
  var inputDevices = InputDevices()
  var prompts: PromptQueue
  var backlogs = Backlogs()
  var limitNotes = LimitNotes()
  var apps: DaemonApps
  var alerts = AppAlerts()
  let policy: PlatformPolicy
  let shares: AppShares
  private(set) var events = Deque<DaemonEvent>(minimumCapacity: 32)

  init(
    host: Host, clients: LocalSessions, directory: PeerDirectory, peers: Peers, prompts: any Prompts,
    shares: AppShares, policy: PlatformPolicy
  ) {
    self.host = host
    self.shares = shares
    self.policy = policy
    apps = DaemonApps(policy)
    self.clients = clients
    self.directory = directory
    self.peers = peers
    self.prompts = PromptQueue(prompts: prompts) { clients.requests.wake() }
  }

  // MARK: Events

  /// True if `takeEvent` returns an event.
  var hasEvents: Bool { !events.isEmpty }

  /// Removes and returns the next event for a client.
  mutating func takeEvent() -> DaemonEvent? { events.popFirst() }

  /// Sends an event to a session, unless it has been closed.
  mutating func deliver(_ event: CentralEvent, to session: CentralSessionID) {
    guard let index = sessions.centrals.index(of: session.key),
      let counters = sessions.centrals.values[index]?.session.counters
    else { return }
    if let app = sessions.centrals.values[index]?.session.app, !admits(event, of: app, at: index) {
      return apps[app].events.add(event, for: session)
    }
    send(event, to: session, counters)
  }

  /// Sends an event to a session whose app runs.
  mutating func send(_ event: CentralEvent, to session: CentralSessionID) {
    if let counters = sessions.counters(of: session) { send(event, to: session, counters) }
  }

  private mutating func send(_ event: CentralEvent, to session: CentralSessionID, _ counters: SessionCounters) {
    if counters.backlog.isFull { backlogs.noteFull(sessions.client(of: .central(session))) }
    if case .stateChanged = event { sessions.noteState(of: .central(session)) }
    events.append(.central(session, event))
  }

  /// Sends an event to a session, unless it has been closed.
  mutating func deliver(_ event: PeripheralEvent, to session: PeripheralSessionID) {
    guard let index = sessions.peripherals.index(of: session.key),
      let counters = sessions.peripherals.values[index]?.session.counters
    else { return }
    if let app = sessions.peripherals.values[index]?.session.app, !admits(event, of: app, at: index) {
      return apps[app].events.add(event, for: session)
    }
    send(event, to: session, counters)
  }

  /// Sends an event to a session whose app runs.
  mutating func send(_ event: PeripheralEvent, to session: PeripheralSessionID) {
    if let counters = sessions.counters(of: session) { send(event, to: session, counters) }
  }

  private mutating func send(_ event: PeripheralEvent, to session: PeripheralSessionID, _ counters: SessionCounters) {
    if counters.backlog.isFull { backlogs.noteFull(sessions.client(of: .peripheral(session))) }
    if case .stateChanged = event { sessions.noteState(of: .peripheral(session)) }
    events.append(.peripheral(session, event))
  }

  /// Sends the adapter's state to a session whose app runs.
  mutating func send(_ state: AdapterState, to session: AnySession) {
    switch session {
    case .central(let session): send(.stateChanged(state), to: session)
    case .peripheral(let session): send(.stateChanged(state), to: session)
    }
  }

  /// Sends the adapter's state to a session.
  mutating func deliver(_ state: AdapterState, to session: AnySession) {
    switch session {
    case .central(let session): deliver(.stateChanged(state), to: session)
    case .peripheral(let session): deliver(.stateChanged(state), to: session)
    }
  }

  /// Sends an event about the central on a link to all sessions of peripheral managers, except those that have too many
  /// events and do not know the central: no peer can make their events grow by connecting again and again.
  mutating func deliverToPeripherals(_ event: PeripheralEvent, on link: DaemonLinkIndex) {
    for index in sessions.peripherals.values.indices {
      guard let session = sessions.peripherals.values[index]?.session, !session.preservation.isForwarder,
        let id = sessions.peripherals.key(at: index).map({ PeripheralSessionID(key: $0) }),
        links[link].server.isKnown(to: id) || !session.counters.backlog.isFull
      else { continue }
      deliver(event, to: id)
    }
  }

  /// Sends an event of the central on a link to the session whose attribute or channel the central uses.
  mutating func deliver(_ event: PeripheralEvent, on link: DaemonLinkIndex, to session: PeripheralSessionID) {
    links[link].server.noteUse(of: session)
    deliver(event, to: session)
  }

  /// Sends an event about a channel or an app.
  mutating func deliver(_ event: DaemonEvent) { events.append(event) }

  // MARK: Peers and links

  /// Returns the known attributes of the peer's server. The host owns them.
  func database(of link: DaemonLinkIndex) -> RemoteDatabase { host.remoteDatabase(on: links[link].link.handle) }

  /// True if an app or the system uses the link, and it is not ending.
  func isInUse(_ link: DaemonLinkIndex) -> Bool {
    !links[link].isClosing && (peers[links[link].peer].isUsed || inputDevices.wants(links[link].peer))
  }

  /// Returns the description of the client on a link, as apps see it.
  func centralInfo(of link: DaemonLinkIndex) -> CentralInfo {
    let peer = links[link].peer
    return CentralInfo(
      handle: peer, identifier: peers[peer].info.identifier, maximumUpdateLength: links[link].maximumValueLength)
  }

  /// Updates the services in the directory for `retrieveConnectedPeripherals`, and tells sessions that registered for
  /// connections to a peer with them. The services are the discovered ones, or else the advertised ones.
  mutating func publishConnected(_ link: DaemonLinkIndex) {
    let peer = links[link].peer
    let known = database(of: link).primaryServices?.map(\.uuid) ?? peers[peer].advertisedServices
    links[link].watch.publish(known)
    directory.setConnected(peer, services: known)
    if known.contains(SystemAttribute.humanInterfaceDevice) { inputDevices.noteChange() }
    reportConnection(of: link)
  }

  /// Tells the sessions that registered for it of a link that others have requested: once, when it is established or
  /// when the services for which they wait become known. A session with a full backlog is not told.
  private mutating func reportConnection(of link: DaemonLinkIndex) {
    let peer = links[link].peer
    for index in sessions.centrals.values.indices {
      guard let filter = sessions.centrals.values[index]?.connectionEvents,
        let key = sessions.centrals.key(at: index)
      else { continue }
      let session = CentralSessionID(key: key)
      guard links[link].watch.matches(filter, peers[peer].info.identifier), peers[peer].userIndex(of: session) == nil,
        !links[link].watch.receivers.contains(session),
        sessions.centrals.values[index]?.session.counters.backlog.isFull != true
      else { continue }
      links[link].watch.add(session)
      deliver(.connectionEvent(peers[peer].info, isConnected: true), to: session)
    }
  }

  /// Fails the waiting connection attempts to a replaced peer: no device will be found under its identifier.
  mutating func giveUp(_ peer: PeerHandle) {
    for user in peers[peer].users where user.phase == .connecting {
      deliver(.connectionFailed(peer, .unknownPeer), to: user.session)
    }
    peers.removeConnectingUsers(of: peer)
  }
}
