/// The thread of a world in real time, or what stands for one: it does one thing after the other, and has a timer.
package protocol WorldExecutor: AnyObject, Sendable {
  /// Has `work` done soon, after what was handed over before.
  func execute(_ work: @escaping @Sendable () -> Void)
  /// Does `work` between two other things, and waits for it.
  func wait<R: Sendable>(for work: () -> R) -> R
  /// Sets what the timer does, on the thread.
  func begin(_ ring: @escaping @Sendable () -> Void)
  /// Has the timer ring after so many nanoseconds of the wall clock, or earlier; nil: not before it is set again. On the
  /// thread only.
  func setTimer(_ wait: Int?)
  /// The timer does not ring any more.
  func end()
}
