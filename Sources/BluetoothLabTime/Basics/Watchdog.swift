/// Decides when a wait without progress is reported, and when the process ends because of it.
///
/// The owner calls `tick` at regular intervals of real time. A debugger that stops the process stops these calls, too.
package struct Watchdog: Sendable {
  /// The reaction to one interval.
  package enum Action: Sendable, Equatable {
    /// There is progress, or a limit is still ahead.
    case wait
    /// Report the work that has not finished. Returned once for each wait.
    case report
    /// Report the work that has not finished, and end the process.
    case end
  }

  /// The real time without progress in seconds.
  package private(set) var idle = 0.0
  private var progress: Int?
  private var hasReported = false

  /// The seconds after the stall limit at which a driver is reported. A driver that can throw does so at the limit.
  private static let driverGrace = 2.0

  package init() {}

  /// Notes an interval of real time.
  ///
  /// - Parameters:
  ///   - seconds: The length of the interval.
  ///   - progress: A number that changes with each progress of the app or of the test.
  ///   - isActive: True in virtual time. The process ends in virtual time only.
  ///   - isDriven: True while a thread runs the app's work; false while the test body runs or waits.
  package mutating func tick(
    seconds: Double, progress: Int, isActive: Bool, isDriven: Bool, limits: AppTimeLimits
  ) -> Action {
    guard isActive || isDriven, progress == self.progress else {
      self.progress = progress
      idle = 0
      hasReported = false
      return .wait
    }
    idle += seconds
    let (stall, abort) = (limits.stallSeconds, limits.abortSeconds)
    guard !stall.isNaN else { return .wait }
    let reportLimit = isDriven ? stall + Self.driverGrace : stall
    if isActive, !abort.isNaN, idle >= max(abort, reportLimit + stall) { return .end }
    guard !hasReported, idle >= reportLimit else { return .wait }
    hasReported = true
    return .report
  }
}
