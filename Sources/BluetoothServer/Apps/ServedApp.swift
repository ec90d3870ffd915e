import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothWire
import NIOCore

/// An app on one adapter of a server: its processes, and its life as the daemon sees it. Confined to the server's event
/// loop, except `receive`.
final class ServedApp: AppClient, @unchecked Sendable {
  // Unchecked: only code on the event loop uses the variables; `receive` uses constants.

  let name: String
  let served: ServedAdapter
  let host: any AppAdapter
  /// The command that launches the app; nil: none.
  let command: RegisteredApp?
  /// The connections of the app's processes with sessions on this adapter.
  private(set) var connections: [ServerConnection] = []
  /// The state as the daemon has reported it last.
  private(set) var state = AppRunState.terminated
  /// The process that the server has launched, until it ends.
  private var child: (process: Int32, start: NIODeadline)?
  /// True from the launch for an event until the launched process uses the server.
  private var isLaunching = false
  /// True from the end of the time for the launch until the launched process, which has been asked to end, has ended.
  private var isOverdue = false
  /// The end of the time in which the launched process must use the server.
  private var launchTimer: Scheduled<Void>?
  private var history = LaunchHistory()
  /// The number of times that the app has been ended and the daemon has not handled it. A launch that it reports until
  /// then is void.
  private var pendingEnds = 0
  private let gate: LoopGate
  private let starter: any AppStarter
  // An adapter can call the app after the end of the server.
  private weak var apps: ServerApps?

  init(_ name: String, on served: ServedAdapter, _ host: any AppAdapter, _ command: RegisteredApp?, of apps: ServerApps)
  {
    self.name = name
    self.served = served
    self.host = host
    self.command = command
    self.apps = apps
    gate = apps.gate
    starter = apps.setup.starter
    host.setClient(self, ofApp: name)
    // An app with sessions of a former run of the server can't be launched before.
    host.send(.launchable(command != nil), ofApp: name)
  }

  /// The app, for a list.
  var description: AppDescription {
    let processes = connections.compactMap { $0.identity?.process.map { UInt32(clamping: $0.id) } }
    return AppDescription(
      name: name, adapter: served.name, state: state, processes: Array(Set(processes)).sorted(),
      sessions: connections.reduce(0) { $0 + UInt32($1.sessionCount) },
      access: served.adapter.directory.access(ofApp: name), hasCommand: command != nil,
      question: apps?.question(of: name, on: served.name))
  }

  // MARK: Processes

  /// Adds a connection, which is about to open its first session. A process that has had a connection before gets no
  /// restored state.
  func add(_ connection: ServerConnection, _ manifest: AppManifest) {
    if connections.isEmpty {
      if connection.hasReturned { host.send(.terminated(.user), ofApp: name) }
      let isLate = isOverdue && connection.identity?.process?.id == child?.process
      let isLaunched = isLaunching || isLate
      host.send(.launched(manifest, isInFront: !isLaunched && !connection.wasInBackground), ofApp: name)
      if !isLaunched {
        history.reset()
        if command != nil { host.send(.launchable(true), ofApp: name) }
      }
      endLaunch()
      if isLate { isOverdue = false }
    } else if !connection.hasReturned, connection.identity?.process?.id != child?.process {
      // The user has started another process of the app. The events of a suspended app would never reach it.
      host.send(.becameFrontmost(true), ofApp: name)
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
    guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
    connections.remove(at: index)
    guard connections.isEmpty else { return }
    if isLost { connection.returnEvents() }
    host.send(.terminated(isLost ? .system : .user), ofApp: name)
  }

  // MARK: Life

  /// Changes the life of the app as its user does. Returns the reason why that is not possible; nil: it is done.
  func perform(_ control: AppControl) -> String? {
    switch control {
    case .quit: quit("the user has ended this app", byUser: true)
    case .foreground, .background, .suspend:
      guard !connections.isEmpty else { return "\(name) does not run" }
      switch control {
      case .foreground: host.send(.becameFrontmost(true), ofApp: name)
      case .background: host.send(.becameFrontmost(false), ofApp: name)
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
    if isLaunching, let child { starter.stop(child.process) }
    endLaunch()
    isOverdue = false
    history.reset()
    host.send(.terminated(.user), ofApp: name)
    pendingEnds += 1
    apps?.afterRequests(to: host) { [weak self] in self?.pendingEnds -= 1 }
  }

  func receive(_ event: AppEvent) { gate.execute { self.handle(event) } }

  private func handle(_ event: AppEvent) {
    switch event {
    case .stateChanged(let new):
      state = new
      ServerLog.trace("\(name) on \(served.name): \(new)")
      for connection in connections { connection.report(.stateChanged(new)) }
    case .launch(let identifiers): launch(identifiers)
    case .stop(let reason): quit(reason, byUser: false)
    }
  }

  // MARK: Launching

  private func launch(_ identifiers: RestoreIdentifiers) {
    // A process of the app has come meanwhile.
    guard connections.isEmpty, !isLaunching, pendingEnds == 0 else { return }
    guard let command, child == nil, let apps else {
      // The end of a former process that has lost its connection begins a pause, after which events launch the app.
      host.send(.launchable(false), ofApp: name)
      return host.send(.terminated(.system), ofApp: name)
    }
    do throws(ServerError) {
      let start = NIODeadline.now()
      let environment = apps.environment(of: command, on: served, identifiers)
      let gate = gate
      let process = try starter.start(command, environment: environment) { [weak self] hasFailed in
        guard let self else { return }
        gate.execute { self.childEnded(hasFailed) }
      }
      child = (process, start)
      isLaunching = true
      launchTimer = gate.loop.scheduleTask(in: apps.limits.launchTime) { [weak self] in
        guard let self else { return }
        launchTimeEnded()
      }
      ServerLog.tell("\(name) on \(served.name): launched for an event (process \(process))")
    } catch {
      ServerLog.warn("\(name) on \(served.name): \(error)")
      launchFailed()
      pause(after: .zero, hasFailed: true)
    }
  }

  /// Ends the time for the launch.
  private func endLaunch() {
    isLaunching = false
    launchTimer?.cancel()
    launchTimer = nil
  }

  /// Asks the launched process, which has not used the server in time, to end.
  private func launchTimeEnded() {
    guard isLaunching, let child, let apps else { return }
    endLaunch()
    isOverdue = true
    let limit = apps.limits.launchTime.nanoseconds / 1_000_000_000
    ServerLog.warn(
      "\(name) on \(served.name): the launched program (process \(child.process)) has opened no manager within "
        + "\(limit) s; it is asked to end, and no event launches it before")
    starter.stop(child.process)
    launchFailed()
  }

  /// Tells the daemon that the launched app does not run. The daemon fails the requests that have waited for it.
  private func launchFailed() {
    host.send(.launchable(false), ofApp: name)
    host.send(.terminated(.system), ofApp: name)
  }

  private func childEnded(_ hasFailed: Bool) {
    guard let former = child else { return }
    child = nil
    // Otherwise the end of the connection ends the app.
    if isLaunching { launchFailed() }
    let neverCame = isLaunching || isOverdue
    endLaunch()
    isOverdue = false
    pause(after: neverCame ? .zero : NIODeadline.now() - former.start, hasFailed: hasFailed || neverCame)
  }

  /// Launches the app for no event until a pause has passed.
  private func pause(after lifetime: TimeAmount, hasFailed: Bool) {
    switch history.ended(after: lifetime, hasFailed: hasFailed) {
    case .wait(let pause):
      host.send(.launchPaused, ofApp: name)
      let count = history.failures
      gate.loop.scheduleTask(in: pause) { [weak self] in
        // The user has started or ended the app meanwhile, or it has failed again.
        guard let self, history.failures == count, child == nil else { return }
        host.send(.launchable(true), ofApp: name)
      }
    case .giveUp:
      host.send(.launchable(false), ofApp: name)
      ServerLog.warn(
        "\(name) on \(served.name): has failed \(LaunchHistory.maximumFailures) times right after its launch; no event "
          + "launches it until its user starts it")
    }
  }
}
