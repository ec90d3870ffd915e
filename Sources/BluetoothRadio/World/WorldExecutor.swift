/// The serial executor of a world in real time, with a timer.
package protocol WorldExecutor: AnyObject, Sendable {
  /// Schedules `work` after all work that was scheduled before.
  func execute(_ work: @escaping @Sendable () -> Void)
  /// Runs `work` on the executor, between two scheduled pieces of work, and waits for its result.
  func wait<R: Sendable>(for work: () -> R) -> R
  /// Sets the timer's handler, which runs on the executor, and calls it for the first time. Called once.
  func begin(_ onTimer: @escaping @Sendable () -> Void)
  /// Sets the timer to fire after `wait` nanoseconds of the wall clock; nil if no timer is needed. It may fire too
  /// early, even after nil: the handler then sets it again. On the executor only.
  func setTimer(_ wait: Int?)
  /// Stops the timer for good.
  func end()
  /// The clock that moves the world, in nanoseconds: a wall clock, unless the executor has a time of its own.
  var clock: UInt64 { get }
  /// The seconds since 1 January 2001 at the beginning of the world; nil: those of the wall clock. Only an executor with
  /// a time of its own has a value.
  var epoch: Double? { get }
}
