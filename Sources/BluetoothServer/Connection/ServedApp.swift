import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothWire
import NIOCore

/// An app on one adapter of a server: the processes that use the adapter, and the life of the app as the daemon sees it.
/// `AppLife` is the life on all adapters. Confined to the server's event loop, except `receive`.
final class ServedApp: AppClient, @unchecked Sendable {
  // Unchecked: only code on the event loop uses the variables; `receive` uses constants.

  let name: String
  let served: ServedAdapter
  let host: any AppAdapter
  private let life: AppLife
  /// The connections of the app's processes with sessions on this adapter.
  private(set) var connections: [ServerConnection] = []
  /// The state as the daemon has reported it last.
  private(set) var state = AppRunState.terminated
  /// The identifiers of the preserved sessions, as the daemon has reported them last.
  private(set) var preserved = RestoreIdentifiers()
  /// True if the daemon takes the app for launched, and no process of the app has used this adapter yet.
  private(set) var isAwaiting = false
  /// True if events of this adapter wait for the end of a process that does not use it.
  private(set) var isRefused = false
  /// The number of times that the app has been ended and the daemon has not handled it. A launch that it reports until
  /// then is void.
  private var pendingEnds = 0
  private let gate: LoopGate
  // An adapter can call the app after the end of the server.
  private weak var apps: ServerApps?

  init(_ life: AppLife, on served: ServedAdapter, _ host: any AppAdapter, of apps: ServerApps) {
    name = life.name
    self.life = life
    self.served = served
    self.host = host
    self.apps = apps
    gate = apps.gate
    host.setClient(self, ofApp: name)
    // An app with sessions of a former run of the server can't be launched before.
    host.send(.launchable(life.command != nil), ofApp: name)
    host.send(.reportPreserved, ofApp: name)
  }

  /// The app, for a list.
  var description: AppDescription {
    let processes = connections.compactMap { $0.identity?.process.map { UInt32(clamping: $0.id) } }
    return AppDescription(
      name: name, adapter: served.name, state: state, processes: Array(Set(processes)).sorted(),
      sessions: connections.reduce(0) { $0 + UInt32($1.sessionCount) },
      access: served.adapter.directory.access(ofApp: name), isLaunchable: life.isLaunchable,
      question: apps?.question(of: name, on: served.name))
  }

  // MARK: Processes

  /// Adds a connection, which is about to open its first session. A process that has had a connection before gets no
  /// restored state.
  func add(_ connection: ServerConnection, _ manifest: AppManifest) {
    gate.check()
    if connections.isEmpty {
      if connection.hasReturned { terminate(.user) }
      let (isInFront, isStart) = life.begin(connection, on: self)
      host.send(.launched(manifest, isInFront: isInFront), ofApp: name)
      isAwaiting = false
      if isRefused || isStart { becomeLaunchable() }
    } else {
      life.join(connection)
    }
    connections.append(connection)
    // The process gets each change. It must know that it has been launched in the background.
    if state == .background || state == .suspended { connection.report(.stateChanged(state)) }
  }

  /// Removes a connection. The app ends with its last one; then the daemon decides about the sessions, and closing them
  /// has no effect.
  ///
  /// - Parameter isLost: true if the process may have ended; false if the server has closed the connection.
  func remove(_ connection: ServerConnection, isLost: Bool) {
    gate.check()
    guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
    connections.remove(at: index)
    guard connections.isEmpty else { return }
    if isLost { connection.returnEvents() }
    terminate(isLost ? .system : .user)
    life.connectionsEnded()
  }

  // MARK: Life

  /// Changes the life of the app as its user does. Returns the reason why that is not possible; nil: it is done.
  func perform(_ control: AppControl) -> String? {
    gate.check()
    switch control {
    case .quit: quit("the user has ended this app", byUser: true)
    case .foreground, .background, .suspend:
      guard !connections.isEmpty else { return "\(name) does not run" }
      switch control {
      case .foreground, .background:
        life.becameFrontmost(control == .foreground)
        host.send(.becameFrontmost(control == .foreground), ofApp: name)
      case .suspend where state == .foreground: return "\(name) is in the foreground: send it to the background first"
      case .suspend: host.send(.suspended, ofApp: name)
      case .quit: break
      }
    }
    return nil
  }

  /// Ends the app: nothing of it is restored, and no event launches it.
  private func quit(_ reason: String, byUser: Bool) {
    ServerLog.tell("\(name) on \(served.name): ended: \(reason)")
    let former = connections
    connections.removeAll()
    for connection in former { connection.stop(reason, byUser: byUser) }
    life.quit()
    isAwaiting = false
    terminate(.user)
    pendingEnds += 1
    apps?.afterRequests(to: host) { [weak self] in self?.pendingEnds -= 1 }
    life.connectionsEnded()
  }

  func receive(_ event: AppEvent) { gate.execute { self.handle(event) } }

  private func handle(_ event: AppEvent) {
    gate.check()
    switch event {
    case .stateChanged(let new):
      state = new
      ServerLog.trace("\(name) on \(served.name): \(new)")
      for connection in connections { connection.report(.stateChanged(new)) }
    case .launch(let identifiers): launch(identifiers)
    case .preserved(let identifiers): preserved = identifiers
    case .stop(let reason): quit(reason, byUser: false)
    // A server restarts no device.
    case .ended: break
    }
  }

  // MARK: Launching

  private func launch(_ identifiers: RestoreIdentifiers) {
    preserved = identifiers
    // A process of the app has come meanwhile.
    guard connections.isEmpty, pendingEnds == 0 else { return }
    life.launch(for: self)
  }

  /// Lets the events that have launched the app wait for the launched process to use this adapter.
  func waitForProcess() {
    gate.check()
    isAwaiting = true
  }

  /// Tells the daemon that the launched app does not run. The daemon fails the requests that have waited for it.
  func launchFailed() {
    gate.check()
    isAwaiting = false
    host.send(.launchable(false), ofApp: name)
    terminate(.system)
  }

  /// Lets the events that would launch the app wait for the end of the process that runs and does not use this adapter.
  func refuse() {
    launchFailed()
    isRefused = true
  }

  /// Lets events launch the app, also those that have waited for that.
  func becomeLaunchable() {
    gate.check()
    isRefused = false
    if life.command != nil { host.send(.launchable(true), ofApp: name) }
  }

  /// Ends the app on this adapter.
  func terminate(_ cause: AppTermination) {
    gate.check()
    host.send(.terminated(cause), ofApp: name)
    host.send(.reportPreserved, ofApp: name)
  }
}
