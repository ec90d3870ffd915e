import BluetoothHost
import BluetoothWire

// The life of apps: launch, foreground and background, suspension, termination, restoration.
extension Daemon {
  /// Returns the app with this name, and brings it to the foreground if it was not running; nil: there are too many apps.
  mutating func enter(_ name: String, at now: Instant) -> AppIndex? {
    guard let app = app(named: name) else {
      DaemonLog.note("more than \(DaemonApps.limit) apps: no background rules apply to it", of: name)
      return nil
    }
    // A process that says nothing of its life is in the foreground.
    if context.apps[app].phase == .terminated { bringToFront(app, at: now) }
    return app
  }

  mutating func handle(_ request: AppRequest, ofApp name: String, at now: Instant) {
    guard let app = app(named: name) else { return }
    context.apps.noteChange()
    switch request {
    case .launched(let manifest, let isInFront):
      if storing.isOn { bonds.noteUse(of: name) }
      context.apps[app].setManifest(manifest)
      if isInFront {
        bringToFront(app, at: now)
      } else if context.apps[app].phase == .terminated {
        sendToBackground(app, at: now)
      }
      if context.policy.background == nil, context.sessions.hasPreserved(app) {
        context.apps[app].beginRestoration(at: now)
      }
    case .becameFrontmost(true): bringToFront(app, at: now)
    case .becameFrontmost(false): if context.apps[app].phase == .foreground { sendToBackground(app, at: now) }
    case .suspended: if case .background = context.apps[app].phase { suspend(app, at: now) }
    case .terminated(let cause): terminate(app, by: cause, at: now)
    case .launchable(let isLaunchable):
      // The owner of the app can show its permission before its first session.
      permissions.recallAccess(of: app, &bonds, &context)
      context.apps[app].setLaunchable(isLaunchable)
      context.launchForWaitingEvents(app)
      refuseVainRequests(ofClientsOf: app, at: now)
    case .launchPaused: context.apps[app].pauseLaunches()
    case .reportPreserved: context.deliver(.app(name, .preserved(context.sessions.preservedIdentifiers(of: app))))
    case .permissionChanged(let isAllowed): setAccess(isAllowed, ofApp: name, at: now)
    }
    updateRadio(at: now)
  }

  /// Takes back the events that a process has not handled before its end, which follows: they wait for the next process.
  mutating func takeBack(_ unhandled: UnhandledEvents) {
    switch unhandled {
    case .central(let id, let events):
      guard let session = context.sessions.target(of: id), let app = context.sessions.owner(of: session) else { return }
      context.apps[app].events.putBack(events.filter(\.outlivesProcess), for: session)
      context.apps[app].noteUnhandledEvents()
    case .peripheral(let id, let events):
      guard let session = context.sessions.target(of: id), let app = context.sessions.owner(of: session) else { return }
      context.apps[app].events.putBack(events.filter(\.outlivesProcess), for: session)
      context.apps[app].noteUnhandledEvents()
    }
  }

  /// Returns false, and stops the app, if its platform requires a usage description and the app has none.
  mutating func mayUseBluetooth(_ app: AppIndex?) -> Bool {
    guard let app, context.policy.requiresUsageDescription,
      context.apps[app].manifest.usageDescription?.isEmpty != false
    else { return true }
    let name = context.apps[app].name
    let reason =
      "the app has no usage description: its Info.plist must contain the key NSBluetoothAlwaysUsageDescription with a"
      + " text that tells the user why the app uses Bluetooth"
    DaemonLog.note("stopped: \(reason)", of: name)
    context.deliver(.app(name, .stop(reason)))
    return false
  }

  /// Allows or denies an app the use of Bluetooth, as its user does in the settings. A denial ends the preserved sessions
  /// of the app.
  package mutating func setAccess(_ isAllowed: Bool, ofApp name: String, at now: Instant) {
    _ = changeAccess(isAllowed, ofApp: name, at: now)
  }

  /// Allows or denies an app the use of Bluetooth. A denial ends the preserved sessions of the app.
  ///
  /// - Returns: the reason why the permission is not stored and applies only to this run; nil: it is stored.
  mutating func changeAccess(_ isAllowed: Bool, ofApp name: String, at now: Instant) -> BondStoreError? {
    guard let app = app(named: name) else { return bonds.keepAccess(isAllowed, of: name) }
    context.apps.noteChange()
    if !isAllowed {
      endPreservedSessions(of: app, at: now)
      // As after power off, the change of state tells the app that its scan, links and services have ended.
      for session in context.sessions.centrals(of: app) { centrals.close(session, at: now, &context) }
      for session in context.sessions.peripherals(of: app) {
        peripherals.close(session, at: now, &context)
        channels.unpublishChannels(of: session, at: now, &context.host)
      }
    }
    let failure = permissions.set(isAllowed, of: app, at: now, &bonds, &context)
    updateRadio(at: now)
    takeHostEvents(at: now)
    return failure
  }

  private mutating func bringToFront(_ app: AppIndex, at now: Instant) {
    context.apps.bringToFront(app)
    context.setPhase(.foreground, of: app)
    for session in context.sessions.peripherals(of: app) { peripherals.sendLateUpdates(of: session, at: now, &context) }
    context.deliverWaitingEvents(of: app)
    updateRadio(at: now)
  }

  private mutating func sendToBackground(_ app: AppIndex, at now: Instant) {
    let until = context.policy.background.map { limits in
      let hasMode = limits.hasModes && !context.apps[app].manifest.backgroundModes.isEmpty
      return now + TimeSpan(hasMode ? limits.idleRunTime : limits.suspensionDelay)
    }
    context.setPhase(.background(until: until), of: app)
    if context.policy.background?.linksKeepApps == true {
      context.apps[app].stayWithLinks(context.apps.isWoken(app, by: .central))
    }
    context.apps.noteLinks(context.policy)
  }

  /// Applies the phases of apps to the scan and the advertising.
  private mutating func updateRadio(at now: Instant) {
    guard state == .poweredOn else { return }
    centrals.updateScanning(at: now, &context)
    centrals.updateConnecting(at: now, &context)
    peripherals.updateAdvertising(at: now, &context)
  }

  // MARK: Suspension

  /// Sets the times until which the apps run that have got events, or whose links have changed, in this input.
  mutating func settleApps(at now: Instant) {
    context.apps.beginSettling()
    for app in context.apps.indices {
      let hasLink = context.apps[app].staysWithLinks && context.hasLink(app)
      context.apps[app].settle(context.policy.background, hasLink: hasLink, at: now)
    }
  }

  /// Suspends the apps whose time in the background has ended, renews the budgets of wakes, expects processes of a former
  /// run no longer, and ends the preserved sessions for which an app that is not suspended has created no manager.
  mutating func suspendApps(at now: Instant) {
    guard let deadline = context.apps.deadline, deadline <= now else { return }
    for app in context.apps.indices {
      context.apps[app].forgetWakes(at: now)
      if let end = context.apps[app].returnDeadline, end <= now {
        context.apps.endReturn(of: app)
        context.launchForWaitingEvents(app)
      }
      if case .background(let until?) = context.apps[app].phase, until <= now { suspend(app, at: now) }
      if context.apps[app].endsRestoration(at: now) { endPreservedSessions(of: app, at: now) }
    }
  }

  /// Suspends an app. The preserved sessions for which the app has created no manager end.
  private mutating func suspend(_ app: AppIndex, at now: Instant) {
    context.setPhase(.suspended, of: app)
    endPreservedSessions(of: app, at: now)
  }

  private mutating func endPreservedSessions(of app: AppIndex, at now: Instant) {
    for (id, session) in context.sessions.all(of: app) where session.preservation.isPreserved {
      close(id, at: now)
      context.clients.end(id)
    }
  }

  // MARK: Termination

  /// Ends an app. Its sessions with restore identifiers are preserved if the platform does so for this cause and the user
  /// has not denied the app the use of Bluetooth, and end otherwise.
  private mutating func terminate(_ app: AppIndex, by cause: AppTermination, at now: Instant) {
    let isDenied = context.apps[app].isDenied
    let survives =
      cause == .system || context.policy.restoresQuitAccessoryApps && context.apps[app].manifest.setsUpAccessories
    terminate(
      app, preserving: survives && context.policy.restoresApps && !isDenied,
      notingLoss: cause == .system && !isDenied, at: now)
  }

  private mutating func terminate(
    _ app: AppIndex, preserving mayPreserve: Bool, notingLoss notesLoss: Bool, at now: Instant
  ) {
    let hasRun = context.apps[app].phase != .terminated
    if !mayPreserve { endPreservedSessions(of: app, at: now) }
    for (id, session) in context.sessions.all(of: app) where !session.preservation.isPreserved {
      if case .resumed(_, let user) = session.preservation { context.clients.end(id.other(user)) }
      if let identifier = session.preservation.identifier, mayPreserve,
        context.apps.isWoken(app, by: id.mode)
      {
        preserve(id, as: identifier, at: now)
      } else {
        if notesLoss, session.preservation.identifier != nil {
          context.note(context.policy.unpreserved(id.mode), of: app)
        }
        close(id, at: now)
        context.clients.end(id)
      }
    }
    context.setPhase(.terminated, of: app)
    // The process may have ended before it has restored the session that the requests wait for.
    if hasRun { refuseRequests(ofClientsOf: app, at: now) } else { refuseVainRequests(ofClientsOf: app, at: now) }
    // These events are not repeated: a peer is discovered once, for example.
    if context.apps[app].takeUnhandledEvents() { context.launchForWaitingEvents(app) }
  }

  /// Fails the clients' requests that wait for the launch of a terminated app that nothing launches. An unanswered
  /// request would end the link after 30 s, for all other apps, too · Vol 3, Part F, 3.3.3.
  private mutating func refuseVainRequests(ofClientsOf app: AppIndex, at now: Instant) {
    guard context.apps[app].phase == .terminated, !context.apps[app].canBeLaunched else { return }
    refuseRequests(ofClientsOf: app, at: now)
  }

  /// Fails the clients' requests that an app has not answered, also those that have not been passed to it.
  private mutating func refuseRequests(ofClientsOf app: AppIndex, at now: Instant) {
    for session in context.sessions.peripherals(of: app) {
      peripherals.refuseRequests(to: session, at: now, &context.host)
      context.apps[app].events.removeRequests(to: session)
    }
  }

  private mutating func preserve(_ id: AnySession, as identifier: String, at now: Instant) {
    guard let session = context.sessions[id] else { return }
    context.links.release { _, backlog in backlog === session.counters.backlog }
    context.sessions.endUse(of: id)
    // A session of a former run that has not gone on yet has nothing but what is stored.
    switch id {
    case .central(let session):
      var restored = centrals.preserve(session, at: now, &context)
      if let stored = context.sessions.centrals[session.key]?.stored { restored = self.restored(stored) }
      context.sessions.setRestored(restored, of: session)
    case .peripheral(let session):
      channels.release(session, at: now, &context)
      var restored = peripherals.preserve(session, at: now, &context)
      if let stored = context.sessions.peripherals[session.key]?.stored { restored = self.restored(stored) }
      context.sessions.setRestored(restored, of: session)
    }
    context.sessions.preserve(id, as: identifier)
  }

  // MARK: Restart

  /// Switches the device off, as for a restart: all apps end, and the adapter is off until `setPower`. The sessions with
  /// restore identifiers are preserved if the platform does so. They go on when the adapter is on again.
  package mutating func restart(at now: Instant) {
    let preserved = context.policy.restoresAfterRestart ? appsToStore() : []
    for app in context.apps.indices {
      let name = context.apps[app].name
      context.clients.detach(app: name)
      terminate(app, preserving: false, notingLoss: false, at: now)
      context.deliver(.app(name, .ended))
    }
    setPower(false, at: now)
    for stored in preserved { _ = recall(stored) }
  }

  // MARK: Restoration

  /// Lets a new session use the preserved session with its identifier. Returns false if there is none.
  mutating func resume(_ id: AnySession, _ owner: SessionOwner, at now: Instant) -> Bool {
    guard let identifier = owner.restoreIdentifier, let app = context.apps.index(of: owner.app),
      let preserved = context.sessions.preserved(identifier, of: app, for: id),
      context.clients.attach(id, to: preserved)
    else { return false }
    let counters = context.clients.counters(of: id)
    context.sessions.resume(preserved, by: id, counters, user: owner.user)
    switch preserved {
    case .central(let session):
      let restored = context.sessions.takeRestored(of: session)
      centrals.resume(session, counters, &context.peers)
      context.send(.restored(restored ?? RestoredCentral(peers: [], scan: nil)), to: session)
    case .peripheral(let session):
      let nothing = RestoredPeripheral(services: [], subscriptions: [], advertising: nil)
      context.send(.restored(context.sessions.takeRestored(of: session) ?? nothing), to: session)
    }
    let state = permissions.state(for: app)
    if state != .unknown { context.send(state, to: preserved) }
    context.apps[app].events.removeStateChanges(of: preserved)
    context.deliverWaitingEvents(of: app)
    return true
  }
}

extension AnySession {
  /// The background mode in which events of the session run its app.
  fileprivate var mode: AppManifest.BackgroundMode {
    switch self {
    case .central: .central
    case .peripheral: .peripheral
    }
  }
}

extension PlatformPolicy {
  /// The rule by which a session with a restore identifier ends with its app, which the system has terminated.
  fileprivate func unpreserved(_ mode: AppManifest.BackgroundMode) -> PolicyRule {
    guard restoresApps else { return .restoration }
    return mode == .central ? .unpreservedCentral : .unpreservedPeripheral
  }
}
