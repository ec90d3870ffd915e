// Design: requests that can wait
//
// One `BackgroundSchedule` for each ATT bearer decides when requests that no app has made may start: the daemon's
// background discovery of the peer's services and name, and the steps of cache validation that can wait. Each of the
// two has a quiet time and a number of deferrals: it starts when no more urgent request has begun or ended for 100 ms
// (background discovery) or 150 ms (cache validation), or after 8 or 16 more urgent requests have completed on a busy
// bearer.
//
// `BackgroundDiscovery` in the daemon only decides which step comes next. It asks the host for a turn
// (`Host.awaitBackgroundTurn`). The host answers with `GATTEvent.backgroundTurn`, and the daemon sends the request that
// is the right one at that time, with the priority `background`. The step is not chosen earlier, because an app may
// discover the same attributes meanwhile. If an app's discovery of the same attributes is in progress, the daemon
// lowers its priority and waits for its result.
//
// A turn waits for the end of apps' reads and writes (`GATTPriority.app`), but not for the end of discoveries and
// subscriptions (`system`), which only restart the quiet time. A second app that begins to use the link, and a new
// channel, restart it too.

import BluetoothWire

/// The rule by which requests that can wait share one ATT bearer with more urgent ones.
///
/// Two kinds of requests can wait: the background requests of the upper layer, and the last steps of the client's cache
/// validation. Each kind starts when the bearer has been quiet for a while, because an app usually follows up a response
/// with its next request, or on a busy bearer after a number of more urgent requests have completed. Background requests
/// are more urgent than cache validation.
struct BackgroundSchedule {
  /// The quiet time and the deferrals of one kind of requests.
  private struct Entry {
    /// The time without more urgent requests after which the bearer counts as quiet.
    let quietTime: TimeSpan
    /// The number of more urgent requests after whose completion a waiting request starts on a busy bearer.
    let deferralLimit: Int
    /// The time of the last more urgent request or completion.
    var lastUse = Instant.zero
    /// The number of more urgent requests that have completed since the last start.
    var completions = 0

    var deadline: Instant { lastUse + quietTime }
    var isOverdue: Bool { completions >= deferralLimit }
  }

  private var background = Entry(quietTime: .milliseconds(100), deferralLimit: 8)
  private var validation = Entry(quietTime: .milliseconds(150), deferralLimit: 16)
  /// The number of apps' requests that have not ended.
  private var openRequests = 0
  /// True if the upper layer has a background request.
  private var isTurnAwaited = false

  // MARK: Requests of the upper layer

  /// Restarts the quiet time before background requests.
  mutating func noteUse(at now: Instant) { background.lastUse = now }

  /// Notes a new request.
  mutating func requestBegan(_ priority: GATTPriority, at now: Instant) {
    validation.lastUse = now
    switch priority {
    case .app:
      openRequests += 1
      background.lastUse = now
    case .system: background.lastUse = now
    case .background: break
    }
  }

  /// Notes the end of a request.
  ///
  /// - Parameter hasRun: False if the request has failed before its procedure began, or while it was held back.
  mutating func requestEnded(_ priority: GATTPriority, hasRun: Bool, at now: Instant) {
    if hasRun {
      validation.lastUse = now
      validation.completions &+= 1
    }
    switch priority {
    case .app:
      openRequests -= 1
      background.completions &+= 1
      background.lastUse = now
    case .system: background.lastUse = now
    case .background: break
    }
  }

  /// Notes that the priority of a request has changed.
  mutating func priorityChanged(from old: GATTPriority, to new: GATTPriority) {
    if old == .app { openRequests -= 1 }
    if new == .app { openRequests += 1 }
  }

  // MARK: Background requests

  /// The time of the turn for a background request if the bearer stays quiet; nil: none is awaited, or requests of apps
  /// are open.
  var turnDeadline: Instant? { isTurnAwaited && openRequests == 0 ? background.deadline : nil }

  mutating func awaitTurn() { isTurnAwaited = true }

  /// Returns true if the upper layer may send the background request for which it has awaited its turn.
  mutating func takeTurn(at now: Instant) -> Bool {
    guard isTurnAwaited, background.isOverdue || openRequests == 0 && now >= background.deadline else { return false }
    isTurnAwaited = false
    background.completions = 0
    return true
  }

  // MARK: Cache validation

  /// The time of the next step of cache validation that can wait, if the bearer stays quiet.
  var validationDeadline: Instant { validation.deadline }

  /// Returns true if a step of cache validation that can wait may start on a bearer without other requests.
  mutating func startValidation(at now: Instant) -> Bool {
    guard now >= validation.deadline || validation.isOverdue else { return false }
    validation.completions = 0
    return true
  }
}
