import BluetoothHost
import BluetoothWire
import DequeModule

// Events of the host: each goes to the brokers that it concerns.
extension Daemon {
  /// Handles the host's events, and the answers of the user, until there are none.
  mutating func takeHostEvents(at now: Instant) {
    repeat {
      handleReleasedCommands(at: now)
      while let event = context.host.takeEvent() {
        handle(event, at: now)
        handleReleasedCommands(at: now)
      }
      if context.inputDevices.needsUpdate {
        notifications.publish(bonds, at: now, &context)
        updateInputDevices(at: now)
      }
      while let peer = context.peers.takeAwaitingNotifications() {
        notifications.prepare(peer, at: now, &bonds, &context)
      }
      permissions.askWaiting(at: now, &context)
    } while context.prompts.hasOpenQuestions && takeAnswer(at: now) || context.apps.hasReleasedCommands
    if context.apps.needsSettling { settleApps(at: now) }
    storeAppsIfDue(at: now)
    guard context.alerts.hasCandidates else { return }
    let alerts = context.alerts.raise(at: now, context.peers, context.apps)
    for alert in alerts { notifications.post(alert, at: now, &context) }
  }

  /// Connects to the input devices among the bonds, if the platform does so.
  private mutating func updateInputDevices(at now: Instant) {
    guard context.policy.reconnectsInputDevices, state == .poweredOn else { return }
    centrals.updateInputDevices(bonds.inputDevices(at: now, &context), at: now, &context)
  }

  /// Handles the next answer of the user; returns false if there is none.
  private mutating func takeAnswer(at now: Instant) -> Bool {
    guard let answer = context.prompts.takeAnswer(at: now) else { return false }
    if !permissions.take(answer, at: now, &bonds, &context), !notifications.take(answer, at: now, &bonds, &context) {
      bonds.take(answer, at: now, &context.host)
    }
    return true
  }

  private mutating func handle(_ event: HostEvent, at now: Instant) {
    switch event {
    case .powerChanged(let power): powerChanged(power, at: now)
    case .trouble(let trouble): note(trouble)
    // Save counters in every state, even after the adapter has gone off for apps.
    case .bondChanged(let bond): bonds.keepCounters(of: bond, at: now, &context)
    // Drop late events from a powered-on period that has already ended for apps.
    case _ where permissions.state != .poweredOn: break
    case .advertisingStarted(let error):
      context.apps.noteChange()
      peripherals.advertisingStarted(error, &context)
    case .advertisingSetStarted(let set, let error): peripherals.advertisingSetStarted(set, error, &context)
    case .advertisingSetEnded(let set): peripherals.advertisingSetEnded(set, &context)
    case .advertisingReport(let report): centrals.handle(report, at: now, &context)
    case .synchronization(let id, let event): centrals.trains.handle(event, of: id, at: now, &context)
    case .connected(let link):
      context.apps.noteChange()
      centrals.connected(link, at: now, &context)
      context.reportToPeripherals(newLink: link.handle)
      systemServices.linkBegan(link.handle, at: now, &context)
    case .connectionFailed(let address, let reason):
      context.apps.noteChange()
      centrals.connectionFailed(address, reason, at: now, &context)
    case .disconnected(let connection, let reason): disconnected(connection, reason, at: now)
    case .linkChanged(let connection):
      if let link = context.links.index(of: connection) { context.reportChanges(of: link) }
    case .linkRequestEnded(let connection, let error):
      if let link = context.links.index(of: connection) {
        centrals.linkRequestEnded(error, on: link, at: now, &context)
      }
    case .rssiRead(let connection, let result):
      if let link = context.links.index(of: connection) { centrals.gattClient.rssiRead(result, on: link, &context) }
    case .security(let connection, let event):
      // A bond can give a peer another address.
      context.apps.noteChange()
      if let link = context.links.index(of: connection) {
        bonds.handle(event, on: link, at: now, &context)
        context.reportChanges(of: link)
        if context.policy.offersNotifications { context.peers.awaitNotifications(for: context.links[link].peer) }
      }
    case .channel(let connection, let event):
      context.backlogs.forgetFull()
      if let link = context.links.index(of: connection) {
        context.links.noteTraffic(on: link, at: now)
        channels.handle(event, on: link, at: now, &context)
      }
      context.holdIfFull(connection, at: now)
    // No request of the daemon leads to these events.
    case .advertisingEnded, .nameDiscovered: break
    case .gatt(let connection, let event):
      context.backlogs.forgetFull()
      if let link = context.links.index(of: connection) { handle(event, on: link, at: now) }
      context.holdIfFull(connection, at: now)
    }
  }

  private mutating func handle(_ event: GATTEvent, on link: DaemonLinkIndex, at now: Instant) {
    if case .backgroundTurn = event {} else { context.links.noteTraffic(on: link, at: now) }
    if !systemServices.isEmpty, systemServices.handle(event, on: link, at: now, &context) { return }
    switch event {
    case .mtuChanged(let mtu): centrals.mtuChanged(mtu, of: link, &context)
    case .completed(let token, let result):
      centrals.gattClient.completed(token, result, on: link, at: now, &context)
    case .valueReceived(let handle, let value):
      centrals.gattClient.valueReceived(handle, value, on: link, &context)
    case .backgroundTurn: centrals.gattClient.backgroundTurn(on: link, at: now, &context)
    case .servicesChanged(let range, let services):
      centrals.gattClient.servicesChanged(range, services, on: link, &context)
    case .readRequested(let request, let handle, let offset):
      peripherals.readRequested(request, handle, offset: offset, on: link, at: now, &context)
    case .writeRequested(let request, let parts) where parts.first.map { notifications.owns($0.handle) } ?? false:
      notifications.writeRequested(request, parts, on: link, at: now, &bonds, &context)
    case .writeRequested(let request, let parts):
      peripherals.writeRequested(request, parts, on: link, at: now, &context)
    case .subscriptionChanged(let handle, let subscription) where notifications.owns(handle):
      notifications.subscriptionChanged(handle, subscription, on: link, at: now, &bonds, &context)
    case .subscriptionChanged(let handle, let subscription):
      peripherals.subscriptionChanged(handle, subscription, on: link, &context)
    case .updateSent(let handle) where notifications.owns(handle):
      notifications.updateSent(on: link, at: now, &context)
    case .updateSent(let handle): peripherals.updateSent(handle, on: link, &context)
    // Apps can't publish broadcast characteristics, and the host handles security.
    case .broadcastChanged, .securityRequired, .signatureMade: break
    }
  }

  private mutating func disconnected(
    _ connection: HCI.ConnectionHandle, _ reason: HCI.ErrorCode, at now: Instant
  ) {
    guard let link = context.links.index(of: connection) else { return }
    context.apps.noteChange()
    let peer = context.links[link].peer
    centrals.gattClient.endOperations(on: connection)
    let end = context.links[link].channelEnd(after: reason)
    ChannelBroker.endChannels(of: link, end, &context)
    peripherals.endServing(link, reason, &context)
    notifications.linkEnded(connection)
    systemServices.linkEnded(connection, reason, at: now, &context.host)
    bonds.linkEnded(link, &context)
    let ended = context.links.remove(link)
    context.deliver(.system(.linkEnded(reason, count: context.links.all.count)))
    bonds.keepDatabases(of: context.peers[peer].address, at: now, &context)
    context.directory.setDisconnected(peer)
    // Unless they have requested the link meanwhile.
    for session in ended.watch.receivers where context.peers[peer].userIndex(of: session) == nil {
      context.deliver(.connectionEvent(context.peers[peer].info, isConnected: false), to: session)
    }
    centrals.linkEnded(to: peer, reason, ended.end, at: now, &context)
  }

  // MARK: State

  private mutating func powerChanged(_ power: PowerState, at now: Instant) {
    switch power {
    case .off where isResetting: break
    // Report `.resetting` only when Bluetooth was on; leaving `.poweredOff` passes through it silently.
    case .starting: if state == .poweredOn { become(.resetting, at: now) }
    case .on:
      isResetting = false
      context.directory.features = AdapterFeatures(of: context.host)
      become(.poweredOn, at: now)
    case .unreachable: become(.resetting, at: now)
    case .off:
      become(.poweredOff, at: now)
      for record in bonds.records { bonds.keepDatabases(of: record.identity, at: now, &context) }
    case .unsupported: become(.unsupported, at: now)
    }
    removeDropped(at: now)
  }

  mutating func become(_ new: AdapterState, at now: Instant) {
    guard new != state else { return }
    context.apps.noteChange()
    if state == .poweredOn {
      dropEverything()
      systemServices.stop(at: now)
    }
    if new != .poweredOn, context.sessions.dropStored(isOff: new == .poweredOff) { context.apps.noteChange() }
    if new == .poweredOn || new == .poweredOff { context.apps.beginReturns(at: now) }
    permissions.become(new, at: now, &context)
    guard new == .poweredOn else { return }
    continueStoredSessions(at: now)
    systemServices.start(at: now, &context.host)
  }

  /// Drops scans, links, connection attempts, services and advertising without an event for each, because the change of
  /// state informs apps of their end.
  private mutating func dropEverything() {
    centrals.dropAll(&context)
    for link in context.links.indices {
      ChannelBroker.endChannels(of: link, .lost(.link(.connectionTerminatedByLocalHost)), &context)
      bonds.linkEnded(link, &context)
    }
    peripherals.dropAll(&context)
    notifications.dropAll(&context)
    channels.dropAll()
    for app in context.apps.indices {
      for (id, session) in context.sessions.all(of: app) where session.preservation.isPreserved {
        context.sessions.dropRestored(of: id)
        context.apps[app].events.removeAll(of: id)
      }
    }
    for _ in context.links.all { context.deliver(.system(.linkEnded(nil, count: 0))) }
    context.links.removeAll()
    context.directory.setAllDisconnected()
  }

  /// Removes dropped services and channels from the host. Called when the host's links are gone, too, so that no peer
  /// is notified of the removal.
  mutating func removeDropped(at now: Instant) {
    peripherals.removeDropped(at: now, &context.host)
    channels.removeDropped(at: now, &context.host)
  }
}

extension AdapterFeatures {
  fileprivate init(of host: Host) {
    self = []
    if host.supportsExtendedScanAndConnect { insert(.extendedScanAndConnect) }
    if host.supportsPrivacy { insert(.privacy) }
  }
}
