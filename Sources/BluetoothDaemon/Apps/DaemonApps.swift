// Design: the life of apps
//
// A session can belong to an app (`SessionOwner`): then the daemon knows whether the app is in the foreground, in the
// background, suspended or terminated (`DaemonApps`), and the `PlatformPolicy` of the device decides what that means.
// Sessions without an owner have no life and no limits, and cost nothing: `DaemonContext.deliver` looks at the app of a
// session only if there is one.
//
// - Events. An event for an app that does not run goes to its `WaitingEvents`, unless it runs the app
//   (`DaemonContext.admits`). The results of what the system itself does on a link (the peer's name, the MTU) run no
//   app (`CentralEvent.runsApp`). Waiting events replace what they make obsolete, so a peer can't make them grow. Each
//   input of the daemon ends with `settleApps`, which gives the apps that got events their time; a deadline of the
//   daemon suspends them.
// - Suspension. The daemon holds whatever could have an effect for a suspended app. `ChannelPipe` shows such an app
//   neither octets nor room nor an end, so no credit goes back to the peer; commands wait in `App.heldCommands`. Each
//   change of the phase passes `DaemonContext.setPhase`, so what runs an app runs all of it. In a world, `AppView` also
//   holds the sleeps of the app's tasks on the world's clock.
// - Radio. Each broker asks for the `RadioUse` of a session: full, reduced or none. `ScanBroker` and `AdvertisingState`
//   combine what remains, so the scan of a foreground app serves all others, and the advertising interval grows only if
//   no advertiser is in the foreground.
// - Requests. `PeripheralBroker` refuses a request for an app that does not run if the request neither runs nor
//   launches it (`canAsk`). A request that has waited for a launch in vain is refused then (`refuseVainRequests`),
//   because an unanswered one would end the link of all apps. Updates of an app in the background wait in `LateUpdates`
//   for their time and keep the credits meanwhile, so that `updateValue` returns false.
// - Preservation. When the system terminates an app, a session with a restore identifier stays as it is, with its
//   links, requests of a central manager and subscriptions, and loses its client only. Requests of centrals that the
//   process had not answered are refused. The daemon keeps a snapshot (`RestoredCentral`, `RestoredPeripheral`) for
//   `willRestoreState`: what happens afterwards waits as events, so nothing is lost or told twice. The next event
//   launches the app. A new session with the same identifier takes over the preserved one: it keeps its own identifier
//   and only points to the session that has the state (`SessionPreservation.uses`), and `LocalSessions.attach` gives
//   that session its new client. The former client has no effect any more, even if a test retains it.
// - Crashes. The daemon of a server stores what would be preserved if all apps ended now (`Daemon+StoredApps`): after
//   an input that can have changed it, at most once in a second, and not for values and requests. It compares the whole
//   with what is stored, so no part has to report its changes in detail; a flag (`DaemonApps.mayDifferFromStored`)
//   saves the comparison. The next daemon makes the preserved sessions again before any request, without a client
//   (`LocalSessions.reserveCentral`). They keep what they had (`SessionTable.Central.stored`) until the adapter is on,
//   see no state before, and then connect, scan and publish. Links are stored as connections to establish, since nothing
//   of a link outlives the controller's reset. Apps that were running are stored, too, because they can end with the
//   server; their processes have 15 s to come back (`App.mayReturn`), so that none is launched twice. A server that stops
//   first lets the daemon store (`holdStoredApps`), because it ends all sessions then.
// - Alerts. Events of suspended apps that asked for alerts are collected for one input (`AppAlerts`), because of
//   several apps only the one that was in front last alerts the user.
// - Shares. `AppShares` limits the links, the advertising sets and the attributes of each app of a server. It is
//   checked where a session asks for them (`mayLink`, `mayTake`), and counts what is there, so there is no counter that
//   could differ from it.
// - Input devices. `InputDevices` lists the bonded peers to which the system connects by itself. It is no session:
//   `CentralBroker` asks it wherever the users of a peer decide about a link.
// - Notifications. `NotificationBroker` serves the Apple Notification Center Service from the host's database. Its
//   state, `NotificationProvider`, exists only once there is a bond or a notification. `NotificationStore` has the
//   notifications and answers commands; the lab's `NotifyingPhone` uses it, too.

import BluetoothWire
import DequeModule

/// The place of an app in the `DaemonApps`. It is valid as long as the table exists.
struct AppIndex: Hashable, Comparable {
  fileprivate let position: Int

  static func < (left: AppIndex, right: AppIndex) -> Bool { left.position < right.position }
}

/// The part of the budget of wakes that an event takes.
enum WakeLimit {
  /// The event runs the app in any case.
  case none
  case counted
  /// A value of this attribute, with which the app is told of the limit.
  case value(PeerHandle, RemoteAttributeID)
}

/// The effect of an event on its app.
enum Admission {
  /// The app runs and gets the event.
  case runs
  /// The event waits, because of a rule of the platform or because nothing can launch the app.
  case waits(PolicyRule?)
  /// The suspended app begins to run.
  case wakes
  /// The terminated app is launched.
  case launches
}

/// An app of this adapter, as the daemon knows it.
struct App {
  enum Phase: Equatable {
    case foreground
    /// The app is suspended at the given time; nil: the time follows from the events of this input.
    case background(until: Instant?)
    case suspended
    case terminated
  }

  /// The time for which the process of an app that ran when a former daemon ended can come back. A process looks for
  /// its server every 10 s at least.
  static let returnTime = TimeSpan.seconds(15)
  /// The time in which a launched app can create its managers if the policy suspends no app. The preserved sessions without
  /// a manager then end, as they do at the suspension under another policy.
  static let restorationTime = TimeSpan.seconds(10)

  let name: String
  fileprivate(set) var manifest: AppManifest
  fileprivate(set) var phase: Phase
  /// The events of an app that does not run, and of sessions whose managers do not exist yet.
  var events = WaitingEvents()
  /// The channels that are held because the app is suspended, also those that have ended meanwhile.
  fileprivate var heldChannels: [ChannelPipe] = []
  /// The commands that have arrived while the app is suspended, such as those of its timers. They wait until it runs.
  fileprivate var heldCommands: [DaemonRequest] = []
  /// True if the process of the app, which is about to end, has not handled all events: they launch the app again.
  fileprivate(set) var hasUnhandledEvents = false
  /// True if the process that runs the app can launch it for an event.
  fileprivate(set) var isLaunchable = true
  /// True if the process that runs the app can launch it after a pause. `isLaunchable` is false then.
  fileprivate(set) var isLaunchPaused = false
  /// True if the app ran when a former daemon ended, and its process can still come back. No event launches it then.
  fileprivate(set) var mayReturn = false
  /// The time from which the process is not expected any more; nil: the adapter has not been on or off yet.
  fileprivate(set) var returnDeadline: Instant?
  /// The end of `restorationTime`; nil: the policy suspends apps, or the app has had no preserved session at its launch.
  fileprivate(set) var restorationDeadline: Instant?
  /// True if the user has denied the app the use of Bluetooth. No event launches it then.
  fileprivate(set) var isDenied = false
  /// True if an event since the last `settle` has extended the time for which the app runs.
  fileprivate var hadEvent = false
  /// True if links of the app keep it running: it has not been suspended since it went to the background.
  fileprivate(set) var staysWithLinks = false
  /// True if a link keeps the app running now.
  fileprivate(set) var isKept = false
  /// The number of the app's latest period in the foreground, counted over all apps.
  fileprivate(set) var lastInFront = 0
  /// The times at which the events that have run the suspended app count no longer.
  fileprivate var wakeEnds = Deque<Instant>()
  /// The number of such events since the last `settle`.
  fileprivate var newWakes = 0
  /// The rules of the platform's policy about which the log has a line.
  fileprivate var notedRules = PolicyRules()

  /// The state for the process that runs the app.
  var state: AppRunState {
    switch phase {
    case .foreground: .foreground
    case .background: .background
    case .suspended: .suspended
    case .terminated: .terminated
    }
  }

  /// The number of events that have run the suspended app and count.
  var wakeCount: Int { wakeEnds.count + newWakes }

  var isInBackground: Bool { phase != .foreground }

  /// The maximum number of `heldCommands`; further ones have no effect.
  static let maximumHeldCommands = 1_024

  /// True if the app does not run.
  var isAsleep: Bool { phase == .suspended || phase == .terminated }

  /// True if an event launches the terminated app now.
  var isLaunchedByEvents: Bool { isLaunchable && !mayReturn && !isDenied }

  /// True if a client's request can wait for the launch of the terminated app.
  var canBeLaunched: Bool { isLaunchable || isLaunchPaused }

  // MARK: Process

  mutating func setManifest(_ manifest: AppManifest) { self.manifest = manifest }

  mutating func setDenied(_ isDenied: Bool) { self.isDenied = isDenied }

  /// Notes that an app can be launched for an event, or can't.
  mutating func setLaunchable(_ isLaunchable: Bool) {
    self.isLaunchable = isLaunchable
    isLaunchPaused = false
  }

  /// Notes that an app can't be launched for an event before `setLaunchable`, which follows soon.
  mutating func pauseLaunches() {
    isLaunchable = false
    isLaunchPaused = true
  }

  /// Notes that the app had sessions in a former run. The process of the server says if it can launch the app.
  mutating func recall(wasRunning: Bool) {
    isLaunchable = false
    mayReturn = wasRunning
  }

  /// Notes that the process of a former run has come, or does not come any more.
  fileprivate mutating func endReturn() {
    mayReturn = false
    returnDeadline = nil
  }

  /// Begins the time in which the launched app can create its managers.
  mutating func beginRestoration(at now: Instant) { restorationDeadline = now + Self.restorationTime }

  /// Returns true, once, if the time in which the launched app can create its managers has ended.
  mutating func endsRestoration(at now: Instant) -> Bool {
    guard let end = restorationDeadline, end <= now else { return false }
    restorationDeadline = nil
    return true
  }

  /// Notes that the process of the app, which is about to end, has not handled all events.
  mutating func noteUnhandledEvents() { hasUnhandledEvents = true }

  /// Returns true, once, if the former process of the app has not handled all events.
  mutating func takeUnhandledEvents() -> Bool {
    defer { hasUnhandledEvents = false }
    return hasUnhandledEvents
  }

  // MARK: Background

  fileprivate mutating func change(to phase: Phase) {
    self.phase = phase
    if state != .background {
      staysWithLinks = false
      isKept = false
    }
    if phase == .terminated { restorationDeadline = nil } else { endReturn() }
  }

  /// Lets links of the app keep it running.
  mutating func stayWithLinks(_ staysWithLinks: Bool) { self.staysWithLinks = staysWithLinks }

  /// Sets the time until which the app runs that has got an event, or whose links have changed, in this input.
  ///
  /// - Parameter hasLink: true if links keep the app running and it has one.
  mutating func settle(_ limits: PlatformPolicy.BackgroundLimits?, hasLink: Bool, at now: Instant) {
    let hadEvent = hadEvent
    self.hadEvent = false
    guard let limits else { return }
    keep(limits, hasLink: hasLink, at: now)
    guard hadEvent, case .background(let former) = phase else { return }
    let end = now + TimeSpan(limits.wakeBudgetPeriod)
    for _ in 0..<newWakes { wakeEnds.append(end) }
    newWakes = 0
    guard !isKept else { return }
    let until = now + TimeSpan(limits.eventRunTime)
    phase = .background(until: max(former ?? until, until))
  }

  /// Keeps an app running as long as it has a link. The end of its last link begins the time until it is suspended.
  private mutating func keep(_ limits: PlatformPolicy.BackgroundLimits, hasLink: Bool, at now: Instant) {
    guard staysWithLinks, hasLink != isKept else { return }
    isKept.toggle()
    phase = .background(until: isKept ? nil : now + TimeSpan(limits.idleRunTime))
  }

  /// Takes a wake from the budget of the app. Returns false if none is left.
  fileprivate mutating func takeWake(_ budget: Int, _ limit: WakeLimit, reportTo session: CentralSessionID?) -> Bool {
    let isExceeded = wakeCount >= budget
    switch limit {
    case .none: return true
    case .counted: break
    case .value(let peer, let attribute):
      if let session, isExceeded || wakeCount == budget - 1 {
        events.add(.valueLimitReached(peer, attribute, isExceeded: isExceeded), for: session)
      }
    }
    guard !isExceeded else { return false }
    // The time is entered when the input has been handled.
    newWakes += 1
    return true
  }

  /// Forgets the events that count no longer.
  mutating func forgetWakes(at now: Instant) {
    while let first = wakeEnds.first, first <= now { wakeEnds.removeFirst() }
  }

  // MARK: Suspension

  /// Holds a channel while the app is suspended.
  mutating func hold(_ channel: ChannelPipe) {
    channel.setHeld(true)
    heldChannels.append(channel)
  }

  /// Removes and returns the channels that have been held.
  mutating func takeHeldChannels() -> [ChannelPipe] {
    defer { heldChannels.removeAll() }
    return heldChannels
  }

  /// Holds a command while the app is suspended. Returns false if there are too many.
  mutating func hold(_ command: DaemonRequest) -> Bool {
    guard heldCommands.count < Self.maximumHeldCommands else { return false }
    heldCommands.append(command)
    return true
  }
}

/// The apps of one adapter.
struct DaemonApps {
  /// The maximum number of apps. Sessions of further apps belong to no app.
  static let limit = 1_024

  private var apps: [App] = []
  private var byName: [String: AppIndex] = [:]
  private var foregroundCount = 0
  /// True if an app has something to settle.
  private(set) var needsSettling = false
  /// The commands of apps that have been suspended when they arrived and run now.
  private var releasedCommands = Deque<DaemonRequest>()
  /// True if what is stored of apps may differ from what they have.
  private(set) var mayDifferFromStored = false
  private var notes = PolicyNotes()
  /// The events that run suspended apps. A copy of the rule, because the policy is large.
  private let wakes: Wakes

  private enum Wakes {
    case always
    /// Those for which the app has declared a background mode.
    case declared
    case never
  }

  init(_ policy: PlatformPolicy) {
    wakes = policy.background.map { $0.hasModes ? .declared : .never } ?? .always
  }

  var isEmpty: Bool { apps.isEmpty }
  var indices: some Sequence<AppIndex> { apps.indices.lazy.map { AppIndex(position: $0) } }

  subscript(app: AppIndex) -> App {
    @inline(__always) get { apps[app.position] }
    _modify { yield &apps[app.position] }
  }

  func index(of name: String) -> AppIndex? { byName[name] }

  /// Returns the app with this name, adding it as terminated if it is new; nil if the table is full.
  mutating func enter(_ name: String) -> AppIndex? {
    if let index = byName[name] { return index }
    guard apps.count < Self.limit else { return nil }
    let index = AppIndex(position: apps.count)
    apps.append(App(name: name, manifest: AppManifest(), phase: .terminated))
    byName[name] = index
    return index
  }

  // MARK: Phases

  /// Changes the phase of an app. Returns its former state.
  mutating func setPhase(_ phase: App.Phase, of app: AppIndex) -> AppRunState {
    let former = apps[app.position].state
    if (former == .terminated) != (phase == .terminated) { mayDifferFromStored = true }
    apps[app.position].change(to: phase)
    return former
  }

  /// Notes that an app is now the one that was in the foreground last.
  mutating func bringToFront(_ app: AppIndex) {
    foregroundCount += 1
    apps[app.position].lastInFront = foregroundCount
    apps[app.position].wakeEnds.removeAll()
  }

  /// Returns true if events of a role run the app when it is suspended.
  func isWoken(_ app: AppIndex, by mode: AppManifest.BackgroundMode) -> Bool {
    switch wakes {
    case .always: true
    case .declared: apps[app.position].manifest.backgroundModes.contains(mode)
    case .never: false
    }
  }

  /// Returns the effect of an event of a role on its app, and takes the wake of a suspended one from its budget.
  ///
  /// - Parameter budget: the number of wakes that count at most; nil: there is no limit.
  mutating func admit(
    _ app: AppIndex, for mode: AppManifest.BackgroundMode, _ limit: WakeLimit, reportTo session: CentralSessionID?,
    _ budget: Int?
  ) -> Admission {
    switch apps[app.position].phase {
    case .foreground: return .runs
    case .background:
      if isWoken(app, by: mode) { noteEvent(of: app) }
      return .runs
    case .suspended:
      guard isWoken(app, by: mode) else {
        return .waits(mode == .central ? .suspendedCentral : .suspendedPeripheral)
      }
      guard let budget else { return .wakes }
      return apps[app.position].takeWake(budget, limit, reportTo: session) ? .wakes : .waits(.wakeBudget)
    case .terminated: return apps[app.position].isLaunchedByEvents ? .launches : .waits(nil)
    }
  }

  /// Notes that an event extends the time for which an app runs.
  mutating func noteEvent(of app: AppIndex) {
    apps[app.position].hadEvent = true
    needsSettling = true
  }

  /// Notes that the links of apps have changed, which can keep apps running.
  mutating func noteLinks(_ policy: PlatformPolicy) {
    if policy.background?.linksKeepApps == true { needsSettling = true }
  }

  /// Notes that all apps are being settled.
  mutating func beginSettling() { needsSettling = false }

  /// Releases the commands of an app that is no longer suspended. Those of a terminated app have no effect.
  mutating func releaseCommands(of app: AppIndex) {
    if apps[app.position].phase != .terminated { releasedCommands += apps[app.position].heldCommands }
    apps[app.position].heldCommands.removeAll()
  }

  /// True if `takeReleasedCommand` returns a command.
  var hasReleasedCommands: Bool { !releasedCommands.isEmpty }

  /// Removes and returns the next command of an app that has been suspended when it arrived; nil: none.
  mutating func takeReleasedCommand() -> DaemonRequest? { releasedCommands.popFirst() }

  // MARK: Processes

  /// Begins the time in which the processes of a former run come back.
  mutating func beginReturns(at now: Instant) {
    for position in apps.indices where apps[position].mayReturn && apps[position].returnDeadline == nil {
      apps[position].returnDeadline = now + App.returnTime
    }
  }

  /// Notes that the process of a former run does not come back.
  mutating func endReturn(of app: AppIndex) {
    apps[app.position].endReturn()
    mayDifferFromStored = true
  }

  // MARK: Stored apps

  /// Notes that what is stored of apps may differ from what they have.
  mutating func noteChange() { mayDifferFromStored = true }

  /// Notes that what apps have is being stored.
  mutating func noteStoring() { mayDifferFromStored = false }

  // MARK: Rules

  /// Returns true, once, for an effect of a rule on an app; nil: on sessions that belong to no app.
  mutating func isFirstEffect(of rule: PolicyRule, on app: AppIndex?) -> Bool {
    guard let app else { return notes.isFirstOutsideApps(rule) }
    return apps[app.position].notedRules.insert(rule)
  }

  /// Adds a line for the log about an app; nil: about the sessions that belong to no app.
  mutating func note(_ line: String, of app: AppIndex?) {
    notes.note("\(app.map { apps[$0.position].name } ?? "sessions that belong to no app"): \(line)")
  }

  /// True if `takeNotes` returns lines.
  var hasNotes: Bool { notes.hasNotes }

  /// Removes and returns the lines for the log about the rules of the platform.
  mutating func takeNotes() -> [String] { notes.takeNotes() }

  // MARK: Time

  /// The earliest time at which an app is suspended, an event counts no longer, the process of a former run is not expected
  /// any more, or a launched app can restore nothing more; nil: none.
  var deadline: Instant? {
    var result: Instant?
    for app in apps {
      if case .background(let until?) = app.phase { result = earliest(result, until) }
      result = earliest(result, earliest(app.wakeEnds.first, earliest(app.returnDeadline, app.restorationDeadline)))
    }
    return result
  }
}
