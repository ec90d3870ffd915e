import NIOCore

/// The launches of one app for events: an app that ends again and again right after its launch is launched less often,
/// and then no more.
struct LaunchHistory {
  /// The decision about the next launch.
  enum Decision: Equatable {
    /// The app may be launched after this time.
    case wait(TimeAmount)
    /// The app is launched no more until its user starts it.
    case giveUp
  }

  /// The time after which a launch counts as successful, however it ends.
  static let steadyTime = TimeAmount.seconds(10)
  /// The number of failures after which the app is launched no more.
  static let maximumFailures = 5
  /// The time between the end of an app and its next launch for an event, after no failure.
  static let shortestPause = TimeAmount.seconds(1)

  /// The number of failures since the last success.
  private(set) var failures = 0
  /// True if the app is launched no more.
  var hasGivenUp: Bool { failures >= Self.maximumFailures }

  /// Notes the end of a launched process.
  ///
  /// - Parameters:
  ///   - lifetime: the time since the launch; 0 if the process never used the server.
  ///   - hasFailed: true if the process crashed, ended with a failure, or never used the server.
  mutating func ended(after lifetime: TimeAmount, hasFailed: Bool) -> Decision {
    guard hasFailed, lifetime < Self.steadyTime else {
      failures = 0
      return .wait(Self.shortestPause)
    }
    failures += 1
    if hasGivenUp { return .giveUp }
    return .wait(.nanoseconds(Self.shortestPause.nanoseconds << failures))
  }

  /// Forgets all failures: the user has started the app, or has ended it.
  mutating func reset() { failures = 0 }
}
