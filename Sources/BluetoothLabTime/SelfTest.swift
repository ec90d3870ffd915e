import CAppTime
import Dispatch
import Foundation
import Synchronization

/// Tests that the scheduler controls all kinds of work and all clocks of this process.
enum SelfTest {
  static let result: Result<Void, AppTimeError> = {
    // Other threads of the process can disturb one attempt.
    var result: Result<Void, AppTimeError> = .failure(.busy)
    for _ in 1...3 {
      do throws(AppTimeError) {
        try run()
        return .success(())
      } catch {
        result = .failure(error)
      }
    }
    return result
  }()

  private final class Record: Sendable {
    private let state = Mutex<(legs: [String: Int64], isRunning: Bool)>(([:], false))

    /// Records a leg and the instant at which it ran. A leg that runs while no driver runs has escaped.
    func note(_ leg: String) {
      state.withLock { if $0.isRunning { $0.legs[leg] = AppTime.now } }
    }

    func run(_ body: () throws(AppTimeError) -> Void) throws(AppTimeError) {
      state.withLock { $0.isRunning = true }
      defer { state.withLock { $0.isRunning = false } }
      try body()
    }

    func instant(of leg: String) -> Int64? {
      state.withLock { $0.legs[leg] }
    }
  }

  private static func run() throws(AppTimeError) {
    let scheduler = Scheduler.shared
    try scheduler.activate(wallClock: nil, limits: AppTimeLimits(), isServed: false)
    defer { scheduler.deactivate() }
    try testClocks()
    let start = AppTime.now

    let record = Record()
    let millisecond: Int64 = 1_000_000
    let queue = DispatchQueue(label: "virtual-time.self-test")
    Task.detached {
      record.note("a Swift task")
      await Task.yield()
      record.note("Task.yield")
      await MainActor.run { record.note("the main actor") }
      try? await Task.sleep(nanoseconds: UInt64(millisecond))
      record.note("Task.sleep")
    }
    DispatchQueue.main.async {
      record.note("the main queue")
      _ = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in record.note("Timer") }
    }
    queue.async { record.note("another queue") }
    queue.asyncAfter(deadline: .now() + .milliseconds(1)) { record.note("asyncAfter") }
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.setEventHandler { record.note("a dispatch timer source") }
    source.schedule(deadline: .now() + .milliseconds(1))
    source.resume()
    defer { source.cancel() }
    let group = DispatchGroup()
    DispatchQueue(label: "virtual-time.self-test.sleep").async(group: group) {
      record.note("DispatchGroup")
      // The sleep takes virtual time. One that escapes takes real time and ends at another instant.
      Thread.sleep(forTimeInterval: 0.001)
      record.note("Thread.sleep")
    }
    DispatchGroup().notify(queue: queue) { record.note("DispatchGroup.notify") }
    let semaphore = DispatchSemaphore(value: 0)
    DispatchQueue(label: "virtual-time.self-test.wait").async {
      // The limit ends a wait that escapes, in real time.
      if semaphore.wait(timeout: .now() + .milliseconds(5)) == .success { record.note("DispatchSemaphore.wait") }
    }
    queue.asyncAfter(deadline: .now() + .milliseconds(1)) { semaphore.signal() }

    // Escaped work runs on other threads now, before the scheduler lets work run.
    app_time_real_sleep(5 * millisecond)
    try record.run { () throws(AppTimeError) in try AppTime.settle() }
    for leg in [
      "a Swift task", "Task.yield", "the main actor", "the main queue", "another queue", "DispatchGroup",
      "DispatchGroup.notify",
    ] where record.instant(of: leg) != start {
      throw .unsupported(leg: leg)
    }
    let end = start + 6 * millisecond
    try record.run { () throws(AppTimeError) in
      if group.wait(timeout: .now() + .milliseconds(5)) == .success { record.note("DispatchGroup.wait") }
      try AppTime.run(until: end)
    }
    for leg in ["Task.sleep", "asyncAfter", "a dispatch timer source", "DispatchSemaphore.wait"]
    where record.instant(of: leg) != start + millisecond {
      throw .unsupported(leg: leg)
    }
    // Intervals in floating point are not exact, and the main run loop can be late.
    let inexact: [(leg: String, latest: Int64)] = [
      ("Thread.sleep", start + millisecond + 1_000), ("DispatchGroup.wait", start + millisecond + 1_000),
      ("Timer", end),
    ]
    for (leg, latest) in inexact {
      guard let instant = record.instant(of: leg), instant >= start + millisecond - 1_000, instant <= latest else {
        throw .unsupported(leg: leg)
      }
    }
    guard AppTime.counters.foreignWakeUps == 0 else { throw .unsupported(leg: "a wake-up of a Swift task") }
  }

  /// Tests that the clocks stand still in real time and follow virtual time.
  private static func testClocks() throws(AppTimeError) {
    let step: Int64 = 5_000_000
    let clocks: [(name: String, elapsed: () -> Duration)] = [
      stopwatch("ContinuousClock", ContinuousClock()),
      stopwatch("SuspendingClock", SuspendingClock()),
      ("DispatchTime", difference { .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds)) }),
      ("Date", difference { .seconds(Date.timeIntervalSinceReferenceDate) }),
      ("ProcessInfo.systemUptime", difference { .seconds(ProcessInfo.processInfo.systemUptime) }),
    ]
    app_time_real_sleep(2_000_000)
    try AppTime.advance(to: step)
    for clock in clocks {
      // Clocks in floating point are not exact.
      let error = clock.elapsed() - .nanoseconds(step)
      guard abs(error.saturatedNanoseconds) < 1_000 else { throw .unsupported(leg: clock.name) }
    }
  }

  private static func stopwatch<C: Clock>(_ name: String, _ clock: C) -> (String, () -> Duration)
  where C.Duration == Duration {
    let start = clock.now
    return (name, { start.duration(to: clock.now) })
  }

  private static func difference(_ read: @escaping () -> Duration) -> () -> Duration {
    let start = read()
    return { read() - start }
  }
}
