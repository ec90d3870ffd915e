import BluetoothWire
import DequeModule

/// The place of an app in the `AppTable`. It is valid as long as the table exists.
struct AppIndex: Hashable, Comparable {
  fileprivate let position: Int

  static func < (left: AppIndex, right: AppIndex) -> Bool { left.position < right.position }
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
  var manifest: AppManifest
  var phase: Phase
  /// The events of an app that does not run, and of sessions whose managers do not exist yet.
  var events = WaitingEvents()
  /// The channels that are held because the app is suspended, also those that have ended meanwhile.
  var heldChannels: [ChannelPipe] = []
  /// The commands that have arrived while the app is suspended, such as those of its timers. They wait until it runs.
  var heldCommands: [DaemonRequest] = []
  /// True if the process of the app, which is about to end, has not handled all events: they launch the app again.
  var hasUnhandledEvents = false
  /// True if the process that runs the app can launch it for an event.
  var isLaunchable = true
  /// True if the process that runs the app can launch it after a pause. `isLaunchable` is false then.
  var isLaunchPaused = false
  /// True if the app ran when a former daemon ended, and its process can still come back. No event launches it then.
  var mayReturn = false
  /// The time from which the process is not expected any more; nil: the adapter has not been on or off yet.
  var returnDeadline: Instant?
  /// The end of `restorationTime`; nil: the policy suspends apps, or the app has had no preserved session at its launch.
  var restorationDeadline: Instant?
  /// True if the user has denied the app the use of Bluetooth. No event launches it then.
  var isDenied = false
  /// True if an event since the last `settle` has extended the time for which the app runs.
  var hadEvent = false
  /// True if links of the app keep it running: it has not been suspended since it went to the background.
  var staysWithLinks = false
  /// True if a link keeps the app running now.
  var isKept = false
  /// The number of the app's latest period in the foreground, counted over all apps.
  var lastInFront = 0
  /// The times at which the events that have run the suspended app count no longer.
  var wakeEnds = Deque<Instant>()
  /// The number of such events since the last `settle`.
  var newWakes = 0
  /// The rules of the platform's policy about which the log has a line.
  var notedRules = PolicyRules()

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

  /// Notes that the process of a former run has come, or does not come any more.
  mutating func endReturn() {
    mayReturn = false
    returnDeadline = nil
  }

  /// Enters the events since the last call that have run the suspended app. They count until `end`.
  mutating func noteWakes(until end: Instant) {
    for _ in 0..<newWakes { wakeEnds.append(end) }
    newWakes = 0
  }

  /// Forgets the events that count no longer.
  mutating func forgetWakes(at now: Instant) {
    while let first = wakeEnds.first, first <= now { wakeEnds.removeFirst() }
  }
}

/// The apps of one adapter.
struct AppTable {
  /// The maximum number of apps. Sessions of further apps belong to no app.
  static let limit = 1_024

  private var apps: [App] = []
  private var byName: [String: AppIndex] = [:]
  private var foregroundCount = 0
  /// True if the next `settle` has something to do.
  var needsSettling = false

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

  /// Notes that an app is now the one that was in the foreground last.
  mutating func bringToFront(_ app: AppIndex) {
    foregroundCount += 1
    apps[app.position].lastInFront = foregroundCount
  }

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
