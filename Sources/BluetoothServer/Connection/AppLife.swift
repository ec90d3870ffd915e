import BluetoothDaemon
import BluetoothWire
import Foundation
import NIOCore

/// The life of an app on all adapters of a server: the process that the server launches for an event of any of them, and
/// the pauses between launches. Confined to the server's event loop.
final class AppLife: @unchecked Sendable {
  // Unchecked: only code on the event loop uses the variables.

  /// The variables of the server that are not those of its apps.
  private static let ownVariables = [
    "NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "COREBLUETOOTH_WORLD", "COREBLUETOOTH_BONDS",
    "COREBLUETOOTH_PROMPTS",
  ]

  let name: String
  /// The command that launches the app; nil: none.
  let command: RegisteredApp?
  /// True if the app is in the foreground as far as the server has told the adapters. Of an app that does not run, the
  /// last value.
  private var isInFront = false
  /// The process that the server has launched, until it ends.
  private var child: (launch: Launch, start: NIODeadline)?
  /// True from the launch for an event until the launched process uses the server.
  private var isLaunching = false
  /// True from the end of the time for the launch until the launched process, which has been asked to end, has ended.
  private var isOverdue = false
  /// The end of the time in which the launched process must use the server, and each adapter whose events wait for it.
  private var launchTimer: Scheduled<Void>?
  /// True from the end of the launched process until an event can launch the app again.
  private var isPausing = false
  private var history = LaunchHistory()
  /// True if an event can launch the app, now or after a pause.
  var isLaunchable: Bool { command != nil && !history.hasGivenUp }
  private let gate: LoopGate
  // The app can outlive the server.
  private weak var apps: ServerApps?

  init(_ name: String, _ command: RegisteredApp?, of apps: ServerApps) {
    self.name = name
    self.command = command
    self.apps = apps
    gate = apps.gate
  }

  /// The app on each adapter that knows it, in the order of the adapters' first use of the app.
  private var members: [ServedApp] { apps?.members(named: name) ?? [] }

  /// True if a process of the app uses an adapter.
  private var isConnected: Bool { members.contains { !$0.connections.isEmpty } }

  // MARK: Processes

  /// Notes that a process begins to use an adapter that no process of the app uses.
  ///
  /// - Parameter member: the app on the adapter. It does not have the connection yet.
  /// - Returns: `isInFront`: true if the app is in the foreground; `isStart`: true if the user has started the process, so
  ///   that events can launch the app again.
  func begin(_ connection: ServerConnection, on member: ServedApp) -> (isInFront: Bool, isStart: Bool) {
    gate.check()
    let process = connection.identity?.process?.id
    let isChild = isChild(process)
    if isConnected {
      let isKnown = members.contains { $0.connections.contains { $0.identity?.process?.id == process } }
      guard !isKnown, !isChild, !connection.hasReturned else { return (isInFront: isInFront, isStart: false) }
      comeToFront()
      startedByUser(beside: member)
      return (isInFront: isInFront, isStart: true)
    }
    let isLaunched = isLaunching || (isChild && !connection.hasReturned)
    // A launched process that has used the server before has its former state.
    if isLaunching || isOverdue || !isLaunched { isInFront = !isLaunched && !connection.wasInBackground }
    isLaunching = false
    if isChild { isOverdue = false }
    if !isLaunched { startedByUser(beside: member) }
    return (isInFront: isInFront, isStart: !isLaunched)
  }

  /// True if a process is the one that the server has launched.
  private func isChild(_ process: Int32?) -> Bool { process != nil && process == child?.launch.process }

  /// Forgets failures: the user has started the app. The adapter of `member` learns of the start before.
  private func startedByUser(beside member: ServedApp) {
    history.reset()
    isPausing = false
    for other in members where other !== member { other.becomeLaunchable() }
  }

  /// Notes that a connection is added to others of the app on one adapter.
  func join(_ connection: ServerConnection) {
    gate.check()
    guard !connection.hasReturned, !isChild(connection.identity?.process?.id) else { return }
    // The user has started another process of the app. The events of a suspended app would never reach it.
    comeToFront()
  }

  private func comeToFront() {
    isInFront = true
    for member in members where !member.connections.isEmpty {
      member.host.send(.becameFrontmost(true), ofApp: name)
    }
  }

  /// Notes that the user has brought the app to the foreground, or has left it.
  func becameFrontmost(_ isInFront: Bool) {
    gate.check()
    self.isInFront = isInFront
  }

  /// Notes that the last connection on one adapter has ended. Events of the other adapters that have waited for the end
  /// of the app can launch it.
  func connectionsEnded() {
    gate.check()
    // The end of a launched process begins a pause.
    guard child == nil, !isPausing, !isConnected else { return }
    for member in members where member.isRefused { member.becomeLaunchable() }
  }

  /// Ends a launch and forgets failures: the app has been ended.
  func quit() {
    gate.check()
    if isLaunching { child?.launch.stop() }
    isLaunching = false
    endLaunchTime()
    isOverdue = false
    history.reset()
  }

  // MARK: Launching

  /// Launches the app for an event of an adapter, which no process of the app uses. Has no effect while a process of the
  /// app is being launched, which gets the event when it uses the adapter. An event of an adapter that a running process
  /// does not use waits for the process or for its end.
  func launch(for member: ServedApp) {
    gate.check()
    if isLaunching || (launchTimer != nil && isConnected) { return member.waitForProcess() }
    guard let command, let apps, child == nil, !isConnected else { return member.refuse() }
    // The end of the pause launches the app.
    guard !isPausing else { return member.terminate(.system) }
    do throws(ServerError) {
      let start = NIODeadline.now()
      let gate = gate
      let variables = environment(of: command, for: member.served, apps)
      let launch = try apps.setup.starter.start(command, environment: variables) { [weak self] hasFailed in
        guard let self else { return }
        gate.execute { self.childEnded(hasFailed) }
      }
      child = (launch, start)
      isLaunching = true
      member.waitForProcess()
      let adapter = member.served.name
      endLaunchTime()
      launchTimer = gate.loop.scheduleTask(in: apps.limits.launchTime) { [weak self] in
        guard let self else { return }
        launchTimeEnded(on: adapter)
      }
      ServerLog.tell("\(name) on \(adapter): launched for an event\(Self.text(launch))")
    } catch {
      ServerLog.warn("\(name) on \(member.served.name): \(error)")
      member.launchFailed()
      pause(after: .zero, hasFailed: true)
    }
  }

  /// Returns the variables of an app that is launched for an event of an adapter. The restore identifiers of all
  /// adapters are one a line, each once.
  private func environment(of command: RegisteredApp, for served: ServedAdapter, _ apps: ServerApps) -> [String: String]
  {
    var result = command.user?.environment ?? ProcessInfo.processInfo.environment
    for name in Self.ownVariables { result[name] = nil }
    if let path = apps.socketPath { result[LaunchVariable.adapter] = "server:\(path),\(served.name)" }
    result.merge(command.environment) { $1 }
    func lines(_ identifiers: [String]) -> String {
      var listed: Set<String> = []
      return identifiers.filter { identifier in
        !identifier.contains { $0.isNewline || $0 == "\0" } && listed.insert(identifier).inserted
      }.joined(separator: "\n")
    }
    let preserved = members.map(\.preserved)
    result[LaunchVariable.centrals] = lines(preserved.flatMap(\.centrals))
    result[LaunchVariable.peripherals] = lines(preserved.flatMap(\.peripherals))
    return result
  }

  private func endLaunchTime() {
    launchTimer?.cancel()
    launchTimer = nil
  }

  /// Asks the launched process to end if it has not used the server in time. The events of an adapter that the process
  /// does not use wait for its end.
  private func launchTimeEnded(on adapter: String) {
    launchTimer = nil
    guard isLaunching, let launch = child?.launch, let apps else {
      for member in members where member.isAwaiting { member.refuse() }
      return
    }
    isLaunching = false
    isOverdue = true
    let limit = apps.limits.launchTime.nanoseconds / 1_000_000_000
    ServerLog.warn(
      "\(name) on \(adapter): the launched program\(Self.text(launch)) has opened no manager within "
        + "\(limit) s; it is asked to end, and no event launches it before")
    launch.stop()
    for member in members where member.isAwaiting { member.launchFailed() }
  }

  /// Returns the process of a launch for a line of the log.
  private static func text(_ launch: Launch) -> String { launch.process.map { " (process \($0))" } ?? "" }

  private func childEnded(_ hasFailed: Bool) {
    guard let former = child else { return }
    child = nil
    endLaunchTime()
    // The end of its connections ends the app on the adapters that the process has used.
    for member in members where member.isAwaiting { member.launchFailed() }
    let neverCame = isLaunching || isOverdue
    isLaunching = false
    isOverdue = false
    pause(after: neverCame ? .zero : NIODeadline.now() - former.start, hasFailed: hasFailed || neverCame)
  }

  /// Launches the app for no event until a pause has passed.
  private func pause(after lifetime: TimeAmount, hasFailed: Bool) {
    isPausing = true
    switch history.ended(after: lifetime, hasFailed: hasFailed) {
    case .wait(let pause):
      for member in members { member.host.send(.launchPaused, ofApp: name) }
      let count = history.failures
      gate.loop.scheduleTask(in: pause) { [weak self] in
        // The user has started or ended the app meanwhile, or it has failed again.
        guard let self, history.failures == count, child == nil else { return }
        isPausing = false
        for member in members { member.becomeLaunchable() }
      }
    case .giveUp:
      for member in members { member.host.send(.launchable(false), ofApp: name) }
      ServerLog.warn(
        "\(name): has failed \(LaunchHistory.maximumFailures) times right after its launch; no event launches it until "
          + "its user starts it")
    }
  }
}
