import CAppTime
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

// The names of this SPI differ between releases of Swift. The self-test of `AppTime.install` detects a release whose
// runtime does not use the replaced executors.

/// Replaces the executors of the Swift runtime. While virtual time is not active, the new executors pass all jobs to
/// the executors that they replaced.
enum Executors {
  static let baseMain = MainActor.executor
  static let basePool = Task.defaultExecutor

  struct Factory: ExecutorFactory {
    static let mainExecutor: any MainExecutor = VirtualMainExecutor()
    static let defaultExecutor: any TaskExecutor = VirtualPoolExecutor()
  }

  /// Replaces the executors, unless they are replaced already.
  static func replace() {
    // The base executors must be read before the replacement.
    _ = baseMain
    _ = basePool
    guard MainActor.executor !== Factory.mainExecutor || Task.defaultExecutor !== Factory.defaultExecutor else {
      return
    }
    _createExecutors(factory: Factory.self)
  }

  /// Passes a job to an executor of the Swift runtime.
  static func passOn(_ job: UnownedJob, isMain: Bool) {
    if isMain {
      baseMain.enqueue(ExecutorJob(job))
    } else {
      basePool.enqueue(ExecutorJob(job))
    }
  }

  /// Passes a job to an executor of the Swift runtime after a delay in real time.
  static func passOn(_ job: UnownedJob, isMain: Bool, after nanoseconds: Int64) {
    let base: any Executor = isMain ? baseMain : basePool
    guard let scheduling = base as? any SchedulingExecutor else { return passOn(job, isMain: isMain) }
    scheduling.enqueue(
      ExecutorJob(job), after: .nanoseconds(max(0, nanoseconds)), tolerance: nil, clock: ContinuousClock())
  }

  static func add(_ job: UnownedJob, isMain: Bool) {
    if !Scheduler.shared.add(.job(job), isMain: isMain) { passOn(job, isMain: isMain) }
  }

  /// Adds a job that becomes due at an instant of a clock.
  ///
  /// - Returns: False if virtual time is not active, or if the duration of the clock is unknown.
  static func addDelayed<C: Clock>(_ job: UnownedJob, at instant: C.Instant, clock: C, isMain: Bool) -> Bool {
    guard app_time_is_active() else { return false }
    guard let delay = clock.now.duration(to: instant) as? Duration else { return false }
    return Scheduler.shared.addTimer(
      deadline: app_time_now().addingSaturated(delay.saturatedNanoseconds), .push(.job(job), isMain: isMain))
  }
}

/// Replaces the executors when the process starts. A function of the main actor reads the main executor once, when it
/// begins. A test body that began with the old main executor would therefore return to it after each call.
@_cdecl("app_time_process_loaded")
func processLoaded() {
  Executors.replace()
}

extension Duration {
  /// The duration in nanoseconds, rounded up. Durations beyond the range become its bounds.
  var saturatedNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let fraction = attoseconds / 1_000_000_000 + (attoseconds % 1_000_000_000 > 0 ? 1 : 0)
    return product.addingSaturated(fraction)
  }
}

extension Int64 {
  /// The sum; an overflow yields the nearest bound.
  func addingSaturated(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other < 0 ? .min : .max
  }
}

private final class VirtualPoolExecutor: TaskExecutor, SchedulingExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    Executors.add(UnownedJob(job), isMain: false)
  }

  func enqueue<C: Clock>(
    _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
  ) {
    let job = UnownedJob(job)
    if Executors.addDelayed(job, at: instant, clock: clock, isMain: false) { return }
    guard let base = Executors.basePool as? any SchedulingExecutor else {
      return Executors.passOn(job, isMain: false)
    }
    base.enqueue(ExecutorJob(job), at: instant, tolerance: tolerance, clock: clock)
  }
}

private final class VirtualMainExecutor: MainExecutor, SchedulingExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    Executors.add(UnownedJob(job), isMain: true)
  }

  func enqueue<C: Clock>(
    _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
  ) {
    let job = UnownedJob(job)
    if Executors.addDelayed(job, at: instant, clock: clock, isMain: true) { return }
    guard let base = Executors.baseMain as? any SchedulingExecutor else {
      return Executors.passOn(job, isMain: true)
    }
    base.enqueue(ExecutorJob(job), at: instant, tolerance: tolerance, clock: clock)
  }

  func checkIsolated() {
    Executors.baseMain.checkIsolated()
  }

  func run() throws {
    try Executors.baseMain.run()
  }

  func stop() {
    Executors.baseMain.stop()
  }
}
