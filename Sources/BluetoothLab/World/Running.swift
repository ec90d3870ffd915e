import BluetoothRadio
import BluetoothWire
import Foundation

extension World {
  /// Lets radio time pass for `duration`. In virtual time all callbacks of that time have returned when this returns; in
  /// real time it waits, and serves the main run loop if it is on the main thread.
  ///
  /// Not to be called in a callback of the same world: the program stops.
  @available(*, noasync, message: "use the async form, which gives the thread away while the world is held")
  public func run(for duration: Duration) {
    _ = run(until: { false }, limit: duration)
  }

  /// Lets radio time pass until `condition`, but not longer than `limit`. It is asked after each event that somebody could
  /// notice; if it looks at `now`, after each event of any device.
  ///
  /// - Returns: whether the condition came true.
  @available(*, noasync, message: "use the async form, which gives the thread away while the world is held")
  @discardableResult
  public func run(until condition: () -> Bool, limit: Duration = .seconds(60)) -> Bool {
    switch runner {
    case .virtual(let runner): runner.run(until: .duration(TimeSpan(limit)), condition) == .condition
    case .real(let runner): wait(for: runner, until: condition, limit: limit)
    }
  }

  /// Lets radio time pass until no device has anything left to do, but not longer than `limit`. A device that advertises,
  /// scans or is connected always has, so this is for worlds in which all that has ended. Virtual time only: in real time,
  /// which nobody can foresee, it returns at once.
  ///
  /// - Returns: whether nothing is left to do.
  @available(*, noasync, message: "use the async form, which gives the thread away while the world is held")
  @discardableResult
  public func runUntilIdle(limit: Duration = .seconds(3_600)) -> Bool {
    guard case .virtual(let runner) = runner else { return false }
    return runner.run(until: .idle(TimeSpan(limit)), { false }) == .idle
  }

  /// Lets radio time pass for `duration`; while the world is held, other tasks have the thread.
  public nonisolated(nonsending) func run(for duration: Duration) async {
    _ = await run(until: { false }, limit: duration)
  }

  /// Lets radio time pass until `condition`, but not longer than `limit`. It is asked after each event that somebody could
  /// notice; if it looks at `now`, after each event of any device.
  ///
  /// - Returns: whether the condition came true.
  @discardableResult
  public nonisolated(nonsending) func run(
    until condition: () -> Bool, limit: Duration = .seconds(60)
  ) async -> Bool {
    switch runner {
    case .virtual(let runner):
      return await runner.run(until: .duration(TimeSpan(limit)), condition) == .condition
    case .real(let runner):
      runner.updateClock()
      let end = now + limit
      while !condition() {
        runner.updateClock()
        guard now < end else { return false }
        // The wall clock decides, so this looks again every millisecond; a task that is cancelled does not wait on.
        do { try await Task.sleep(for: .milliseconds(1)) } catch { return condition() }
      }
      return true
    }
  }

  /// Lets radio time pass until no device has anything left to do, but not longer than `limit`; while the world is held, other
  /// tasks have the thread. Virtual time only: in real time it returns at once.
  ///
  /// - Returns: whether nothing is left to do.
  @discardableResult
  public nonisolated(nonsending) func runUntilIdle(limit: Duration = .seconds(3_600)) async -> Bool {
    guard case .virtual(let runner) = runner else { return false }
    return await runner.run(until: .idle(TimeSpan(limit)), { false }) == .idle
  }

  /// How fast real time passes from now on: radio seconds per second, 0.001 to 1,000; 0 pauses the world. In virtual time,
  /// which only `run` moves, it does nothing.
  public func setSpeed(_ speed: Double) {
    if case .real(let runner) = runner { runner.setSpeed(speed) }
  }

  /// Stops virtual time until `release` has been called as often. A callback that starts a task calls it first; the task
  /// releases the world when it has done what belongs to that instant.
  public func hold() {
    if case .virtual(let runner) = runner { runner.hold() }
  }

  /// Ends one `hold`.
  public func release() {
    if case .virtual(let runner) = runner { runner.release() }
  }

  /// The wall clock decides, so this looks again every millisecond.
  private func wait(for runner: RealTimeRunner, until condition: () -> Bool, limit: Duration) -> Bool {
    runner.updateClock()
    let end = now + limit
    while !condition() {
      runner.updateClock()
      guard now < end else { return false }
      if Thread.isMainThread {
        _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
      } else {
        Thread.sleep(forTimeInterval: 0.001)
      }
    }
    return true
  }
}
