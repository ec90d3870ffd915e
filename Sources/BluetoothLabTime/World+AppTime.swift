import BluetoothDaemon
import BluetoothLab
import BluetoothRadio
import BluetoothWire

extension World {
  /// Runs `body` with the app under the control of this world: the app's tasks, queues, sleeps, timers and clocks follow
  /// the world's time, and time passes only while the app is at rest.
  ///
  /// ```swift
  /// let world = World(seed: 1)
  /// try world.withAppTime {
  ///   world.makeDefault(world.makeDevice(named: "phone"))
  ///   let app = App()
  ///   world.run(for: .seconds(10))
  /// }
  /// ```
  ///
  /// The clocks of the app begin at the world's time on 1 January 2001. Executors, queues and clocks belong to the
  /// process: only one world can have its app under control, and tests that use this method must not run in parallel.
  ///
  /// - Parameters:
  ///   - limits: the limits that turn a hang into an error.
  ///   - body: the test, which creates the app and runs the world.
  /// - Throws: the error of `body`, or `AppTimeError`: another world has its app under control, this process cannot be
  ///   controlled, or a run ended early because the app did not come to rest.
  public func withAppTime<Result>(limits: AppTimeLimits = AppTimeLimits(), _ body: () throws -> Result) throws -> Result
  {
    guard realTimeRunner == nil else { throw AppTimeError.realTimeWorld }
    let driver = WorldDriver(start: requestQueue.now)
    try AppTime.activate(wallClock: driver.wallClock, limits: limits)
    appDriver = driver
    defer { end(driver) }
    let result: Result
    do {
      result = try body()
    } catch {
      // A run that ended early is the likely cause of the error.
      try driver.check()
      throw error
    }
    try driver.check()
    return result
  }

  private func end(_ driver: WorldDriver) {
    appDriver = nil
    let counters = AppTime.counters
    AppTime.deactivate()
    let logger = PrintableLogger("BluetoothLab")
    if counters.foreignWakeUps > 0 {
      logger.warning(
        "\(counters.foreignWakeUps) wake-ups came from threads that the world does not control; their order is not reproducible"
      )
    }
    if counters.threads > 0 {
      logger.warning(
        "the app or a library created \(counters.threads) threads, which the world does not control: their sleeps take real time"
      )
    }
    if counters.outsideSources > 0 {
      logger.warning(
        "the app or a library created \(counters.outsideSources) dispatch sources whose events come in real time")
    }
    if counters.lateEvents > 0 {
      logger.warning(
        "\(counters.lateEvents) events of the radio came late, because the app blocked a thread in a callback")
    }
  }
}

extension World {
  // In a separate extension, because the linter reports two overloads of one method in one declaration as ambiguous.
  /// Runs `body` with the app under the control of this world, for asynchronous tests; see the synchronous method.
  public func withAppTime<Result>(
    limits: AppTimeLimits = AppTimeLimits(), isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async throws -> Result {
    guard realTimeRunner == nil else { throw AppTimeError.realTimeWorld }
    let driver = WorldDriver(start: requestQueue.now)
    try await AppTime.activate(wallClock: driver.wallClock, limits: limits)
    appDriver = driver
    defer { end(driver) }
    let result: Result
    do {
      result = try await body()
    } catch {
      try driver.check()
      throw error
    }
    try driver.check()
    return result
  }
}

/// Runs the app of one world. Unchecked, because only the thread that runs the world uses the driver, one thread at a
/// time.
private final class WorldDriver: AppDriver, EventSource, @unchecked Sendable {
  /// The world's time at the activation, the zero of the app's time.
  private let start: Instant
  private var world: DrivenWorld?
  /// The first error of a run.
  private var failure: AppTimeError?
  /// The number of events that the world has processed.
  private var stepCount = 0
  /// True if a run has ended early for the caller to check its condition.
  private var wasInterrupted = false

  /// The seconds from 1970 to 2001, when the clocks of worlds start.
  private static let epoch: Int64 = 978_307_200

  init(start: Instant) { self.start = start }

  /// The wall clock at the activation in nanoseconds since 1970.
  var wallClock: Int64 { Self.epoch * 1_000_000_000 + start.nanoseconds }

  /// Throws the first error of a run.
  func check() throws(AppTimeError) {
    if let failure { throw failure }
  }

  // MARK: AppDriver

  func run(_ world: DrivenWorld, until limit: Instant, unless isDone: () -> Bool) {
    self.world = world
    do throws(AppTimeError) {
      try Scheduler.shared.run(until: target(limit), source: self, unless: isDone)
    } catch {
      failure = failure ?? error
    }
  }

  nonisolated(nonsending) func run(
    _ world: DrivenWorld, until limit: Instant, hasCondition: Bool, unless isDone: () -> Bool
  ) async {
    self.world = world
    do throws(AppTimeError) {
      guard hasCondition else {
        return try await Scheduler.shared.request(until: target(limit), source: self, isolation: #isolation)
      }
      // Settle first, because the condition is evaluated only while the app is at rest, as in the synchronous form.
      try await Scheduler.shared.request(until: nil, source: nil, isolation: #isolation)
      // Only the caller's task may evaluate the condition. A request therefore ends whenever something has happened that
      // an app can observe or, if the condition depends on the time, after each event.
      while !isDone() {
        let (seen, steps) = (activity, stepCount)
        wasInterrupted = false
        try await Scheduler.shared.request(
          until: target(limit), source: self,
          unless: { [self] in
            wasInterrupted = world.isWatched && stepCount != steps || activity != seen
            return wasInterrupted
          }, isolation: #isolation)
        guard wasInterrupted else {
          // The limit is reached. The condition may have become true by a change that no app can observe.
          _ = isDone()
          return
        }
      }
    } catch {
      failure = failure ?? error
    }
  }

  /// A number that changes with everything that an app does or observes.
  private var activity: Int {
    let counters = AppTime.counters
    return (world?.deliveryCount ?? 0) &+ counters.units &+ counters.timers
  }

  var hasNoTimers: Bool { Scheduler.shared.nextTimer == nil }

  var ownsThread: Bool { Scheduler.shared.ownsThread }

  private func time(of instant: Instant) -> Int64 { (instant - start).nanoseconds }

  /// The end of a run in the app's time, which is ahead of the world's if the app has blocked a thread meanwhile.
  private func target(_ limit: Instant) -> Int64 { max(time(of: limit), AppTime.now) }

  // MARK: EventSource

  var nextEvent: Int64? { world?.nextEvent.map(time) }

  var isWaiting: Bool { world?.isWaiting ?? false }

  func step() {
    stepCount += 1
    world?.step()
  }

  func timePassed(to instant: Int64) { world?.pass(to: start + TimeSpan(nanoseconds: instant)) }
}
