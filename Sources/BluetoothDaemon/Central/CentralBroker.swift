import BluetoothHost
import BluetoothWire

/// The broker of central managers: it executes their commands and shares scans, links and the peers' attributes among
/// them.
struct CentralBroker {
  private var scans = ScanBroker()
  /// The synchronizations with periodic trains.
  var trains = TrainBroker()
  /// The requests to the peers' GATT servers.
  var gattClient = GATTClientBroker()
  /// The connection attempts that begin later.
  var delayedUsers: [DelayedUser] = []

  /// Executes a command of a session.
  mutating func perform(
    _ command: CentralCommand, for session: CentralSessionID, at now: Instant, _ channels: inout ChannelBroker,
    _ context: inout DaemonContext
  ) {
    switch command {
    case .scan(let request): scans.scan(request, by: session, at: now, &context)
    case .stopScan: scans.stopScan(by: session, at: now, &context)
    case .synchronize(let number, let request): trains.start(number, request, for: session, at: now, &context)
    case .endSynchronization(let number): trains.stop(number, of: session, at: now, &context.host)
    case .connect(let peer, let delay, let reconnects):
      connect(peer, delay: delay, reconnects: reconnects, for: session, at: now, &context)
    case .requestAlerts(let peer, let alerts):
      context.peers.setAlerts(alerts, of: session, for: peer)
    case .requireNotifications(let peer):
      guard context.peers.requireNotifications(of: session, for: peer) else { return }
      context.peers.awaitNotifications(for: peer)
      if !context.policy.offersNotifications {
        let app = context.sessions.owner(of: session)
        context.note(.notifications, of: app)
      }
    case .cancelConnection(let peer): cancelConnection(to: peer, by: session, at: now, &context)
    case .registerForConnectionEvents(let filter): register(session, for: filter, &context)
    // The daemon handles these commands itself.
    case .barrier, .askForPower, .observeLinks: break
    case .changeLink, .readRSSI, .discoverServices, .discoverIncludedServices, .discoverCharacteristics,
      .discoverDescriptors, .read, .write, .writeWithoutResponse, .signedWriteWithoutResponse, .setNotify, .openChannel:
      guard let peer = command.linkedPeer else { return }
      if let link = context.link(to: peer, for: session) {
        perform(command, on: link, at: now, &channels, &context)
      } else if command.takesCredit, context.peers.contains(peer) {
        _ = context.sessions.counters(of: session)?.writeCredits(for: peer).put()
      }
    }
  }

  /// Executes a command that uses a link of the session.
  private mutating func perform(
    _ command: CentralCommand, on link: SessionLink<CentralRole>, at now: Instant, _ channels: inout ChannelBroker,
    _ context: inout DaemonContext
  ) {
    switch command {
    case .changeLink(_, let request): changeLink(request, of: link, at: now, &context)
    case .readRSSI: gattClient.readRSSI(of: link, at: now, &context)
    case .discoverServices(_, let filter): gattClient.discover(.services, filter: filter, on: link, at: now, &context)
    case .discoverIncludedServices(_, let service, let filter):
      gattClient.discover(.includes(of: service.handle), filter: filter, on: link, at: now, &context)
    case .discoverCharacteristics(_, let service, let filter):
      gattClient.discover(.characteristics(of: service.handle), filter: filter, on: link, at: now, &context)
    case .discoverDescriptors(_, let characteristic):
      gattClient.discover(.descriptors(of: characteristic.handle), filter: nil, on: link, at: now, &context)
    case .read(_, let attribute): gattClient.read(attribute, on: link, at: now, &context)
    case .write(_, let attribute, let value): gattClient.write(value, to: attribute, on: link, at: now, &context)
    case .writeWithoutResponse(_, let attribute, let value):
      gattClient.writeWithoutResponse(value, to: attribute, isSigned: false, on: link, at: now, &context)
    case .signedWriteWithoutResponse(_, let attribute, let value):
      gattClient.writeWithoutResponse(value, to: attribute, isSigned: true, on: link, at: now, &context)
    case .setNotify(_, let attribute, let isOn): gattClient.setNotify(isOn, attribute, on: link, at: now, &context)
    case .openChannel(_, let psm): channels.openChannel(psm, on: link, at: now, &context)
    case .scan, .stopScan, .synchronize, .endSynchronization, .connect, .cancelConnection, .requestAlerts,
      .requireNotifications, .registerForConnectionEvents, .barrier, .askForPower, .observeLinks:
      break
    }
  }

  /// Goes on with what a session had in a former run of the daemon: its connections, as pending ones, and its scan. A
  /// connection above the limits of this run fails.
  mutating func goOn(
    _ stored: StoredApp.Central, for session: CentralSessionID, at now: Instant, _ context: inout DaemonContext
  ) {
    for peer in stored.peers {
      guard let handle = context.enter(peer.address, isLinked: true) else { continue }
      connect(handle, delay: .zero, reconnects: peer.reconnects, for: session, at: now, &context)
      context.peers.restore(peer, of: session, for: handle)
    }
    if let scan = stored.scan { scans.scan(scan, by: session, at: now, &context) }
  }

  /// Registers a session for events about connections of others, in place of its former registration. Of the links that
  /// exist, the session is told of the end only.
  private func register(
    _ session: CentralSessionID, for filter: ConnectionEventFilter?, _ context: inout DaemonContext
  ) {
    context.sessions.register(session, for: filter)
    for link in context.links.indices {
      context.links[link].watch.remove(session)
      let peer = context.peers[context.links[link].peer].info.identifier
      if let filter, context.links[link].watch.matches(filter, peer) { context.links[link].watch.add(session) }
    }
  }

  /// Ends everything that a session uses, without an event for it.
  mutating func close(_ session: CentralSessionID, at now: Instant, _ context: inout DaemonContext) {
    scans.stopScan(by: session, at: now, &context)
    trains.stopAll(of: session, at: now, &context.host)
    leaveAll(session, at: now, &context)
  }

  /// Drops scans, connections, attempts and requests when the adapter goes off, without an event for each.
  mutating func dropAll(_ context: inout DaemonContext) {
    scans.dropAll(&context.sessions)
    trains = TrainBroker()
    context.apps.noteLinks(context.policy)
    context.peers.removeAllUsers()
    context.inputDevices.dropAll()
    context.host.forgetRemoteDatabase(of: nil)
    context.sessions.endRegistrations()
    delayedUsers.removeAll()
    gattClient.dropAll()
  }

  /// The earliest time at which the broker has something to do; nil: none.
  var deadline: Instant? { earliest(scans.deadline, delayDeadline) }

  /// Begins delayed attempts, and the steps of a slow scan.
  mutating func timeReached(_ now: Instant, _ context: inout DaemonContext) {
    beginDelayedAttempts(at: now, &context)
    retryInputDevices(at: now, &context)
    scans.timeReached(now, &context)
  }

  /// Applies the phases of apps to the scan.
  mutating func updateScanning(at now: Instant, _ context: inout DaemonContext) {
    scans.updateScanning(at: now, &context)
  }

  /// Reports the devices whose scan response has not come in time.
  mutating func reportHeldSightings(at now: Instant, _ context: inout DaemonContext) {
    scans.reportHeldSightings(at: now, &context)
  }

  /// Handles an advertising report of the host.
  mutating func handle(_ report: AdvertisingReport, at now: Instant, _ context: inout DaemonContext) {
    scans.handle(report, at: now, &context)
  }
}

/// A session's connection attempt that has not begun.
struct DelayedUser {
  let peer: PeerHandle
  let session: CentralSessionID
  let until: Instant
}
