import BluetoothWire

/// How often, and after which pauses, a controller that does not work is reset.
struct Recovery {
  /// One that has worked for so long is taken to be well.
  static let trialTime = TimeSpan.seconds(10)
  /// Before each attempt, for one that has worked.
  private static let pauses: [TimeSpan] = [.zero, .seconds(1), .seconds(2), .seconds(4), .seconds(8)]
  /// For one that has never worked since it was switched on: there may be nobody.
  private static let firstPauses: [TimeSpan] = [.zero]

  struct Attempt {
    var number: Int
    var of: Int
    var pause: TimeSpan
  }

  private var failures = 0
  private var hasWorked = false
  private var worksSince: Instant?

  /// The controller is ready. The result says whether it was broken before.
  mutating func succeeded(at now: Instant) -> Bool {
    hasWorked = true
    worksSince = now
    return failures > 0
  }

  /// The controller does not work. The result is the attempt to make now; nil: there were enough.
  mutating func failed(at now: Instant) -> Attempt? {
    if let worksSince, now - worksSince >= Self.trialTime { failures = 0 }
    worksSince = nil
    let pauses = hasWorked ? Self.pauses : Self.firstPauses
    guard failures < pauses.count else { return nil }
    failures += 1
    return Attempt(number: failures, of: pauses.count, pause: pauses[failures - 1])
  }
}
