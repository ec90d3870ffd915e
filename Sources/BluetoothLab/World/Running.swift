import BluetoothRadio
import BluetoothWire
import Foundation

extension World {
  /// Runs the world for `duration` of radio time. In virtual time, all callbacks of that time have returned when this
  /// method returns. In real time, it waits, and serves the main run loop if it is called on the main thread.
  ///
  /// The program stops if this method is called in a callback of the same world.
  @available(*, noasync, message: "use the async form, which releases the thread while the world is held")
  public func run(for duration: Duration) {
    _ = run(until: { false }, limit: duration)
  }

  /// Runs the world until `condition` is true, for at most `limit` of radio time. The condition is evaluated after
  /// each event that an app could observe; if it reads `now`, after each event of any device.
  ///
  /// - Returns: true if the condition became true.
  @available(*, noasync, message: "use the async form, which releases the thread while the world is held")
  @discardableResult
  public func run(until condition: () -> Bool, limit: Duration = .seconds(60)) -> Bool {
    switch runner {
    case .virtual(let runner): runner.run(until: .duration(TimeSpan(limit)), condition) == .condition
    case .real(let runner): wait(for: runner, until: condition, limit: limit)
    }
  }

  /// Runs the world until no device has pending work, for at most `limit` of radio time. A device that advertises,
  /// scans or is connected always has pending work, so this method is for worlds in which all such activity ends.
  /// Virtual time only: in real time, where future work is unknown, it returns false at once.
  ///
  /// - Returns: true if no work is pending.
  @available(*, noasync, message: "use the async form, which releases the thread while the world is held")
  @discardableResult
  public func runUntilIdle(limit: Duration = .seconds(3_600)) -> Bool {
    guard case .virtual(let runner) = runner else { return false }
    return runner.run(until: .idle(TimeSpan(limit)), { false }) == .idle
  }

  /// Runs the world for `duration` of radio time. While the world is held, other tasks can use the thread.
  public nonisolated(nonsending) func run(for duration: Duration) async {
    if case .virtual(let runner) = runner {
      _ = await runner.run(until: .duration(TimeSpan(duration)), hasCondition: false) { false }
    } else {
      _ = await run(until: { false }, limit: duration)
    }
  }

  /// Runs the world until `condition` is true, for at most `limit` of radio time. The condition is evaluated after
  /// each event that an app could observe; if it reads `now`, after each event of any device.
  ///
  /// - Returns: true if the condition became true.
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
        // The condition may have become true since its evaluation: this thread may have had no processor meanwhile.
        guard now < end else { return condition() }
        // The wall clock determines the end, so the condition is polled every millisecond; a cancelled task stops
        // waiting.
        do { try await Task.sleep(for: .milliseconds(1)) } catch { return condition() }
      }
      return true
    }
  }

  /// Runs the world until no device has pending work, for at most `limit` of radio time. While the world is held,
  /// other tasks can use the thread. Virtual time only: in real time it returns false at once.
  ///
  /// - Returns: true if no work is pending.
  @discardableResult
  public nonisolated(nonsending) func runUntilIdle(limit: Duration = .seconds(3_600)) async -> Bool {
    guard case .virtual(let runner) = runner else { return false }
    return await runner.run(until: .idle(TimeSpan(limit)), { false }) == .idle
  }

  /// Sets the speed of a world in real time: radio seconds per second, 0.001 to 1,000; 0 pauses the world. Has no
  /// effect in virtual time, which advances only in `run`.
  public func setSpeed(_ speed: Double) {
    if case .real(let runner) = runner { runner.setSpeed(speed) }
  }

  /// Starts `work` as a task, and stops virtual time until it has returned. A callback that needs a task for its work
  /// calls this method. In real time, time does not stop.
  ///
  /// If no work returns for 10 s of real time while a run waits, the log has a warning with the places of the calls.
  /// After 60 s, it has an error, and the run ends before its limit: `run(until:)` returns false, and `expect` throws
  /// an error with the places. With the product `BluetoothLabTime`, the limit is the one of `AppTimeLimits`.
  ///
  /// - Parameters:
  ///   - work: the work.
  ///   - file: the file of the call, for the log.
  ///   - line: the line of the call, for the log.
  public func hold(
    during work: @escaping @Sendable () async -> Void, file: String = #fileID, line: Int = #line
  ) {
    guard case .virtual(let runner) = runner else {
      Task { await work() }
      return
    }
    let number = runner.hold("\(file):\(line)")
    Task {
      await work()
      runner.release(number)
    }
  }

  /// Changes the limits of the real time for which a run waits for held work. No effect in a world in real time.
  package func setHoldLimits(_ limits: HoldLimits) {
    if case .virtual(let runner) = runner { runner.watch.limits = limits }
  }

  /// The places of the calls of `hold` whose work has not returned.
  var heldPlaces: [String] { if case .virtual(let runner) = runner { runner.watch.places } else { [] } }

  /// Waits in real time. The wall clock determines the end, so the condition is polled every millisecond.
  private func wait(for runner: RealTimeRunner, until condition: () -> Bool, limit: Duration) -> Bool {
    runner.updateClock()
    let end = now + limit
    while !condition() {
      runner.updateClock()
      // The condition may have become true since its evaluation: this thread may have had no processor meanwhile.
      guard now < end else { return condition() }
      if Thread.isMainThread {
        _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
      } else {
        Thread.sleep(forTimeInterval: 0.001)
      }
    }
    return true
  }
}
