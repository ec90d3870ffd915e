import BluetoothWire
import NIOConcurrencyHelpers

/// Runs a world in real time: radio time advances with the wall clock, and the executor sleeps between events.
package final class RealTimeRunner: Sendable {
  package let requestQueue: WorldRequestQueue
  /// True if the executor has a time of its own: the world then need not keep pace with the wall clock.
  package let hasOwnTime: Bool
  private let executor: any WorldExecutor
  private let isPending = NIOLockedValueBox(false)
  private let confined: Confined

  /// The state that only the executor accesses. The engine checks each step; `enter` and `pump` check before.
  private final class Confined: @unchecked Sendable {
    let engine: WorldEngine
    let executor: any WorldExecutor
    // Unchecked: no call leaves this class during an access to one of these properties.
    @exclusivity(unchecked) var delegate: (any RunnerDelegate)?
    /// The wall clock time, in nanoseconds, from which radio time is counted at the current speed. `beginning` is the
    /// radio time at that moment.
    @exclusivity(unchecked) private var origin: UInt64
    @exclusivity(unchecked) private var beginning = Instant.zero
    /// The radio nanoseconds per 1,000 wall clock nanoseconds; 0 pauses the world.
    @exclusivity(unchecked) private(set) var speedPerMille: Int64
    /// The instant of the event for which the timer is set; `.some(nil)` if no event was pending when it was set; nil
    /// if the timer is set for something else, for example with a tolerance.
    @exclusivity(unchecked) private var scheduled: Instant??

    init(engine: WorldEngine, executor: any WorldExecutor, speedPerMille: Int64) {
      self.engine = engine
      self.executor = executor
      self.speedPerMille = speedPerMille
      origin = executor.clock
    }

    /// The wall clock time, in nanoseconds.
    private var clock: UInt64 { executor.clock }

    /// The radio time that corresponds to the current wall clock time. The engine's time is earlier while the world
    /// lags.
    private var wallTime: Instant { time(at: readClock()) }

    private func readClock() -> UInt64 {
      let clock = self.clock
      // Restart long before the products in `time(at:)` overflow.
      if clock - origin > RealTimeRunner.longestCount { restart(at: time(at: clock), clock) }
      return clock
    }

    private func time(at clock: UInt64) -> Instant {
      let elapsed = Int64(clock - origin)
      let (whole, part) = elapsed.quotientAndRemainder(dividingBy: 1_000)
      return beginning + TimeSpan(nanoseconds: whole * speedPerMille + part * speedPerMille / 1_000)
    }

    func setSpeed(perMille: Int64) {
      engine.bound.check()
      // A world that lags behind the wall clock discards its lag here, instead of catching up at the new speed.
      restart(at: max(engine.now, min(wallTime, engine.nextEvent ?? .distantFuture)), clock)
      speedPerMille = perMille
      pump(runsAhead: false)
    }

    private func restart(at time: Instant, _ clock: UInt64) {
      beginning = time
      origin = clock
    }

    /// Advances the world's time to the wall clock, unless an event is due or overdue.
    func passTime() {
      engine.bound.check()
      let time = wallTime
      if (engine.nextEvent ?? .distantFuture) > time { engine.passTime(to: time) }
    }

    func with(_ radio: RadioID, _ body: (any SimulatedDevice, Instant) -> Bool) {
      passTime()
      engine.with(radio, body)
    }

    var pendingWork: PendingWork {
      let next = engine.nextEvent
      if let next, next <= engine.now { return .due }
      return scheduled == .some(next) && !engine.hasDeliveries ? .scheduled : .unscheduled
    }

    /// Processes the events that are due, then sets the timer for the next event. A world that lags yields the thread
    /// every `slice`, so that callers can inspect it or slow it down.
    func pump(runsAhead: Bool) {
      engine.bound.check()
      let goesOn = advance(runsAhead: runsAhead)
      delegate?.worldPaused()
      scheduled = nil
      if goesOn { return executor.setTimer(0) }
      // The delegate may have scheduled events during `worldPaused`.
      guard let wait = timeToWait else {
        scheduled = .some(engine.nextEvent)
        return executor.setTimer(nil)
      }
      // A world that lags does not wait.
      let timerTolerance = wait > 0 ? delegate?.timerTolerance(at: engine.now) ?? 0 : 0
      if timerTolerance == 0 { scheduled = .some(engine.nextEvent) }
      executor.setTimer(max(wait, timerTolerance))
    }

    /// Processes the events that are due. Returns true if `pump` must be called again at once.
    private func advance(runsAhead: Bool) -> Bool {
      var clock = readClock()
      let end = clock + RealTimeRunner.slice
      while true {
        let limit = time(at: clock)
        var steps = 0
        while engine.step(until: limit) {
          steps += 1
          if steps.isMultiple(of: 64), self.clock > end { return true }
        }
        engine.passTime(to: limit)
        engine.settle()
        guard let next = engine.nextEvent else { break }
        clock = self.clock
        if next > time(at: clock) || clock > end { break }
      }
      return mayRunAhead && (!runsAhead || runAhead())
    }

    /// The wall clock time until the next event, in nanoseconds; nil if there is no event, or if the world is paused.
    private var timeToWait: Int? {
      guard speedPerMille > 0, let next = engine.nextEvent else { return nil }
      return RealTimeRunner.wallTime(for: next - wallTime, speedPerMille: speedPerMille)
    }

    private var mayRunAhead: Bool { speedPerMille > 0 && delegate?.mayRunAhead(at: engine.now) ?? false }

    /// Processes events before their time for at most `sliceAhead`, and sets the clock forward to the last one. Returns
    /// true if it processed any event.
    private func runAhead() -> Bool {
      let end = clock + RealTimeRunner.sliceAhead
      var steps = 0
      while mayRunAhead, engine.step(until: .distantFuture) {
        steps += 1
        if steps.isMultiple(of: 16), clock > end { break }
      }
      let clock = self.clock
      restart(at: max(engine.now, time(at: clock)), clock)
      return steps > 0
    }
  }

  /// The maximum wall clock time since `origin`, in nanoseconds (one hour); `readClock` then moves `origin` to the
  /// current time.
  private static let longestCount: UInt64 = 3_600_000_000_000
  /// The time after which a world that still has due events yields its thread, in nanoseconds (5 ms).
  private static let slice: UInt64 = 5_000_000
  /// The time after which a world that runs ahead yields its thread, in nanoseconds (0.5 ms): the executor then does
  /// its other work, such as reading sockets.
  private static let sliceAhead: UInt64 = 500_000

  /// Returns the wall clock time, in nanoseconds, until `wait` of radio time has passed. `wait` is limited to one hour;
  /// the timer is set again after that.
  static func wallTime(for wait: TimeSpan, speedPerMille: Int64) -> Int {
    let longest = TimeSpan.seconds(3_600)
    return Int(min(max(.zero, wait), longest).nanoseconds * 1_000 / speedPerMille)
  }

  /// Starts running `engine`, to which the runner has exclusive access from then on.
  ///
  /// - Parameters:
  ///   - speed: radio seconds per second, 0.001 to 1,000.
  ///   - executor: an executor that runs this world only; nil: a new dispatch queue.
  package init(_ engine: sending WorldEngine, speed: Double = 1, on executor: (any WorldExecutor)? = nil) {
    requestQueue = engine.requestQueue
    let executor = executor ?? DispatchWorldExecutor()
    self.executor = executor
    hasOwnTime = executor.epoch != nil
    confined = Confined(engine: engine, executor: executor, speedPerMille: Self.perMille(speed))
    let box = confined
    executor.begin { box.pump(runsAhead: true) }
    requestQueue.setWake { [weak self] in self?.wake() }
  }

  deinit {
    requestQueue.setWake(nil)
    executor.end()
  }

  /// Sets the speed from now on: radio seconds per second, 0.001 to 1,000; 0 pauses the world.
  package func setSpeed(_ speed: Double) {
    let perMille = speed == 0 ? 0 : Self.perMille(speed)
    executor.execute { [confined] in confined.setSpeed(perMille: perMille) }
  }

  private static func perMille(_ speed: Double) -> Int64 {
    speed.isNaN ? 1_000 : Int64((min(max(speed, 0.001), 1_000) * 1_000).rounded())
  }

  /// Calls `body` with the engine between two events, and returns its result. Must not be called from work of the
  /// world's executor, such as an event of the world.
  package func inspect<R: Sendable>(_ body: (WorldEngine) -> R) -> R {
    let (result, pendingWork) = executor.wait {
      confined.passTime()
      return (body(confined.engine), confined.pendingWork)
    }
    // Inspecting a culled device resumes it (see `CulledTransmitters`), so the timer may have to change.
    if pendingWork != .scheduled { executor.execute { [confined] in confined.pump(runsAhead: false) } }
    return result
  }

  /// Updates the world's clock to the current time, even if no event is due.
  package func updateClock() { executor.wait { confined.passTime() } }

  private func wake() {
    let isFirst = isPending.withLockedValue { pending in
      defer { pending = true }
      return !pending
    }
    guard isFirst else { return }
    executor.execute { [self] in
      isPending.withLockedValue { $0 = false }
      confined.pump(runsAhead: false)
    }
  }

  // MARK: On the executor

  /// The radio seconds per second; 0 while the world is paused. On the executor only.
  package var speed: Double { Double(confined.speedPerMille) / 1_000 }

  /// Sets the delegate that is called when the world pauses; nil: none. On the executor only.
  package func setDelegate(_ delegate: (any RunnerDelegate)?) { confined.delegate = delegate }

  /// Calls `body` with the engine at the current time or, if events are overdue, at the time of the latest event. The
  /// next `pump` processes new events. On the executor only, and not within an event of the world.
  package func enter(_ body: (WorldEngine) -> Void) {
    confined.passTime()
    body(confined.engine)
  }

  /// Calls `body` with a device and the time, as `enter` does. `body` returns true if the device's radio command,
  /// deadline or callbacks may have changed.
  package func with(_ radio: RadioID, _ body: (any SimulatedDevice, Instant) -> Bool) { confined.with(radio, body) }

  /// The work that is left for `pump`.
  package enum PendingWork: Sendable {
    /// An event is due at the time of the latest `enter`.
    case due
    /// No event was due at that time, no callback is pending, and the timer is set for the next event.
    case scheduled
    /// The timer must be set for the next event, or callbacks are pending.
    case unscheduled
  }

  /// The work that is left for `pump`. On the executor only.
  package var pendingWork: PendingWork { confined.pendingWork }

  /// Processes the events that are due, and sets the timer. On the executor only.
  ///
  /// - Parameter runsAhead: true to process events before their time if the delegate allows it (`mayRunAhead`); false
  ///   to leave that to the timer, which then fires soon.
  package func pump(runsAhead: Bool) { confined.pump(runsAhead: runsAhead) }
}

/// An object that shares the executor of a world, for example to serve sockets on its thread. Confined to the executor.
package protocol RunnerDelegate: AnyObject {
  /// Called after the due events have been processed, before the world sleeps or yields. The delegate flushes pending
  /// output here.
  func worldPaused()
  /// Returns true if the world may process the next event at once, before the wall clock reaches the event's time.
  func mayRunAhead(at now: Instant) -> Bool
  /// Returns the minimum sleep, in wall clock nanoseconds, before the world processes the next event; 0 to process the
  /// event on time. With a longer sleep, events are late by at most this time, and the machine wakes less often.
  func timerTolerance(at now: Instant) -> Int
}
