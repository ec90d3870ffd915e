// Overview
//
// In virtual time a world waits for callbacks, but not for the tasks, timers and sleeps that an app starts in them.
// BluetoothLabTime puts all of an app's code under the world's time, without changes to the app.
//
// The idea: the module replaces the places where a process waits. It installs its own executors in Swift's runtime
// (`Executors.swift`), and the C target CAppTime interposes the functions of libdispatch and of the C library that
// queue blocks, start timers, sleep or read clocks. All of them lead to the `Scheduler`, which executes the app's work
// one unit at a time; when the app is at rest, the world takes its next event, or the time moves to the app's next
// timer.
//
// Callers: tests, by `World.withAppTime` (`World+AppTime.swift`), which makes a `WorldDriver` the world's `AppDriver`
// (BluetoothLab). The scheduler itself knows nothing of Bluetooth.
//
// Invariants:
// - One thread at a time runs: the one that holds the token (`Participant.swift`). So the order of the work, and with
//   it the test, is the same in every run.
// - Work runs where it runs in production: blocks on their real queues, main actor work on the main thread. Isolation
//   checks behave the same.
// - A process has one runtime, so one world at a time has its app under control.
// - Work that never ends, and work that escapes, is an error after a limit, not a hang (`AppTimeLimits.swift`,
//   `Watchdog.swift`).
// - While virtual time is not active, the replaced functions pass everything on.
// - `SelfTest.swift` tests at the start whether this process can be controlled: the hooks depend on the release of
//   Swift.
//
// Where to begin: `World+AppTime.swift` for the use, this file for the same without a world, then `Scheduler.swift` and
// `Scheduler+Driving.swift` for the loop; `Scheduler+Hooks.swift` for the interposed calls; `EventSource.swift` for the
// connection with a world.
//
// Specification: none. The catalog of the module is for users.

import CAppTime
import Synchronization

/// Virtual time for an app under test.
///
/// While virtual time is active, the app's Swift tasks, the blocks of its queues, its sleeps and its timers run under
/// the control of this type, and the clocks show virtual time. Time moves only in `run` and `advance`, and only while
/// the app is at rest. All instants are in nanoseconds since the activation.
///
/// Each function that moves time has a synchronous and an asynchronous form. Call the synchronous form from a
/// synchronous test body and the asynchronous form from an asynchronous one.
package enum AppTime {
  /// Installs virtual time in this process and tests it. Later calls have no effect.
  ///
  /// - Throws: `AppTimeError.unsupported` if a kind of work or a clock escapes the scheduler.
  package static func install() throws(AppTimeError) {
    Scheduler.shared.install()
    try SelfTest.result.get()
  }

  /// Starts virtual time at 0 for a synchronous test body.
  ///
  /// - Parameters:
  ///   - wallClock: The wall clock at the start in nanoseconds since 1970; nil selects the present. XCTest ends
  ///     asynchronous tests that appear to run for more than 30 days, so the wall clock must not jump further ahead.
  ///   - limits: The limits that turn a hang into an error.
  /// - Throws: `AppTimeError.busy` if virtual time is active.
  package static func activate(
    wallClock: Int64? = nil, limits: AppTimeLimits = AppTimeLimits()
  ) throws(AppTimeError) {
    try install()
    try Scheduler.shared.activate(wallClock: wallClock, limits: limits, isServed: false)
  }

  /// Starts virtual time at 0 for an asynchronous test body. The body continues as a part of the app's work.
  package static func activate(
    wallClock: Int64? = nil, limits: AppTimeLimits = AppTimeLimits(),
    isolation: isolated (any Actor)? = #isolation
  ) async throws(AppTimeError) {
    try install()
    try Scheduler.shared.activate(wallClock: wallClock, limits: limits, isServed: true)
    do throws(AppTimeError) {
      try await Scheduler.shared.request(until: nil, source: nil, isolation: isolation)
    } catch {
      deactivate()
      throw error
    }
    // The wake-up of the test body, from a thread outside the scheduler's control, is not the app's.
    Scheduler.shared.state.withLock { $0.counters = AppTimeCounters() }
  }

  /// Returns to real time. Work that has not run and timers that have not fired continue in real time.
  package static func deactivate() {
    Scheduler.shared.deactivate()
  }

  /// True between `activate` and `deactivate`.
  package static var isActive: Bool { app_time_is_active() }

  /// The present instant.
  package static var now: Int64 { app_time_now() }

  /// The real monotonic clock in nanoseconds, for measurements and real-time limits.
  package static var realClock: Int64 { app_time_real_clock() }

  /// The instant of the earliest timer or sleep, or nil if there is none.
  package static var nextTimer: Int64? { Scheduler.shared.nextTimer }

  /// The message about a test body that waits while nothing moves the time, or nil if there was none.
  package static var report: String? { Scheduler.shared.state.withLock { $0.report } }

  /// The counts since the activation.
  package static var counters: AppTimeCounters { Scheduler.shared.state.withLock { $0.counters } }

  /// Runs the app's work until it is at rest. Time does not move.
  package static func settle() throws(AppTimeError) {
    try Scheduler.shared.settle()
  }

  /// Runs the app's work until it is at rest. Time does not move.
  package static func settle(isolation: isolated (any Actor)? = #isolation) async throws(AppTimeError) {
    try await Scheduler.shared.request(until: nil, source: nil, isolation: isolation)
  }

  /// Sets the present instant without firing timers. The app must be at rest.
  package static func advance(to instant: Int64) throws(AppTimeError) {
    guard isActive else { throw .notActive }
    guard instant >= now else { throw .timeRunsForward(now: now, target: instant) }
    Scheduler.shared.setNow(instant)
  }

  /// Fires exactly the earliest timer and moves time to its deadline. The effect follows at the next `settle`.
  ///
  /// - Returns: False if there is no timer.
  @discardableResult
  package static func fireOne() -> Bool {
    Scheduler.shared.fireTimer()
  }

  /// Runs the app, its timers and the events of a source up to and including an instant.
  ///
  /// The app comes to rest between any two timers or events. At one instant, events precede timers.
  ///
  /// - Parameter instant: The end; `Int64.max` runs until no timer and no event is left.
  package static func run(
    until instant: Int64, source: (any EventSource)? = nil
  ) throws(AppTimeError) {
    try Scheduler.shared.run(until: instant, source: source)
  }

  /// Runs the app, its timers and the events of a source up to and including an instant.
  package static func run(
    until instant: Int64, source: (any EventSource)? = nil, isolation: isolated (any Actor)? = #isolation
  ) async throws(AppTimeError) {
    guard isActive else { throw .notActive }
    guard instant >= now else { throw .timeRunsForward(now: now, target: instant) }
    try await Scheduler.shared.request(until: instant, source: source, isolation: isolation)
  }
}
