import BluetoothHost
import BluetoothWire
import DequeModule

/// The parts of the daemon that all its brokers use: the host, the sessions, the peers, the links, and the events for
/// clients. The daemon passes the context to each call of a broker.
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
  var apps = DaemonApps()
  private(set) var pendingAlerts = PendingAlerts()
  /// The alerts that wait for the user interface; the oldest is dropped when there are more than `maximumAlerts`.
  private(set) var alerts: Deque<Alert> = []
  private static let maximumAlerts = 256
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
    if counters.backlog.isFull { backlogs.noteFull(client(of: .central(session))) }
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
    if counters.backlog.isFull { backlogs.noteFull(client(of: .peripheral(session))) }
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
  mutating func deliverToPeripherals(_ event: PeripheralEvent, on link: LinkIndex) {
    for index in sessions.peripherals.values.indices {
      guard let session = sessions.peripherals.values[index]?.session, !session.preservation.isForwarder,
        let id = sessions.peripherals.key(at: index).map({ PeripheralSessionID(key: $0) }),
        links[link].server.isKnown(to: id) || !session.counters.backlog.isFull
      else { continue }
      deliver(event, to: id)
    }
  }

  /// Sends an event of the central on a link to the session whose attribute or channel the central uses.
  mutating func deliver(_ event: PeripheralEvent, on link: LinkIndex, to session: PeripheralSessionID) {
    links[link].server.noteUse(of: session)
    deliver(event, to: session)
  }

  /// Sends an event about a channel or an app.
  mutating func deliver(_ event: DaemonEvent) { events.append(event) }

  // MARK: Alerts

  /// Notes an event of a suspended app, if the app wants an alert about it.
  mutating func noteAlert(_ event: CentralEvent, for session: CentralSessionID, of app: AppIndex) {
    let (kind, peer, option): (Alert.Kind, PeerHandle, AlertKinds)
    switch event {
    case .connected(let handle, _): (kind, peer, option) = (.connected, handle, .connection)
    case .disconnected(let handle, _, _): (kind, peer, option) = (.disconnected, handle, .disconnection)
    case .valueChanged(let handle, _, _): (kind, peer, option) = (.notified, handle, .notification)
    default: return
    }
    guard peers.contains(peer), let user = peers[peer].userIndex(of: session),
      peers[peer].users[user].alerts.contains(option)
    else { return }
    pendingAlerts.add(kind, peer, for: app, lastInFront: apps[app].lastInFront)
  }

  /// Turns the events of this input into alerts, and returns them.
  mutating func raiseAlerts(at now: Instant) -> [Alert] {
    var raised: [Alert] = []
    for event in pendingAlerts.take() {
      let info = peers[event.peer].info
      let name = info.name.flatMap { Prompt.Pairing.harmless($0) } ?? info.identifier.digits
      raised.append(Alert(kind: event.kind, app: apps[event.app].name, peripheral: name, time: now))
    }
    alerts += raised
    if alerts.count > Self.maximumAlerts { alerts.removeFirst(alerts.count - Self.maximumAlerts) }
    return raised
  }

  /// Removes and returns the next alert.
  mutating func takeAlert() -> Alert? { alerts.popFirst() }

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

  /// True if an app or the system uses the link, and it is not ending.
  func isInUse(_ link: LinkIndex) -> Bool {
    !links[link].isClosing && (isInApps(link) || inputDevices.wants(links[link].peer))
  }

  /// True if an app uses the link.
  func isInApps(_ link: LinkIndex) -> Bool { peers[links[link].peer].isUsed }

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
    links[link].watch.publish(known)
    directory.setConnected(peer, services: known)
    if known.contains(SystemAttribute.humanInterfaceDevice) { inputDevices.noteChange() }
    reportConnection(of: link)
  }

  /// Tells the sessions that registered for it of a link that others have requested: once, when it is established or
  /// when the services for which they wait become known. A session with a full backlog is not told.
  private mutating func reportConnection(of link: LinkIndex) {
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

  /// Tells the sessions that registered for events about a link of its end, unless they have requested the link meanwhile.
  mutating func reportDisconnection(from peer: PeerHandle, to receivers: [CentralSessionID]) {
    for session in receivers where peers[peer].userIndex(of: session) == nil {
      deliver(.connectionEvent(peers[peer].info, isConnected: false), to: session)
    }
  }

  /// Registers a session for events about connections of others, in place of its former registration. Of the links that
  /// exist, the session is told of the end only.
  mutating func register(_ session: CentralSessionID, for filter: ConnectionEventFilter?) {
    sessions.register(session, for: filter)
    for link in links.indices {
      links[link].watch.remove(session)
      guard let filter, links[link].watch.matches(filter, peers[links[link].peer].info.identifier) else { continue }
      links[link].watch.add(session)
    }
  }

  /// Fails the waiting connection attempts to a replaced peer: no device will be found under its identifier.
  mutating func giveUp(_ peer: PeerHandle) {
    for user in peers[peer].users where user.phase == .connecting {
      deliver(.connectionFailed(peer, .unknownPeer), to: user.session)
    }
    peers.removeConnectingUsers(of: peer)
  }

  /// Ends the links that have been idle for too long. Their apps see a timeout.
  mutating func endIdleLinks(at now: Instant) {
    guard let timeout = policy.idleLinkTimeout else { return }
    for link in links.indices where links.isIdle(link, timeout, at: now) {
      // The links of the system stay.
      if inputDevices.wants(links[link].peer) { continue }
      noteIdleLink(link)
      links.end(link, because: .timeout, at: now, &host)
    }
  }
}
