import BluetoothRadio
import DequeModule

/// An executor whose time is set from outside: the world runs when its owner calls `run`. Confined to one thread.
final class SteppedExecutor: WorldExecutor, @unchecked Sendable {
  // Unchecked: one thread creates and uses the executor, its world and the world's devices.
  private var onTimer: (@Sendable () -> Void)?
  private var work: Deque<@Sendable () -> Void> = []
  private var isOpen = true
  /// The time, in nanoseconds.
  private(set) var clock: UInt64 = 0
  /// The time at which the world must run; nil: none.
  private(set) var due: UInt64?
  let epoch: Double?

  /// - Parameter epoch: the seconds since 1 January 2001 at time 0.
  init(epoch: Double) { self.epoch = epoch }

  func execute(_ work: @escaping @Sendable () -> Void) {
    if isOpen { self.work.append(work) }
  }

  func wait<R: Sendable>(for work: () -> R) -> R { work() }

  func begin(_ onTimer: @escaping @Sendable () -> Void) {
    self.onTimer = onTimer
    due = clock
  }

  func setTimer(_ wait: Int?) { due = wait.map { clock + UInt64(max(0, $0)) } }

  func end() { close() }

  func close() {
    isOpen = false
    onTimer = nil
    due = nil
    work.removeAll()
  }

  /// Sets the time, and runs the world and the pending work until nothing is due.
  func run(at clock: UInt64) {
    self.clock = max(self.clock, clock)
    while true {
      if let next = work.popFirst() {
        next()
      } else if let due, due <= self.clock {
        self.due = nil
        onTimer?()
      } else {
        return
      }
    }
  }
}
