import BluetoothHost
import BluetoothWire

// The sessions with restore identifiers outlive the daemon: they are stored with the bonds, and a later daemon of the
// adapter preserves them, as if the system had terminated their apps.
extension Daemon {
  // MARK: Storing

  /// The time of the next change on the disk; nil: there is none.
  var storingDeadline: Instant? {
    storing.isOn && !storing.isHeld && context.apps.mayDifferFromStored ? storing.earliestTime : nil
  }

  /// Stores the sessions if they have changed and the last change was not just now.
  mutating func storeAppsIfDue(at now: Instant) {
    guard let deadline = storingDeadline, deadline <= now else { return }
    storeApps(at: now)
  }

  /// Stores the sessions for the last time before the process ends. From then on, another program may preserve sessions
  /// in the same place.
  mutating func holdStoredApps(at now: Instant) {
    if storingDeadline != nil { storeApps(at: now) }
    storing.isHeld = true
    bonds.releaseStoredApps()
  }

  /// Stores the sessions again after `holdStoredApps`, unless another program has taken the place.
  mutating func releaseStoredApps() {
    if storing.isOn, storing.isHeld { storing.isOn = bonds.reserveStoredApps() }
    storing.isHeld = false
    context.apps.noteChange()
  }

  private mutating func storeApps(at now: Instant) {
    context.apps.noteStoring()
    let apps = appsToStore()
    guard apps != storing.last else { return }
    storing.last = apps
    storing.earliestTime = now + AppStoring.pause
    bonds.keepApps(apps)
  }

  /// Returns the apps with the sessions that would be preserved if their processes ended now.
  mutating func appsToStore() -> [StoredApp] {
    guard context.policy.restoresApps else { return [] }
    var result: [StoredApp] = []
    /// The places of the sessions of central managers in the result.
    var places: [CentralSessionID: (app: Int, central: Int)] = [:]
    for app in context.apps.indices where !context.apps[app].isDenied {
      var stored = StoredApp(
        name: context.apps[app].name, manifest: context.apps[app].manifest,
        wasRunning: context.apps[app].phase != .terminated || context.apps[app].mayReturn)
      for session in context.sessions.centrals(of: app) where context.apps.isWoken(app, by: .central) {
        guard let central = context.sessions.centrals[session.key],
          let identifier = central.session.preservation.identifier
        else { continue }
        if let former = central.stored {
          stored.centrals.append(former)
        } else {
          places[session] = (result.count, stored.centrals.count)
          // A scan for packets is not one of an app that is restored.
          let scan = central.scan.flatMap { $0.request.packets == nil ? $0.request : nil }
          stored.centrals.append(StoredApp.Central(identifier: identifier, scan: scan))
        }
      }
      for session in context.sessions.peripherals(of: app)
      where context.apps.isWoken(app, by: .peripheral) {
        guard let peripheral = context.sessions.peripherals[session.key],
          let identifier = peripheral.session.preservation.identifier
        else { continue }
        if let former = peripheral.stored {
          stored.peripherals.append(former)
        } else {
          let state = peripherals.state(of: session, context)
          stored.peripherals.append(
            StoredApp.Peripheral(identifier: identifier, services: state.services, advertising: state.advertising))
        }
      }
      if stored.centrals.isEmpty, stored.peripherals.isEmpty { continue }
      result.append(stored)
      if result.count == StoredApp.maximumCount { break }
    }
    if !places.isEmpty { addPeers(to: &result, places) }
    return result
  }

  /// Adds the peers of the sessions at these places.
  private func addPeers(
    to apps: inout [StoredApp], _ places: [CentralSessionID: (app: Int, central: Int)]
  ) {
    for peer in context.peers.all where !peer.users.isEmpty {
      for user in peer.users {
        guard let place = places[user.session], user.phase != .disconnecting(again: false), place.app < apps.count
        else { continue }
        apps[place.app].centrals[place.central].peers.append(
          StoredApp.Connection(
            address: peer.address, name: peer.info.name, reconnects: user.reconnects,
            hasBeenConnected: user.phase == .connected || user.hasBeenConnected, alerts: user.alerts,
            requiresNotifications: user.requiresNotifications))
      }
    }
  }

  // MARK: Recalling

  /// Preserves the sessions that a former run has stored. They go on when the adapter is on.
  mutating func recallApps() {
    if storing.isOn { storing.isOn = bonds.reserveStoredApps() }
    guard storing.isOn else { return }
    storing.last = bonds.storedApps(afterRestart: context.policy.restoresAfterRestart)
    guard context.policy.restoresApps else { return }
    for stored in storing.last.prefix(StoredApp.maximumCount) {
      guard let app = recall(stored) else { continue }
      context.apps[app].recall(wasRunning: stored.wasRunning)
    }
  }

  /// Preserves the sessions of an app that has ended. Returns nil, and preserves nothing, if there are too many apps or if
  /// the app has been denied the use of Bluetooth.
  mutating func recall(_ stored: StoredApp) -> AppIndex? {
    guard let app = app(named: stored.name) else { return nil }
    permissions.recallAccess(of: app, &bonds, &context)
    // Another server with the same store can have denied the app.
    guard !context.apps[app].isDenied else {
      context.apps.noteChange()
      return nil
    }
    context.apps[app].setManifest(stored.manifest)
    for central in stored.centrals where context.apps.isWoken(app, by: .central) {
      recall(central, of: app)
    }
    for peripheral in stored.peripherals where context.apps.isWoken(app, by: .peripheral) {
      recall(peripheral, of: app)
    }
    return app
  }

  private mutating func recall(_ stored: StoredApp.Central, of app: AppIndex) {
    let session = context.clients.reserveCentral(ofApp: context.apps[app].name)
    preserve(.central(session), as: stored.identifier, of: app)
    context.sessions.setStored(stored, of: session)
    context.sessions.setRestored(restored(stored), of: session)
  }

  private mutating func recall(_ stored: StoredApp.Peripheral, of app: AppIndex) {
    let session = context.clients.reservePeripheral(ofApp: context.apps[app].name)
    preserve(.peripheral(session), as: stored.identifier, of: app)
    context.sessions.setStored(stored, of: session)
    context.sessions.setRestored(restored(stored), of: session)
  }

  /// Adds a preserved session of a former run.
  private mutating func preserve(_ id: AnySession, as identifier: String, of app: AppIndex) {
    let counters = context.clients.counters(of: id)
    context.sessions.open(id, OpenSession(counters: counters, app: app, preservation: .preserved(identifier)))
  }

  /// Returns the state with which a session of a former run is restored. Its links have ended with that run, so that
  /// its peers are those that it connects to.
  mutating func restored(_ stored: StoredApp.Central) -> RestoredCentral {
    var peers: [RestoredCentral.RestoredPeer] = []
    for peer in stored.peers {
      guard let handle = context.enter(peer.address, isLinked: true) else { continue }
      if context.peers[handle].info.name == nil { _ = context.peers.setName(peer.name, of: handle) }
      peers.append(RestoredCentral.RestoredPeer(info: context.peers[handle].info, reconnects: peer.reconnects))
    }
    return RestoredCentral(peers: peers, scan: stored.scan)
  }

  /// Returns the state with which a session of a former run is restored. No central is subscribed after that run.
  func restored(_ stored: StoredApp.Peripheral) -> RestoredPeripheral {
    RestoredPeripheral(services: stored.services, subscriptions: [], advertising: stored.advertising)
  }

  /// The names of the apps with preserved sessions.
  var preservedApps: [String] {
    context.apps.indices.filter { context.sessions.hasPreserved($0) }.map { context.apps[$0].name }
  }

  /// Lets the sessions of a former run go on: the adapter is on.
  mutating func continueStoredSessions(at now: Instant) {
    for app in context.apps.indices {
      let isOn = permissions.state(for: app) == .poweredOn
      for session in context.sessions.centrals(of: app) {
        guard let stored = context.sessions.takeStored(of: session) else { continue }
        if isOn {
          centrals.goOn(stored, for: session, at: now, &context)
        } else {
          context.sessions.setRestored(nil, of: session)
        }
      }
      for session in context.sessions.peripherals(of: app) {
        guard let stored = context.sessions.takeStored(of: session) else { continue }
        if !isOn {
          context.sessions.setRestored(nil, of: session)
        } else if !peripherals.goOn(stored, for: session, at: now, &context) {
          // The app learns what is there. A service may be missing that another app has no room for.
          let state = peripherals.state(of: session, context)
          if context.sessions.isPreserved(.peripheral(session)) { context.sessions.setRestored(state, of: session) }
        }
      }
    }
  }
}
