import BluetoothWire

/// The number of resets of a failed controller and the pauses before them (backoff).
struct Recovery {
  /// The time of faultless operation after which a controller counts as healthy, so that earlier failures no longer
  /// matter.
  static let trialTime = TimeSpan.seconds(10)
  /// The pause before each attempt, for a controller that has worked.
  private static let pauses: [TimeSpan] = [.zero, .seconds(1), .seconds(2), .seconds(4), .seconds(8)]
  /// The pauses for a controller that has not worked since the host was switched on: there may be no controller.
  private static let firstPauses: [TimeSpan] = [.zero]

  struct Attempt {
    var number: Int
    var of: Int
    var pause: TimeSpan
  }

  private var failures = 0
  private var hasWorked = false
  private var worksSince: Instant?

  /// Notes that the controller is ready. Returns true if it had failed before.
  mutating func succeeded(at now: Instant) -> Bool {
    hasWorked = true
    worksSince = now
    return failures > 0
  }

  /// Notes a failure of the controller, which worked until the given time. Returns the attempt to make now; nil: the
  /// maximum number of attempts is reached.
  mutating func failed(afterWorkUntil end: Instant) -> Attempt? {
    if let worksSince, end - worksSince >= Self.trialTime { failures = 0 }
    worksSince = nil
    let pauses = hasWorked ? Self.pauses : Self.firstPauses
    guard failures < pauses.count else { return nil }
    failures += 1
    return Attempt(number: failures, of: pauses.count, pause: pauses[failures - 1])
  }
}
