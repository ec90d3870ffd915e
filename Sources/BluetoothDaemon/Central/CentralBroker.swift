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
    case .endSynchronization(let number): trains.stop(number, of: session, at: now, &context)
    case .connect(let peer, let delay, let reconnects):
      connect(peer, delay: delay, reconnects: reconnects, for: session, at: now, &context)
    case .requestAlerts(let peer, let alerts):
      guard context.peers.contains(peer), let user = context.peers[peer].userIndex(of: session) else { return }
      context.peers[peer].users[user].alerts = alerts
    case .requireNotifications(let peer):
      guard context.peers.contains(peer), let user = context.peers[peer].userIndex(of: session) else { return }
      context.peers[peer].users[user].requiresNotifications = true
      context.notificationPeers.append(peer)
      if !context.policy.offersNotifications {
        let app = context.owner(of: session)
        context.note(.notifications, of: app)
      }
    case .cancelConnection(let peer): cancelConnection(to: peer, by: session, at: now, &context)
    case .registerForConnectionEvents(let filter): context.register(session, for: filter)
    case .changeLink(let peer, let request): changeLink(request, to: peer, for: session, at: now, &context)
    case .readRSSI(let peer): gattClient.readRSSI(of: peer, for: session, at: now, &context)
    case .discoverServices(let peer, let filter):
      gattClient.discover(.services, filter: filter, at: peer, for: session, now: now, &context)
    case .discoverIncludedServices(let peer, let service, let filter):
      gattClient.discover(.includes(of: service.handle), filter: filter, at: peer, for: session, now: now, &context)
    case .discoverCharacteristics(let peer, let service, let filter):
      let procedure = DiscoveryProcedure.characteristics(of: service.handle)
      gattClient.discover(procedure, filter: filter, at: peer, for: session, now: now, &context)
    case .discoverDescriptors(let peer, let characteristic):
      let procedure = DiscoveryProcedure.descriptors(of: characteristic.handle)
      gattClient.discover(procedure, filter: nil, at: peer, for: session, now: now, &context)
    case .read(let peer, let attribute): gattClient.read(attribute, at: peer, for: session, now: now, &context)
    case .write(let peer, let attribute, let value):
      gattClient.write(value, to: attribute, at: peer, for: session, now: now, &context)
    case .writeWithoutResponse(let peer, let attribute, let value):
      gattClient.writeWithoutResponse(
        value, to: attribute, at: peer, isSigned: false, for: session, now: now, &context)
    case .signedWriteWithoutResponse(let peer, let attribute, let value):
      gattClient.writeWithoutResponse(
        value, to: attribute, at: peer, isSigned: true, for: session, now: now, &context)
    case .setNotify(let peer, let attribute, let isOn):
      gattClient.setNotify(isOn, attribute, at: peer, for: session, now: now, &context)
    case .openChannel(let peer, let psm): channels.openChannel(psm, to: peer, for: session, at: now, &context)
    // The daemon handles these commands itself.
    case .barrier, .askForPower, .observeLinks: break
    }
  }

  /// Goes on with what a session had in a former run of the daemon: its connections, as pending ones, and its scan. A
  /// connection above the limits of this run fails.
  mutating func goOn(
    _ stored: StoredApp.Central, for session: CentralSessionID, at now: Instant, _ context: inout DaemonContext
  ) {
    for peer in stored.peers {
      guard let handle = context.peers.enter(peer.address, isLinked: true) else { continue }
      connect(handle, delay: .zero, reconnects: peer.reconnects, for: session, at: now, &context)
      guard let user = context.peers[handle].userIndex(of: session) else { continue }
      context.peers[handle].users[user].hasBeenConnected = peer.reconnects && peer.hasBeenConnected
      context.peers[handle].users[user].alerts = peer.alerts
      context.peers[handle].users[user].requiresNotifications = peer.requiresNotifications
    }
    if let scan = stored.scan { scans.scan(scan, by: session, at: now, &context) }
  }

  /// Ends everything that a session uses, without an event for it.
  mutating func close(_ session: CentralSessionID, at now: Instant, _ context: inout DaemonContext) {
    scans.stopScan(by: session, at: now, &context)
    trains.stopAll(of: session, at: now, &context)
    leaveAll(session, at: now, &context)
  }

  /// Drops scans, connections, attempts and requests when the adapter goes off, without an event for each.
  mutating func dropAll(_ context: inout DaemonContext) {
    scans.dropAll(&context)
    trains = TrainBroker()
    context.appsLinksChanged()
    for peer in context.peers.handles { context.peers[peer].users.removeAll() }
    context.inputDevices.dropAll()
    context.host.forgetRemoteDatabase(of: nil)
    context.endRegistrations()
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
