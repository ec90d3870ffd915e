import BluetoothHost
import BluetoothWire

/// The use of the radio that a session's app may make.
enum RadioUse: Equatable {
  /// As much as the app asks for.
  case full
  /// The little that apps in the background may use.
  case reduced
  case none
}

// The life of apps: which events they get now, what their use of the radio is worth, and when they are suspended.
extension DaemonContext {
  // MARK: Events

  /// Returns true if a central manager's session gets an event now; false: the event waits. An event runs a suspended
  /// app that has declared the background mode, and launches a terminated one.
  mutating func admits(_ event: CentralEvent, of app: AppIndex, at index: Int) -> Bool {
    var limit = WakeLimit.none
    if case .valueChanged(let peer, let attribute, _) = event { limit = .value(peer, attribute) }
    switch event {
    case .discovered, .synchronization(_, .report, _): limit = .counted
    default: break
    }
    if waits(app, for: event.runsApp) { return false }
    let isWaiting = sessions.centrals.values[index]?.session.preservation.isPreserved == true
    let key = sessions.centrals.key(at: index)
    if let key, apps[app].phase == .suspended || apps[app].phase == .terminated {
      alerts.note(
        event, for: CentralSessionID(key: key), of: app, lastInFront: apps[app].lastInFront, peers)
    }
    // The app has been launched for the session already.
    if isWaiting, apps[app].phase != .terminated { return false }
    return runs(app, for: .central, limit, reportTo: key.map { CentralSessionID(key: $0) }) && !isWaiting
  }

  /// Returns true if a peripheral manager's session gets an event now; false: the event waits.
  mutating func admits(_ event: PeripheralEvent, of app: AppIndex, at index: Int) -> Bool {
    if waits(app, for: event.runsApp) { return false }
    let isWaiting = sessions.peripherals.values[index]?.session.preservation.isPreserved == true
    if isWaiting, apps[app].phase != .terminated { return false }
    return runs(app, for: .peripheral, .none, reportTo: nil) && !isWaiting
  }

  /// Returns true if the app does not run, and an event does not run it.
  private func waits(_ app: AppIndex, for runsApp: (Bool, PlatformPolicy) -> Bool) -> Bool {
    apps[app].isAsleep && !runsApp(apps[app].phase == .suspended, policy)
  }

  /// Runs the suspended app that owns a channel which has changed, if the platform does so.
  private mutating func channelChanged(of owner: AnySession) {
    guard let app = sessions[owner]?.app, apps[app].phase == .suspended else { return }
    guard policy.background?.channelsRunApps == true else { return note(.suspendedChannel, of: app) }
    let mode: AppManifest.BackgroundMode = if case .central = owner { .central } else { .peripheral }
    _ = runs(app, for: mode, .none, reportTo: nil)
  }

  /// Returns true if the app runs, or begins to run for an event of this role.
  private mutating func runs(
    _ app: AppIndex, for mode: AppManifest.BackgroundMode, _ limit: WakeLimit, reportTo session: CentralSessionID?
  ) -> Bool {
    if case .foreground = apps[app].phase { return true }
    switch apps.admit(app, for: mode, limit, reportTo: session, policy.background?.wakeBudget) {
    case .runs: break
    case .waits(let rule):
      if let rule { note(rule, of: app) }
      return false
    case .wakes:
      setPhase(.background(until: nil), of: app)
      apps.noteEvent(of: app)
      deliverWaitingEvents(of: app)
    case .launches: launch(app)
    }
    return true
  }

  /// Launches a terminated app if events wait for it, and if it can be launched.
  mutating func launchForWaitingEvents(_ app: AppIndex) {
    guard apps[app].isLaunchedByEvents, apps[app].phase == .terminated,
      apps[app].events.launchApp(under: policy)
    else { return }
    launch(app)
  }

  /// Launches a terminated app, whose sessions are preserved.
  private mutating func launch(_ app: AppIndex) {
    let identifiers = sessions.preservedIdentifiers(of: app)
    setPhase(.background(until: nil), of: app)
    apps.noteEvent(of: app)
    deliver(.app(apps[app].name, .launch(identifiers)))
  }

  /// Changes the phase of an app, and reports its state.
  mutating func setPhase(_ phase: App.Phase, of app: AppIndex) {
    let former = apps.setPhase(phase, of: app)
    if (former == .suspended) != (phase == .suspended) { suspensionChanged(of: app) }
    if apps[app].state != former { deliver(.app(apps[app].name, .stateChanged(apps[app].state))) }
  }

  /// Holds the channels of an app that has been suspended, and releases what has waited for one that is no longer.
  private mutating func suspensionChanged(of app: AppIndex) {
    guard apps[app].phase != .suspended else {
      for link in links.indices {
        for entry in links[link].channels.entries where sessions[entry.owner]?.app == app {
          hold(entry.pipe, of: entry.owner)
        }
      }
      return
    }
    for channel in apps[app].takeHeldChannels() {
      channel.setHeld(false)
      announce(channel)
    }
    apps.releaseCommands(of: app)
  }

  /// Holds a channel if its app is suspended, unless the app has closed it.
  mutating func hold(_ channel: ChannelPipe, of owner: AnySession) {
    guard let app = sessions[owner]?.app, apps[app].phase == .suspended, !channel.isReleased else { return }
    apps[app].hold(channel)
  }

  /// Returns true if a central manager of the app uses a link.
  func hasLink(_ app: AppIndex) -> Bool {
    links.indices.contains { link in
      peers[links[link].peer].users.contains {
        $0.phase == .connected && sessions.owner(of: $0.session) == app
      }
    }
  }

  /// Sends the events that have waited, except those of preserved sessions.
  mutating func deliverWaitingEvents(of app: AppIndex) {
    guard !apps[app].events.isEmpty else { return }
    var events = apps[app].events
    let sent = events.take { entry in
      !sessions.isPreserved(entry.session)
    }
    apps[app].events = events
    for entry in sent {
      switch entry {
      case .central(let session, let event): send(event, to: session)
      case .peripheral(let session, let event): send(event, to: session)
      }
    }
  }

  // MARK: Channels

  /// Notifies the app of a change of its channel.
  mutating func announce(_ pipe: ChannelPipe) {
    if pipe.beginAnnouncement() { deliver(.channel(pipe.handle)) }
  }

  /// Notifies the app of octets to read, room to write or the end of its channel.
  mutating func announce(_ entry: LinkChannels.Entry) {
    channelChanged(of: entry.owner)
    announce(entry.pipe)
  }

  // MARK: Rules

  /// Adds a line for the log if the rule has its first effect on the app; nil: on sessions that belong to no app. The code
  /// calls this function only where a rule has an effect, so that apps without limits pay nothing.
  mutating func note(_ rule: PolicyRule, of app: AppIndex?) {
    if apps.isFirstEffect(of: rule, on: app) { apps.note(rule.line(policy), of: app) }
  }

  /// The use of the radio that a session of this role and app may make.
  func radioUse(of app: AppIndex?, as mode: AppManifest.BackgroundMode) -> RadioUse {
    guard let app, policy.background != nil, apps[app].isInBackground else { return .full }
    return apps.isWoken(app, by: mode) ? .reduced : .none
  }
}
