import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import DequeModule

/// The Bluetooth daemon of one adapter: what the operating system's Bluetooth service does for apps. It shares the host
/// among sessions, hides addresses behind identifiers, merges advertisements with scan responses, caches the attributes
/// of peers, and routes every answer to the session that requested it.
///
/// The daemon is an engine: its runner passes packets, time and requests to it, then takes packets, events (`takeEvent`)
/// and the next deadline from it. After each delivered event the runner calls `handleRequests` again, so that the daemon
/// handles the calls that an app makes in a callback before time moves on.
///
/// The type is noncopyable: an accidental copy, made to read one property, costs more than all other work for a packet.
package struct Daemon: ~Copyable {
  /// The state of one central manager's session.
  struct Central {
    let counters: SessionCounters
    /// The number of state changes that were sent to the session; see `SessionCounters.seenStates`.
    var toldStates: UInt32 = 0
    var scan: ActiveScan?
  }

  /// The state of one peripheral manager's session.
  struct Peripheral {
    let counters: SessionCounters
    var toldStates: UInt32 = 0
  }

  var host: Host
  let directory: PeerDirectory
  let sessions: LocalSessions
  private var requests = Deque<DaemonRequest>()
  private var events = Deque<DaemonEvent>(minimumCapacity: 32)
  /// The problems waiting to be logged; the oldest is dropped when there are more than `maximumTroubles`.
  private var troubles: Deque<HostDiagnostic> = []
  private static let maximumTroubles = 32

  /// The adapter's state as apps see it. It is unknown until the host first reports its own state.
  package private(set) var state = AdapterState.unknown

  /// The open sessions, by the keys of their identifiers.
  var centrals = SlotMap<Central>()
  var peripherals = SlotMap<Peripheral>()
  var peers: PeerTable
  var links: [LinkState] = []
  var bonds: BondManager
  var desk: PromptQueue
  var backlogs = BacklogState()
  var questions: AppQuestions

  // Central role
  var isScanning = false
  var sightings = AdvertisementCache()
  var delayedUsers: [DelayedUser] = []
  var operations = OperationTable()
  /// The number of channels that apps have requested so far.
  var channelRequests: UInt64 = 0

  // Peripheral role
  var advertising = AdvertisingState()
  var localDatabase = LocalDatabase()
  var centralRequests = CentralRequestTable()
  var updates = UpdateTable()
  var publishedChannels = PublishedChannels()
  /// The services that no session owns any more and that the host's database still contains.
  private var droppedServices: [AttributeHandle] = []
  /// The PSMs of channels that no session owns any more and that the host still publishes.
  private var droppedChannels: [UInt16] = []

  /// Creates the daemon of one adapter.
  ///
  /// - Parameters:
  ///   - sessions: the sessions with their queue of requests.
  ///   - directory: the storage of what apps may read synchronously; only the daemon writes it.
  ///   - random: the random generator of peers' identifiers if there is no `identityKey`.
  ///   - prompts: the interface that asks the user.
  ///   - identityKey: a key that is the same in every run of the adapter. Peers' identifiers are derived from it
  ///     instead of `random`, so they are the same in all runs.
  ///   - bonds: the bond store.
  ///   - app: the name of the app for which the user must give permission before any app may use the adapter; nil: all
  ///     apps may use it.
  package init(
    host: Host, sessions: LocalSessions, directory: PeerDirectory, random: RandomStream,
    identityKey: Block? = nil, prompts: any Prompts = AutomaticPrompts(), bonds: any BondStore = MemoryBondStore(),
    app: String? = nil
  ) {
    self.host = host
    self.bonds = BondManager(bonds)
    desk = PromptQueue(prompts: prompts) { sessions.requests.wake() }
    self.sessions = sessions
    self.directory = directory
    questions = AppQuestions(app: app)
    peers = PeerTable(
      identifiers: identityKey.map { RandomStream(identifiersOf: $0) } ?? random.split("identifiers"),
      directory: directory)
    recallBonds()
    recallAccess()
  }

  // MARK: Inputs and outputs

  /// Calls `body` with the host. The daemon handles the host's events at its next input.
  package mutating func withHost(_ body: (inout Host) -> Void) { body(&host) }

  /// The time of the next call of `timeReached`; nil: no timer is running.
  ///
  /// Read-only; `mutating` avoids copying the links.
  package var deadline: Instant? {
    mutating get {
      earliest(
        earliest(earliest(host.deadline, desk.deadline), earliest(channelDeadline, sightings.deadline)),
        earliest(delayDeadline, preparationDeadline))
    }
  }

  /// Handles a packet from the controller.
  package mutating func receive(_ packet: HCI.Packet, at now: Instant) {
    host.receive(packet, at: now)
    takeHostEvents(at: now)
  }

  package mutating func timeReached(_ now: Instant) {
    if let deadline = host.deadline, deadline <= now { host.timeReached(now) }
    takeHostEvents(at: now)
    beginDelayedAttempts(at: now)
    advancePreparations(at: now)
    closeLateChannels(at: now)
    reportHeldSightings(at: now)
    takeHostEvents(at: now)
  }

  /// Switches the adapter on or off, as its user does. Switching it off ends everything that apps do with it at once.
  package mutating func setPower(_ on: Bool, at now: Instant) {
    // Before the host reports anything about its links, so that apps get only the state change.
    if !on { become(.poweredOff, at: now) }
    host.setPower(on, at: now)
    removeDroppedServices(at: now)
    takeHostEvents(at: now)
  }

  /// Reports that the transport to the controller is available or lost. Everything that apps do ends when the transport
  /// is lost, and starts again when the transport is back.
  package mutating func setTransport(_ standing: TransportStanding, at now: Instant) {
    host.setTransport(standing, at: now)
    takeHostEvents(at: now)
  }

  /// Reports that packet boundaries in the controller's byte stream have been lost.
  package mutating func synchronizationLost(at now: Instant) {
    host.synchronizationLost(at: now)
    takeHostEvents(at: now)
  }

  /// Handles the requests that clients have sent since the last call; calls `note` for each request before handling it.
  package mutating func handleRequests(at now: Instant, _ note: (DaemonRequest) -> Void = { _ in }) {
    if desk.hasOpenQuestions {
      desk.collect(at: now)
      takeHostEvents(at: now)
    }
    releaseLinks()
    while true {
      sessions.requests.takeAll(&requests)
      guard !requests.isEmpty else { return }
      while let request = requests.popFirst() {
        note(request)
        handle(request, at: now)
      }
      takeHostEvents(at: now)
    }
  }

  /// Removes and returns the next packet for the controller.
  package mutating func takePacket() -> HCI.Packet? { host.takePacket() }

  /// True if `takeEvent` returns an event.
  package var hasEvents: Bool { !events.isEmpty }

  /// Removes and returns the next event for a client. The caller delivers it (`LocalSessions.deliver`) before it takes
  /// the next one.
  package mutating func takeEvent() -> DaemonEvent? { events.popFirst() }

  /// Removes and returns the next problem for the log.
  package mutating func takeTrouble() -> HostDiagnostic? { troubles.popFirst() }

  // MARK: Sessions

  // By index: the closure of `firstIndex` would get copies of whole links.
  func linkIndex(of connection: HCI.ConnectionHandle) -> Int? {
    for index in links.indices where links[index].link.handle == connection { return index }
    return nil
  }
  func linkIndex(of peer: PeerHandle) -> Int? {
    for index in links.indices where links[index].peer == peer { return index }
    return nil
  }

  /// Returns the counters of an open session.
  func centralCounters(of session: CentralSessionID) -> SessionCounters? {
    guard let index = centrals.index(of: session.key) else { return nil }
    return centrals.values[index]?.counters
  }

  func peripheralCounters(of session: PeripheralSessionID) -> SessionCounters? {
    guard let index = peripherals.index(of: session.key) else { return nil }
    return peripherals.values[index]?.counters
  }

  mutating func deliver(_ event: CentralEvent, to session: CentralSessionID) {
    guard let counters = centralCounters(of: session) else { return }
    if counters.backlog.isFull { backlogs.full = counters.backlog }
    if case .stateChanged = event { centrals.update(session.key) { $0.toldStates &+= 1 } }
    events.append(.central(session, event))
  }

  mutating func deliver(_ event: PeripheralEvent, to session: PeripheralSessionID) {
    guard let counters = peripheralCounters(of: session) else { return }
    if counters.backlog.isFull { backlogs.full = counters.backlog }
    if case .stateChanged = event { peripherals.update(session.key) { $0.toldStates &+= 1 } }
    events.append(.peripheral(session, event))
  }

  /// Sends an event to all sessions of peripheral managers.
  mutating func deliverToPeripherals(_ event: PeripheralEvent) {
    for index in peripherals.values.indices {
      if let key = peripherals.key(at: index) { deliver(event, to: PeripheralSessionID(key: key)) }
    }
  }

  mutating func deliver(_ event: DaemonEvent) { events.append(event) }

  private mutating func handle(_ request: DaemonRequest, at now: Instant) {
    switch request {
    case .openCentral(let session):
      centrals.place(Central(counters: sessions.counters(of: session)), at: session.key)
      if stateForApps != .unknown { deliver(.stateChanged(stateForApps), to: session) }
      askForApps(at: now)
    case .openPeripheral(let session):
      peripherals.place(Peripheral(counters: sessions.counters(of: session)), at: session.key)
      if stateForApps != .unknown { deliver(.stateChanged(stateForApps), to: session) }
      askForApps(at: now)
    case .central(let session, let command, let seenStates):
      guard let index = centrals.index(of: session.key) else { return }
      perform(command, for: session, isCurrent: seenStates == centrals.values[index]?.toldStates, at: now)
    case .peripheral(let session, let command, let seenStates):
      guard let index = peripherals.index(of: session.key) else { return }
      perform(command, for: session, isCurrent: seenStates == peripherals.values[index]?.toldStates, at: now)
    case .channel(let channel): channelUsed(channel, at: now)
    case .closeCentral(let session):
      guard let counters = centralCounters(of: session) else { return }
      releaseLinks(heldFor: counters.backlog)
      stopScan(by: session, at: now)
      leaveAll(session, at: now)
      _ = centrals.remove(session.key)
      stopAskingIfUnused()
    case .closePeripheral(let session):
      guard let counters = peripheralCounters(of: session) else { return }
      releaseLinks(heldFor: counters.backlog)
      stopAdvertising(by: session, at: now)
      for request in centralRequests.removeAll(of: session) { answer(request, .failure(.unlikelyError), at: now) }
      removeAllServices(of: session, at: now)
      unpublishChannels(of: session, at: now)
      _ = peripherals.remove(session.key)
      stopAskingIfUnused()
    }
  }

  // MARK: State

  private mutating func powerChanged(_ power: PowerState, at now: Instant) {
    switch power {
    // Report `.resetting` only when Bluetooth was on; leaving `.poweredOff` passes through it silently.
    case .starting: if state == .poweredOn { become(.resetting, at: now) }
    case .on:
      directory.features = AdapterFeatures(of: host)
      become(.poweredOn, at: now)
    case .unreachable: become(.resetting, at: now)
    case .off:
      become(.poweredOff, at: now)
      for record in bonds.all { keepDatabases(of: record.identity, at: now) }
    case .unsupported: become(.unsupported, at: now)
    }
    removeDroppedServices(at: now)
  }

  private mutating func become(_ new: AdapterState, at now: Instant) {
    guard new != state else { return }
    let before = stateForApps
    if state == .poweredOn { dropEverything() }
    state = new
    tellState(after: before)
    askForApps(at: now)
  }

  /// Drops scans, links, connection attempts, services and advertising without an event for each: the change of state
  /// tells apps that they are gone.
  private mutating func dropEverything() {
    for index in centrals.values.indices {
      if let key = centrals.key(at: index) { centrals.update(key) { $0.scan = nil } }
    }
    isScanning = false
    sightings.removeAll()
    for peer in peers.handles { peers[peer].users.removeAll() }
    delayedUsers.removeAll()
    operations.removeAll { $0.returnCredit() }
    for link in links.indices { endChannels(of: link, .lost(.link(.connectionTerminatedByLocalHost))) }
    for link in links {
      if let prompt = link.prompt { desk.withdraw(prompt) }
      for update in link.updates { _ = updates.finish(update.call, copies: 1) }
    }
    if backlogs.holdsLinks { backlogs.heldLinksChanged = true }
    links.removeAll()
    directory.setAllDisconnected()
    advertising = AdvertisingState()
    centralRequests.removeAll()
    droppedServices += localDatabase.services.reversed().map(\.range.lowerBound)
    localDatabase.removeAll()
    droppedChannels += publishedChannels.removeAll()
  }

  /// Removes dropped services and channels from the host. Called when the host's links are gone, too, so that no peer
  /// is notified of the removal.
  private mutating func removeDroppedServices(at now: Instant) {
    for declaration in droppedServices { host.removeService(declaration: declaration, at: now) }
    droppedServices.removeAll()
    for psm in droppedChannels { host.unpublishChannel(spsm: psm, at: now) }
    droppedChannels.removeAll()
  }

  // MARK: Host events

  mutating func takeHostEvents(at now: Instant) {
    repeat {
      while let event = host.takeEvent() { handle(event, at: now) }
    } while desk.hasOpenQuestions && takeAnswer(at: now)
  }

  private mutating func handle(_ event: HostEvent, at now: Instant) {
    switch event {
    case .powerChanged(let power): powerChanged(power, at: now)
    case .trouble(let trouble):
      if troubles.count == Self.maximumTroubles { troubles.removeFirst() }
      troubles.append(trouble)
    // In every state: counters are saved even after the adapter has gone off for apps.
    case .bondChanged(let bond): keepCounters(of: bond, at: now)
    // Late events of a powered-on period that has already ended for apps.
    case _ where state != .poweredOn: break
    case .advertisingStarted(let error): advertisingStarted(error)
    case .advertisingReport(let report): handle(report, at: now)
    case .connected(let link): connected(link, at: now)
    case .connectionFailed(let address, let reason): connectionFailed(address, reason, at: now)
    case .disconnected(let connection, let reason): disconnected(connection, reason, at: now)
    case .rssiRead(let connection, let result):
      if let link = linkIndex(of: connection) { rssiRead(result, on: link) }
    case .security(let connection, let event):
      if let link = linkIndex(of: connection) { handle(event, on: link, at: now) }
    case .channel(let connection, let event):
      backlogs.full = nil
      if let link = linkIndex(of: connection) { handle(event, on: link, at: now) }
      holdIfFull(connection, at: now)
    // No request of the daemon leads to these events.
    case .advertisingEnded, .nameDiscovered: break
    case .gatt(let connection, let event):
      backlogs.full = nil
      if let link = linkIndex(of: connection) { handle(event, on: link, at: now) }
      holdIfFull(connection, at: now)
    }
  }

  private mutating func handle(_ event: GATTEvent, on link: Int, at now: Instant) {
    switch event {
    case .mtuChanged(let mtu): mtuChanged(mtu, of: link)
    case .completed(let token, let result): completed(token, result, on: link, at: now)
    case .valueReceived(let handle, let value): valueReceived(handle, value, on: link)
    case .servicesChanged(let range): servicesChanged(range, on: link)
    case .readRequested(let request, let handle, let offset):
      readRequested(request, handle, offset: offset, on: link, at: now)
    case .writeRequested(let request, let parts): writeRequested(request, parts, on: link, at: now)
    case .subscriptionChanged(let handle, let subscription): subscriptionChanged(handle, subscription, on: link)
    case .updateSent(let handle): updateSent(handle, on: link)
    // Apps can't publish broadcast characteristics, and the host handles security.
    case .broadcastChanged, .securityWanted, .signatureMade: break
    }
  }
}

extension AdapterFeatures {
  fileprivate init(of host: Host) {
    self = []
    if host.supportsExtendedScanAndConnect { insert(.extendedScanAndConnect) }
    if host.supportsPrivacy { insert(.privacy) }
  }
}
