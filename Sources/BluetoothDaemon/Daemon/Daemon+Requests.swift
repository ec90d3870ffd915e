import BluetoothHost
import BluetoothWire
import DequeModule

// Requests of clients: each goes to the broker that it concerns.
extension Daemon {
  /// Handles the commands that have waited for apps which run now.
  mutating func handleReleasedCommands(at now: Instant) {
    while let command = context.apps.takeReleasedCommand() { handle(command, at: now) }
  }

  /// Holds a command of a suspended app until the app runs. Returns false if the app runs, or has too many of them.
  private mutating func holds(_ command: DaemonRequest, of app: AppIndex?) -> Bool {
    guard let app, context.apps[app].phase == .suspended else { return false }
    context.note(.suspendedCommands, of: app)
    return context.apps[app].hold(command)
  }

  mutating func handle(_ request: DaemonRequest, at now: Instant) {
    switch request {
    case .openCentral(let session, let owner): open(.central(session), owner, at: now)
    case .openPeripheral(let session, let owner): open(.peripheral(session), owner, at: now)
    case .central(let session, let command, let seenStates):
      guard let session = context.sessions.target(of: session),
        let index = context.sessions.centrals.index(of: session.key)
      else { return }
      let app = context.sessions.centrals.values[index]?.session.app
      if holds(request, of: app) { return }
      if command.concernsStoredApps { context.apps.noteChange() }
      let reported = context.sessions.centrals.values[index]?.session.reportedStates
      let isCurrent = seenStates == reported && !isSuspended(app)
      let isOn = permissions.state(for: app) == .poweredOn
      perform(command, for: session, isCurrent: isCurrent && isOn, at: now)
    case .peripheral(let session, let command, let seenStates):
      guard let session = context.sessions.target(of: session),
        let index = context.sessions.peripherals.index(of: session.key)
      else { return }
      let app = context.sessions.peripherals.values[index]?.session.app
      if holds(request, of: app) { return }
      if command.concernsStoredApps { context.apps.noteChange() }
      let reported = context.sessions.peripherals.values[index]?.session.reportedStates
      let isCurrent = seenStates == reported && !isSuspended(app)
      let isOn = permissions.state(for: app) == .poweredOn
      perform(command, for: session, isCurrent: isCurrent && isOn, at: now)
    case .channel(let channel): channels.channelUsed(channel, at: now, &context)
    case .introduce(let address, let session):
      guard let session = context.sessions.target(of: session),
        let central = context.sessions[.central(session)], permissions.state(for: central.app) == .poweredOn
      else { return }
      context.introduce(address, for: central.user)
    case .closeCentral(let session):
      if let target = context.sessions.target(of: session) { close(.central(target), at: now) }
    case .closePeripheral(let session):
      if let target = context.sessions.target(of: session) { close(.peripheral(target), at: now) }
    case .unhandled(let events): takeBack(events)
    case .app(let name, let request): handle(request, ofApp: name, at: now)
    case .system(.setPower(let isOn)):
      bonds.keepSwitchedOff(!isOn)
      setPower(isOn, at: now)
    case .system(.resetIdentifiers(true)): resetNetworkSettings(at: now)
    case .system(.resetIdentifiers(false)): resetIdentifiers(at: now)
    case .system(.setNotificationSharing(let isAllowed, let identity)):
      setNotificationSharing(isAllowed, with: identity, at: now)
    case .system(.setPermission(let isAllowed, let name, let number)):
      let failure = changeAccess(isAllowed, ofApp: name, at: now)
      context.deliver(.system(.permissionSet(number, failure: failure?.description)))
    case .system(.adoptPermissions(let decisions)): adopt(decisions, at: now)
    case .system(.prepareForApps):
      releaseStoredApps()
      prepareForApps()
      let decisions = bonds.permissions()
      // A program can ask for its permission before it is an app of the daemon.
      permissions.publish(decisions, context)
      context.deliver(.system(.readyForApps(preserved: preservedApps, decisions)))
    case .system(.holdStoredApps): holdStoredApps(at: now)
    case .system(.pair(let peer)): pair(with: peer, at: now)
    case .system(.setIOCapability(let capability)): context.host.setIOCapability(capability)
    case .system(.forget(let identity)): forget(identity, at: now)
    case .system(.reportLinks(let number)): context.deliver(.system(.links(number, peerUsages(at: now))))
    }
  }

  /// Pairs with a peer at the request of the user.
  private mutating func pair(with peer: PeerHandle, at now: Instant) {
    guard let link = context.links.index(of: peer) else {
      return context.deliver(.system(.pairingEnded(peer, .disconnected)))
    }
    context.host.secure(context.links[link].link.handle, .encrypted, at: now)
  }

  private func isSuspended(_ app: AppIndex?) -> Bool { app.map { context.apps[$0].phase == .suspended } ?? false }

  private mutating func open(_ id: AnySession, _ owner: SessionOwner?, at now: Instant) {
    context.apps.noteChange()
    if let owner, resume(id, owner, at: now) { return }
    var app: AppIndex?
    if let owner { app = enter(owner.app, at: now) }
    if let app { permissions.recallAccess(of: app, &bonds, &context) }
    let identifier = app == nil ? nil : owner?.restoreIdentifier
    let session = OpenSession(
      counters: context.clients.counters(of: id), app: app, user: owner?.user ?? .unknown,
      preservation: identifier.map { .possible($0) } ?? .endsWithApp)
    context.sessions.open(id, session)
    if case .peripheral = id { context.releaseSharedLinks() }
    guard mayUseBluetooth(app) else { return }
    let state = permissions.state(for: app)
    if state != .unknown { context.deliver(state, to: id) }
    permissions.askForApps(at: now, &context)
  }

  // While the adapter is not on or its use is not permitted, the daemon drops every command but `barrier`,
  // `askForPower` and `observeLinks`, as the session's client does: only commands that were in transit when the state
  // changed arrive here. The daemon also drops commands that were in transit when the adapter went off and on again.
  // `isCurrent` is then false.

  private mutating func perform(
    _ command: CentralCommand, for session: CentralSessionID, isCurrent: Bool, at now: Instant
  ) {
    if case .barrier(let number) = command { return context.deliver(.barrierReached(number), to: session) }
    if case .askForPower = command { return permissions.askForPower(at: now, &context) }
    if case .observeLinks = command { return context.observeLinks(for: .central(session)) }
    guard isCurrent else {
      if command.takesCredit, let peer = command.linkedPeer, context.peers.contains(peer) {
        _ = context.sessions.counters(of: session)?.writeCredits(for: peer).put()
      }
      return
    }
    centrals.perform(command, for: session, at: now, &channels, &context)
  }

  private mutating func perform(
    _ command: PeripheralCommand, for session: PeripheralSessionID, isCurrent: Bool, at now: Instant
  ) {
    if case .barrier(let number) = command { return context.deliver(.barrierReached(number), to: session) }
    if case .askForPower = command { return permissions.askForPower(at: now, &context) }
    if case .observeLinks = command { return context.observeLinks(for: .peripheral(session)) }
    guard isCurrent else {
      if case .update = command { _ = context.sessions.counters(of: session)?.updateCredits.put() }
      return
    }
    guard context.policy.allowsPeripheralRole else {
      let app = context.sessions.owner(of: session)
      context.note(.peripheralRole, of: app)
      return refuse(command, of: session)
    }
    if case .unpublishChannel(let psm) = command { return unpublishChannel(psm, by: session, at: now) }
    peripherals.perform(command, for: session, at: now, &channels, &context)
  }

  /// Answers a command on a platform that has no peripheral role.
  private mutating func refuse(_ command: PeripheralCommand, of session: PeripheralSessionID) {
    switch command {
    case .startAdvertising, .advertise: context.deliver(.advertisingStarted(.notSupported), to: session)
    case .addService(let service), .addServiceAt(let service):
      context.deliver(.serviceAdded(service.id, .notSupported), to: session)
    case .startSet(let set, _): context.deliver(.advertisingSetStarted(set, .notSupported), to: session)
    case .publishChannel: context.deliver(.channelPublished(psm: 0, .notSupported), to: session)
    case .unpublishChannel(let psm): context.deliver(.channelUnpublished(psm: psm, .notSupported), to: session)
    case .update: _ = context.sessions.counters(of: session)?.updateCredits.put()
    case .stopAdvertising, .stopSet, .removeService, .removeAllServices, .respond, .setConnectionLatency, .observeLinks,
      .changeLink, .disconnect, .barrier, .askForPower:
      break
    }
  }

  private mutating func unpublishChannel(_ psm: UInt16, by session: PeripheralSessionID, at now: Instant) {
    guard channels.unpublishChannel(psm, by: session, at: now, &context.host) else {
      context.deliver(.channelUnpublished(psm: psm, .invalidParameters), to: session)
      return
    }
    // Apps learn of the end of the channels first.
    takeHostEvents(at: now)
    context.deliver(.channelUnpublished(psm: psm, nil), to: session)
  }

  /// Ends a session, and the session that uses it.
  mutating func close(_ id: AnySession, at now: Instant) {
    guard let session = context.sessions[id] else { return }
    context.links.release { _, backlog in backlog === session.counters.backlog }
    switch id {
    case .central(let session): centrals.close(session, at: now, &context)
    case .peripheral(let session):
      peripherals.close(session, at: now, &context)
      channels.unpublishChannels(of: session, at: now, &context.host)
      takeHostEvents(at: now)
    }
    context.apps.noteChange()
    guard let former = context.sessions.close(id) else { return }
    if case .resumed = former.preservation { context.clients.end(id) }
    if let app = former.app { context.apps[app].events.removeAll(of: id) }
    permissions.stopAskingIfUnused(&context)
  }
}

extension CentralCommand {
  /// The peer whose link to the session the command uses; nil: the command uses no link.
  var linkedPeer: PeerHandle? {
    switch self {
    case .changeLink(let peer, _), .readRSSI(let peer), .discoverServices(let peer, _),
      .discoverIncludedServices(let peer, _, _), .discoverCharacteristics(let peer, _, _),
      .discoverDescriptors(let peer, _), .read(let peer, _), .write(let peer, _, _),
      .writeWithoutResponse(let peer, _, _), .signedWriteWithoutResponse(let peer, _, _), .setNotify(let peer, _, _),
      .openChannel(let peer, _):
      peer
    case .scan, .stopScan, .synchronize, .endSynchronization, .connect, .cancelConnection, .requestAlerts,
      .requireNotifications, .registerForConnectionEvents, .barrier, .askForPower, .observeLinks:
      nil
    }
  }

  /// True if the sender has taken a credit for the peer.
  var takesCredit: Bool {
    switch self {
    case .writeWithoutResponse, .signedWriteWithoutResponse: true
    default: false
    }
  }
}
