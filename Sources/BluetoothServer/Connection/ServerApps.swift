import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// The settings of a server that concern apps.
package struct AppsSetup: Sendable {
  /// The apps that the server can launch.
  package var registered: [RegisteredApp] = []
  /// Returns the app of a client; nil: the client's sessions belong to no app.
  package var identify: @Sendable (ClientIdentity) -> AppIdentity?
  package var starter: any AppStarter = ProcessStarter()
  /// The questions to the user; nil: the adapters ask none by the server.
  package var questions: UserQuestions?
  /// Returns true if a client may change settings and monitor the adapters.
  package var mayControl: @Sendable (ClientIdentity) -> Bool = { $0.mayControl() }
  /// Called for each alert, on the server's event loop.
  package var onAlert: (@Sendable (AlertDescription) -> Void)?

  package init(_ registered: [RegisteredApp] = []) {
    self.registered = registered
    let identification = AppIdentification(registered)
    identify = { identification.identity(of: $0) }
  }
}

/// The apps of a server, on all its adapters, and what their user sees and decides. Confined to the server's event loop.
final class ServerApps: @unchecked Sendable {
  // Unchecked: only code on the event loop uses the variables.

  /// The maximum number of alerts that are kept; the oldest is dropped.
  private static let maximumAlerts = 500
  /// The maximum number of apps in a list, which is one message.
  private static let maximumListed = 1_000
  /// The maximum number of peers without a link and without apps in an answer, which is one message.
  private static let maximumIdlePeers = 100
  /// The maximum length of a usage description in a list of apps, in octets.
  private static let maximumUsageLength = 300

  /// A stored decision of the user on an app.
  private struct Decision {
    let name: String
    let served: ServedAdapter
    let isAllowed: Bool

    /// The app, for a list.
    var description: AppDescription {
      AppDescription(
        name: name, adapter: served.name, state: .terminated, processes: [], sessions: 0,
        access: isAllowed ? .allowed : .denied, isLaunchable: false)
    }
  }

  let setup: AppsSetup
  let gate: LoopGate
  let log: ClientLog
  /// The path of the socket for launched apps; nil: the server has none.
  var socketPath: String?
  let limits: ServerLimits
  let metrics = ServerMetrics()
  let adapters: [ServedAdapter]
  private var apps: [ServedApp] = []
  /// The lives of the apps in `apps`, by name.
  private var lives: [String: AppLife] = [:]
  /// The stored decisions on apps that are not in `apps`, because they have not run since the start of the server.
  private var decisions: [Decision] = []
  /// The names of the apps that have used an adapter in a former run, or that its user has decided about, the newest
  /// first, by the name of the adapter.
  private var formerApps: [String: [String]] = [:]
  /// The number of apps of each user on each adapter.
  private var counts: [String: Int] = [:]
  private var observers: [AdapterObserver] = []
  /// The stored decisions of the adapters whose directories have the identifiers of apps, by the name of the adapter.
  private var stored: [String: AppPermissions] = [:]
  /// The number of adapters that have not reported their stored decisions, or have not taken over those of others.
  private var unreadyCount = 0
  /// The work that waits until all adapters are ready.
  private var waiting: [() -> Void] = []
  private(set) var alerts: [AlertDescription] = []
  private var alertCount: UInt64 = 0
  /// The connections that get each new alert.
  private var followers: [ObjectIdentifier: ServerConnection] = [:]
  /// The questions about peers that an adapter has not answered, by number.
  private var questions: [UInt64: ([PeerUsage]) -> Void] = [:]
  private var questionCount: UInt64 = 0
  /// The changes of permissions that an adapter has not answered, by number.
  private var permissionChanges: [UInt64: PermissionChange] = [:]
  /// The names of the adapters that have not handled all requests at the end of the server.
  private var unfinished: [String] = []
  /// The monitors of the adapters, by name.
  private let monitors: [String: HCIMonitor]

  init(_ adapters: [ServedAdapter], _ setup: AppsSetup, _ limits: ServerLimits, on loop: any EventLoop) {
    self.adapters = adapters
    self.setup = setup
    self.limits = limits
    gate = LoopGate(loop)
    log = ClientLog(gate, limits)
    monitors = Dictionary(adapters.map { ($0.name, HCIMonitor()) }) { first, _ in first }
  }

  /// Begins to observe the adapters. Called once, on the event loop.
  func begin() {
    gate.check()
    setup.questions?.observe { [log] in Self.tell($0, log) }
    unreadyCount = adapters.count { $0.host != nil }
    for served in adapters {
      guard let host = served.host else { continue }
      let observer = AdapterObserver(gate) { [weak self] in self?.handle($0, of: served.name) }
      observers.append(observer)
      host.setSystemClient(observer)
      metrics.setLinks(0, of: served.name)
      // The daemon knows the stored permissions of these apps before it takes the first client.
      for command in setup.registered {
        apps.append(ServedApp(life(of: command.name, command), on: served, host, of: self))
      }
      host.send(.prepareForApps)
      let gate = gate
      served.adapter.directory.observeAlerts { [weak self] alert in
        guard let self else { return }
        let time = Int64((Date().timeIntervalSince1970 * 1_000).rounded())
        gate.execute { self.append(alert, time) }
      }
    }
  }

  /// Logs a question to the user, with the way to answer it.
  private static func tell(_ change: UserQuestions.Change, _ log: ClientLog) {
    guard case .asked(let question) = change else { return }
    switch question.subject {
    case .permission(let app, _):
      // The name can be a path, in which another user has chosen characters of the shell.
      let word = app.shellWord
      log.log(from: app) {
        ServerLog.tell("\(question.text). Answer with: ble settings allow \(word), or: ble settings deny \(word)")
      }
    case .notifications(let accessory):
      log.log(from: accessory) {
        ServerLog.tell("\(question.text). Answer with: ble settings notifications allow DEVICE, or: … deny DEVICE")
      }
    }
  }

  /// True if clients can use the adapters: all directories have the identifiers of apps, and all adapters have the
  /// decisions of the user on apps. Otherwise an app that is denied on one adapter could use another one.
  var isReady: Bool { unreadyCount == 0 }

  /// Calls `body` when `isReady` is true.
  func whenReady(_ body: @escaping () -> Void) {
    gate.check()
    waiting.append(body)
  }

  private func adapterBecameReady() {
    unreadyCount -= 1
    guard isReady else { return }
    let bodies = waiting
    waiting = []
    for body in bodies { body() }
  }

  // MARK: Apps

  /// Returns the app of a client on an adapter; nil: its user has too many.
  func app(_ name: String, ofUser user: UInt32, on served: ServedAdapter, _ host: any AppAdapter) -> ServedApp? {
    gate.check()
    if let known = app(name, on: served.name) { return known }
    let key = "\(user) \(served.name)"
    guard counts[key, default: 0] < limits.apps else { return nil }
    counts[key, default: 0] += 1
    return add(name, on: served, host)
  }

  /// Returns the app on each adapter that knows it.
  func members(named name: String) -> [ServedApp] { apps.filter { $0.name == name } }

  /// Returns the life of an app, which is the same on all adapters.
  ///
  /// - Parameter command: the command that launches the app; nil: none, or the app is known.
  private func life(of name: String, _ command: RegisteredApp? = nil) -> AppLife {
    if let known = lives[name] { return known }
    let life = AppLife(name, command, of: self)
    lives[name] = life
    return life
  }

  private func app(_ name: String, on adapter: String) -> ServedApp? {
    apps.first { $0.name == name && $0.served.name == adapter }
  }

  private func add(_ name: String, on served: ServedAdapter, _ host: any AppAdapter) -> ServedApp {
    let app = ServedApp(life(of: name), on: served, host, of: self)
    apps.append(app)
    decisions.removeAll { $0.name == name && $0.served.name == served.name }
    return app
  }

  /// Adds the apps of a former run of the server, so that its user can see them, end those with preserved sessions, and
  /// change the permissions of all. Only those with preserved sessions take a place among the apps of the adapter.
  private func addFormer(preserved: [String], _ permissions: AppPermissions, on adapter: String) {
    guard let served = adapters.first(where: { $0.name == adapter }), let host = served.host else { return }
    for name in preserved where app(name, on: adapter) == nil { _ = add(name, on: served, host) }
    decisions.removeAll { $0.served.name == adapter }
    let users = Set(permissions.users)
    formerApps[adapter] = permissions.users.reversed() + permissions.order.reversed().filter { !users.contains($0) }
    for name in permissions.order where app(name, on: adapter) == nil {
      guard let isAllowed = permissions[name] else { continue }
      decisions.append(Decision(name: name, served: served, isAllowed: isAllowed))
    }
  }

  /// Lets the adapters store the sessions of apps before the server ends them.
  func end() { for served in adapters { served.host?.send(.holdStoredApps) } }

  /// Waits until the adapters have handled all requests that were sent before. They store each decision of a user
  /// before they take the next request.
  ///
  /// - Returns: the names of the adapters that have not at the end of the time.
  func finish(within limit: TimeAmount) -> EventLoopFuture<[String]> {
    gate.check()
    let promise = gate.loop.makePromise(of: [String].self)
    let hosts = adapters.compactMap { served in served.host.map { (served.name, $0) } }
    guard !hosts.isEmpty else {
      promise.succeed([])
      return promise.futureResult
    }
    unfinished = hosts.map { $0.0 }
    let timer = gate.loop.scheduleTask(in: limit) { [self] in
      guard !unfinished.isEmpty else { return }
      promise.succeed(unfinished)
      unfinished = []
    }
    for (name, host) in hosts {
      afterRequests(to: host) { [self] in
        guard let index = unfinished.firstIndex(of: name) else { return }
        unfinished.remove(at: index)
        guard unfinished.isEmpty else { return }
        timer.cancel()
        promise.succeed([])
      }
    }
    return promise.futureResult
  }

  var descriptions: [AppDescription] {
    Array((apps.map(\.description) + decisions.map(\.description)).prefix(Self.maximumListed))
  }

  /// Changes the life of an app on all adapters. Calls `answer` when the adapters have handled the change, so that the
  /// next one finds the app in its new state: with the reason why that is not possible; nil: it is done.
  func perform(_ control: AppControl, on name: String, _ answer: @escaping (String?) -> Void) {
    gate.check()
    do throws(ServerError) {
      let found = try find(name)
      let failures = found.compactMap { $0.perform(control) }
      guard failures.count < found.count else { return answer(failures.first) }
      var unhandledCount = found.count
      for app in found {
        afterRequests(to: app.host) {
          unhandledCount -= 1
          if unhandledCount == 0 { answer(nil) }
        }
      }
    } catch {
      answer(error.description)
    }
  }

  // MARK: Permissions

  /// Allows or denies an app the use of all adapters, also one that has never used the server. Calls `answer` when the
  /// adapters have stored the decision: with the reason why that is not possible; nil: it is done.
  func setPermission(_ isAllowed: Bool, of name: String, _ answer: @escaping (String?) -> Void) {
    gate.check()
    do throws(ServerError) {
      let found = try meaning(of: name, takesNew: true)
      let change = PermissionChange(answer)
      for served in adapters {
        guard let host = served.host else { continue }
        if app(found, on: served.name) == nil { _ = add(found, on: served, host) }
        questionCount += 1
        change.unanswered.insert(questionCount)
        permissionChanges[questionCount] = change
        host.send(.setPermission(isAllowed, ofApp: found, number: questionCount))
      }
    } catch {
      answer(error.description)
    }
  }

  /// Gives each adapter the decisions on apps that only others have: those of former runs with other adapters. A denial
  /// has precedence. Decisions that differ stay as they are.
  private func shareDecisions() {
    var all = AppPermissions()
    for permissions in adapters.compactMap({ stored[$0.name] }) {
      for name in permissions.order {
        guard let isAllowed = permissions[name] else { continue }
        all.set(isAllowed && all[name] != false, for: name)
      }
    }
    for served in adapters {
      guard let host = served.host, let own = stored[served.name] else { continue }
      var missing = AppPermissions()
      for name in all.order where own[name] == nil {
        guard let isAllowed = all[name] else { continue }
        missing.set(isAllowed, for: name)
        guard app(name, on: served.name) == nil else { continue }
        decisions.append(Decision(name: name, served: served, isAllowed: isAllowed))
      }
      guard !missing.order.isEmpty else {
        adapterBecameReady()
        continue
      }
      host.send(.adoptPermissions(missing))
      afterRequests(to: host) { [weak self] in self?.adapterBecameReady() }
    }
  }

  /// Allows or denies a bonded accessory to get the notifications of the system. Returns the reason why that is not
  /// possible; nil: it is done.
  func setSharing(_ isAllowed: Bool, with text: String, on served: ServedAdapter) -> String? {
    guard let host = served.host else { return "this adapter shares no notifications" }
    let bonded = DeviceMatch.best(
      of: served.adapter.directory.bondedPeers.compactMap { peer in
        match(text, name: peer.peer.name, peer.address, peer.peer.identifier, on: served).map {
          (element: peer, match: $0)
        }
      })
    guard bonded.count < 2 else { return "there are \(bonded.count) bonded devices \"\(text)\": use an address" }
    guard let address = bonded.first?.address else { return "there is no bond with a device \"\(text)\"" }
    host.send(.setNotificationSharing(isAllowed, with: address))
    return nil
  }

  /// The open question for an app's permission: the app's own description of its use, which may be empty; nil: none.
  func question(of app: String, on adapter: String) -> String? {
    for question in setup.questions?.open ?? [] where question.adapter == adapter {
      if case .permission(app, let usage) = question.subject {
        return usage.map { UserQuestion.line($0).cut(toOctets: Self.maximumUsageLength) } ?? ""
      }
    }
    return nil
  }

  /// Returns the name of the app that a user means: by its name, or by the last part of its path if that is unique.
  ///
  /// - Parameter takesNew: true if the complete name of an app that has not used the server is permitted.
  private func meaning(of name: String, takesNew: Bool = false) throws(ServerError) -> String {
    let known = Set(apps.map(\.name) + decisions.map(\.name))
    let meant: Set<String> =
      known.contains(name) ? [name] : known.filter { $0.split(separator: "/").last.map { $0 == name } ?? false }
    guard meant.count < 2 else {
      throw ServerError("\"\(name)\" may be \(meant.sorted().joined(separator: " or "))")
    }
    if let found = meant.first { return found }
    if takesNew, AppIdentification.isCompleteName(name) { return name }
    let advice = "; the complete name of an app is its bundle identifier or the path of its program"
    throw ServerError("no app \"\(name)\" has used this server" + (takesNew ? advice : ""))
  }

  /// Returns the app that a user means, on the adapters that know it.
  private func find(_ name: String) throws(ServerError) -> [ServedApp] {
    let found = try meaning(of: name)
    for decision in decisions where decision.name == found {
      if let host = decision.served.host { _ = add(found, on: decision.served, host) }
    }
    return members(named: found)
  }

  // MARK: Alerts

  private func append(_ alert: Alert, _ time: Int64) {
    alertCount += 1
    let description = AlertDescription(number: alertCount, time: time, app: alert.app, text: alert.text)
    if alerts.count == Self.maximumAlerts { alerts.removeFirst() }
    alerts.append(description)
    setup.onAlert?(description)
    for follower in followers.values { follower.report(.alerts([description])) }
  }

  /// Reports the alerts so far to a connection, and the later ones if it follows them.
  func reportAlerts(to connection: ServerConnection, follows: Bool) {
    gate.check()
    connection.report(.alerts(alerts))
    if follows { followers[ObjectIdentifier(connection)] = connection }
  }

  func removeFollower(_ connection: ServerConnection) {
    gate.check()
    followers[ObjectIdentifier(connection)] = nil
  }

  // MARK: Monitors

  /// Passes the HCI packets of an adapter to a client from now on.
  func monitor(_ outbox: Outbox, on served: ServedAdapter) {
    gate.check()
    guard let monitor = monitors[served.name], monitor.add(outbox) else { return }
    served.host?.setHCIObserver(monitor)
  }

  /// Passes a client no more packets of an adapter. Has no effect on a client that gets none.
  func endMonitor(_ outbox: Outbox, on served: ServedAdapter) {
    gate.check()
    guard let monitor = monitors[served.name], monitor.remove(outbox) else { return }
    served.host?.setHCIObserver(nil)
  }

  // MARK: Peers

  /// Calls `answer` with the uses of the peers that have a name, an address or, for an app, an identifier. If there are no
  /// uses, these are the known peers, without a link and without apps.
  func explain(_ text: String, on served: ServedAdapter, _ answer: @escaping ([PeerUsage]) -> Void) {
    readUses(on: served) { [self] usages in
      let found = find(text, usages, on: served)
      guard found.isEmpty, let identifier = formerIdentifier(text, on: served) else { return answer(found) }
      answer(find(identifier.digits, usages, on: served))
    }
  }

  /// Calls `answer` with the uses of the peers that have a link or for which an app waits.
  func readUses(on served: ServedAdapter, _ answer: @escaping ([PeerUsage]) -> Void) {
    gate.check()
    guard let host = served.host else { return answer([]) }
    questionCount += 1
    questions[questionCount] = answer
    host.send(.reportLinks(questionCount))
  }

  /// Returns the uses of the peers that a text names best. A known peer without uses is one that nothing uses.
  private func find(_ text: String, _ usages: [PeerUsage], on served: ServedAdapter) -> [PeerUsage] {
    let used = usages.compactMap { usage in
      match(text, name: usage.name, usage.address, usage.identifier, on: served).map {
        (element: usage, match: $0)
      }
    }
    let addresses = Set(usages.map(\.address))
    let idle = served.adapter.directory.peers(named: text).filter { !addresses.contains($0.element.address) }.map {
      let (peer, address) = $0.element
      let usage = PeerUsage(
        identifier: peer.identifier, address: address, name: peer.name, isLinked: false, isEnding: false, users: [])
      return (element: usage, match: $0.match)
    }
    return Array(DeviceMatch.best(of: used + idle).prefix(max(used.count, Self.maximumIdlePeers)))
  }

  /// Returns the adapter's identifier behind one that an app may have saved in a former run; nil: none.
  private func formerIdentifier(_ text: String, on served: ServedAdapter) -> PeerIdentifier? {
    let names = apps.filter { $0.served.name == served.name }.map(\.name)
    let former = formerApps[served.name, default: []].filter { !names.contains($0) }
    return served.adapter.directory.adapterIdentifier(text, ofApps: names + former)
  }

  /// Returns the way in which a text names a peer, by which the adapter or an app knows it; nil: it does not.
  private func match(
    _ text: String, name: String?, _ address: DeviceAddress, _ identifier: PeerIdentifier, on served: ServedAdapter
  ) -> DeviceMatch? {
    // With or without the type of the address, which follows its digits.
    let title = "\(address)"
    let forms = [title, String(title.prefix(while: { $0 != " " }))]
    var isIdentity = forms.contains { $0.caseInsensitiveCompare(text) == .orderedSame }
    if !isIdentity {
      let names = apps.filter { $0.served.name == served.name }.map(\.name)
      let identifiers = names.map { served.adapter.directory.identifier(identifier, ofApp: $0) } + [identifier]
      isIdentity = identifiers.contains { $0.digits.caseInsensitiveCompare(text) == .orderedSame }
    }
    return DeviceMatch(text, name: name, isIdentity: isIdentity)
  }

  /// Calls `body` when the daemon has handled all requests that were sent before.
  func afterRequests(to host: any AppAdapter, _ body: @escaping () -> Void) {
    gate.check()
    questionCount += 1
    questions[questionCount] = { _ in body() }
    host.send(.reportLinks(questionCount))
  }

  private func handle(_ event: SystemEvent, of adapter: String) {
    gate.check()
    switch event {
    case .links(let number, let usages): questions.removeValue(forKey: number)?(usages)
    case .pairingEnded: break
    case .linkBegan(let count): metrics.setLinks(count, of: adapter)
    case .linkEnded(let reason, let count):
      metrics.setLinks(count, of: adapter)
      metrics.noteLinkEnd(reason, of: adapter)
    case .permissionSet(let number, let failure):
      permissionChanges.removeValue(forKey: number)?.take(failure, of: number)
    case .readyForApps(let preserved, let permissions):
      addFormer(preserved: preserved, permissions, on: adapter)
      stored[adapter] = permissions
      if stored.count == adapters.count(where: { $0.host != nil }) { shareDecisions() }
    }
  }
}
