import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import DequeModule

/// What the system's Bluetooth service does for apps, on one adapter: it shares the host among sessions, hides addresses
/// behind identifiers, joins advertisements with scan responses, keeps what is known of peers' attributes, and routes
/// every answer to the session that asked.
///
/// It is an engine: its runner feeds it with packets, time and mail, then takes packets, events (`takeDelivery`) and the
/// next deadline from it. After each event that was handed over the runner drains the mailbox again, so that what an app
/// calls in a callback is taken in before time moves on.
///
/// It can't be copied: a copy made by accident, to read one property, costs more than all that it does for a packet.
package struct Daemon: ~Copyable {
  /// What the service knows of a central manager's session.
  struct Central {
    let session: CentralSession
    var scan: ActiveScan?
  }

  var host: Host
  let directory: PeerDirectory
  let mailbox: Mailbox
  private var mail = Deque<Mail>()
  private var outbox = Outbox()
  /// What is to be logged.
  private var troubles: Deque<HostTrouble> = []
  private static let maximumTroubles = 32

  /// As apps see it. It is unknown until the host has told its own for the first time.
  package private(set) var state = AdapterState.unknown

  var centrals = SessionTable<Central>()
  var peripherals = SessionTable<PeripheralSession>()
  var peers: PeerTable
  var links: [LinkState] = []
  var bonds: BondKeeper
  var desk: PromptDesk
  var backlogs = BacklogState()
  var questions: AppQuestions

  // Central role
  var isScanning = false
  var sightings = SightingTable()
  var delayedUsers: [DelayedUser] = []
  var operations = OperationTable()
  /// How many channels were asked for.
  var channelRequests: UInt64 = 0

  // Peripheral role
  var advertising = AdvertisingState()
  var localDatabase = LocalDatabase()
  var centralRequests = CentralRequestTable()
  var updates = UpdateTable()
  var publishedChannels = PublishedChannels()
  /// Services that nobody has any more and that are still in the host's database.
  private var droppedServices: [AttributeHandle] = []
  /// The same for channels.
  private var droppedChannels: [UInt16] = []

  /// - Parameters:
  ///   - directory: where the service writes what apps may read at once; nobody else writes it.
  ///   - random: where peers' identifiers come from.
  ///   - prompts: who asks the user.
  ///   - identityKey: what is the adapter's in every run: peers' identifiers come from it instead, and are the same in all.
  ///   - bonds: where bonds are kept.
  ///   - app: whom the user is asked about before any app may use the adapter; nil: all may.
  package init(
    host: Host, mailbox: Mailbox, directory: PeerDirectory, random: SplitGenerator,
    identityKey: Block? = nil, prompts: any Prompts = AutomaticPrompts(), bonds: any BondStore = MemoryBondStore(),
    app: String? = nil
  ) {
    self.host = host
    self.bonds = BondKeeper(bonds)
    desk = PromptDesk(prompts: prompts) { mailbox.wake() }
    self.mailbox = mailbox
    self.directory = directory
    questions = AppQuestions(app: app)
    peers = PeerTable(
      identifiers: identityKey.map { SplitGenerator(identifiersOf: $0) } ?? random.split("identifiers"),
      directory: directory)
    recallBonds()
    recallAccess()
  }

  // MARK: Inputs and outputs

  /// Calls `body` with the host. What comes of it is taken in with the next input.
  package mutating func withHost(_ body: (inout Host) -> Void) { body(&host) }

  /// When `timeReached` wants to be called; nil: nothing waits for time.
  ///
  /// It changes nothing: `mutating` has it read the links where they are instead of in copies.
  package var deadline: Instant? {
    mutating get {
      earliest(
        earliest(earliest(host.deadline, desk.deadline), earliest(channelDeadline, sightings.deadline)),
        earliest(delayDeadline, preparationDeadline))
    }
  }

  /// A packet of the controller.
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

  /// Switches the adapter on or off, as its user does. All that apps do with it ends at once when it goes off.
  package mutating func setPower(_ on: Bool, at now: Instant) {
    // Before the host says anything of its links: apps are told of the state alone.
    if !on { become(.poweredOff, at: now) }
    host.setPower(on, at: now)
    removeDroppedServices(at: now)
    takeHostEvents(at: now)
  }

  /// The way to the controller is there, or not: all that apps do ends when it goes, and begins anew when it is back.
  package mutating func setTransport(_ standing: TransportStanding, at now: Instant) {
    host.setTransport(standing, at: now)
    takeHostEvents(at: now)
  }

  /// It is not known any more where the controller's packets begin.
  package mutating func synchronizationLost(at now: Instant) {
    host.synchronizationLost(at: now)
    takeHostEvents(at: now)
  }

  /// Takes in what sessions have sent since the last call; `note` is told each item before it is obeyed.
  package mutating func drainMailbox(at now: Instant, _ note: (Mail) -> Void = { _ in }) {
    if desk.hasOpenQuestions {
      desk.collect(at: now)
      takeHostEvents(at: now)
    }
    releaseLinks()
    while true {
      mailbox.takeAll(&mail)
      guard !mail.isEmpty else { return }
      while let item = mail.popFirst() {
        note(item)
        take(item, at: now)
      }
      takeHostEvents(at: now)
    }
  }

  /// The next packet for the controller.
  package mutating func takePacket() -> HCI.Packet? { host.takePacket() }

  /// Whether `takeDelivery` may have something.
  package var hasDelivery: Bool { !outbox.isEmpty }

  /// The next event for a client, which is to be handed over before the next one is taken.
  package mutating func takeDelivery() -> Delivery? { outbox.take() }

  /// The next line for the log.
  package mutating func takeTrouble() -> HostTrouble? { troubles.popFirst() }

  // MARK: Sessions

  // By index: `firstIndex` would hand its closure copies of all that a link has.
  func linkIndex(of connection: HCI.ConnectionHandle) -> Int? {
    for index in links.indices where links[index].link.handle == connection { return index }
    return nil
  }
  func linkIndex(of peer: PeerHandle) -> Int? {
    for index in links.indices where links[index].peer == peer { return index }
    return nil
  }

  mutating func deliver(_ event: CentralEvent, to slot: CentralSlot) {
    guard let session = centrals.entries[slot.index]?.session else { return }
    if session.backlog.isFull { backlogs.full = session.backlog }
    if case .stateChanged = event { session.states.told &+= 1 }
    outbox.append(event, for: session)
  }

  mutating func deliver(_ event: PeripheralEvent, to slot: PeripheralSlot) {
    guard let session = peripherals.entries[slot.index] else { return }
    if session.backlog.isFull { backlogs.full = session.backlog }
    if case .stateChanged = event { session.states.told &+= 1 }
    outbox.append(event, for: session)
  }

  mutating func deliver(_ pipe: ChannelPipe) { outbox.append(pipe) }

  private mutating func take(_ item: Mail, at now: Instant) {
    switch item {
    case .centralOpened(let session):
      let slot = centrals.insert(Central(session: session))
      session.slot = slot
      if stateForApps != .unknown { deliver(.stateChanged(stateForApps), to: slot) }
      askForApps(at: now)
    case .peripheralOpened(let session):
      let slot = peripherals.insert(session)
      session.slot = slot
      if stateForApps != .unknown { deliver(.stateChanged(stateForApps), to: slot) }
      askForApps(at: now)
    case .central(let session, let command, let seenStates):
      guard let slot = session.slot else { return }
      perform(command, for: slot, isCurrent: seenStates == session.states.told, at: now)
    case .peripheral(let session, let command, let seenStates):
      guard let slot = session.slot else { return }
      perform(command, for: slot, isCurrent: seenStates == session.states.told, at: now)
    case .channel(let pipe): channelUsed(pipe, at: now)
    case .centralClosed(let session):
      guard let slot = session.slot else { return }
      releaseLinks(heldFor: session.backlog)
      stopScan(by: slot, at: now)
      leaveAll(slot, at: now)
      centrals.remove(slot)
      session.slot = nil
      stopAskingIfUnused()
    case .peripheralClosed(let session):
      guard let slot = session.slot else { return }
      releaseLinks(heldFor: session.backlog)
      stopAdvertising(by: slot, at: now)
      for request in centralRequests.removeAll(of: slot) { answer(request, .failure(.unlikelyError), at: now) }
      removeAllServices(of: slot, at: now)
      unpublishChannels(of: slot, at: now)
      peripherals.remove(slot)
      session.slot = nil
      stopAskingIfUnused()
    }
  }

  // MARK: State

  private mutating func powerChanged(_ power: PowerState, at now: Instant) {
    switch power {
    // From off it is a state between two; from on it is news.
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

  /// Scans, links, attempts, services and advertising are gone, and nobody is told so: the state says it.
  private mutating func dropEverything() {
    for slot in centrals.slots { centrals[slot]?.scan = nil }
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

  /// When the host's links are gone, too, so that no peer is told of it.
  private mutating func removeDroppedServices(at now: Instant) {
    for declaration in droppedServices { host.removeService(declaration: declaration, at: now) }
    droppedServices.removeAll()
    for psm in droppedChannels { host.unpublishChannel(spsm: psm, at: now) }
    droppedChannels.removeAll()
  }

  // MARK: From the host

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
    // Also when it is over for apps: what was counted is counted.
    case .bondChanged(let bond): keepCounters(of: bond, at: now)
    // What the host still has to say of a time that is over for apps.
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
      holdIfFull(connection)
    // Nobody asks for either.
    case .advertisingEnded, .nameDiscovered: break
    case .gatt(let connection, let event):
      backlogs.full = nil
      if let link = linkIndex(of: connection) { handle(event, on: link, at: now) }
      holdIfFull(connection)
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
    // Apps can't publish characteristics that are broadcast, and the host takes care of security.
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
