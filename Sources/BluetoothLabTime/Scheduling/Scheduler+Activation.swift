import CAppTime
import Foundation
import Synchronization

extension Scheduler {
  private static let installation: Void = {
    app_time_mark_main_queue()
    setHooks()
    Executors.replace()
    app_time_start_thread({ _ in Scheduler.shared.watch() }, nil)
  }()

  func install() {
    Self.installation
  }

  /// Starts virtual time at 0.
  ///
  /// - Parameter isServed: True for an asynchronous test body, which the server runs as a part of the app's work. A
  ///   synchronous body runs on the calling thread.
  func activate(wallClock: Int64?, limits: AppTimeLimits, isServed: Bool) throws(AppTimeError) {
    if isServed { startServer() }
    // The driver of an earlier activation may still be on its way out.
    var attempts = 1000
    while state.withLock({ $0.driver != nil }), !ownsThread, attempts > 0 {
      app_time_real_sleep(1_000_000)
      attempts -= 1
    }
    let activation: Int? = state.withLock { state in
      guard !state.isActive, attempts > 0 else { return nil }
      state.isActive = true
      state.activation += 1
      state.limits = limits
      state.counters = AppTimeCounters()
      state.unitsAtInstant = 0
      // A wait in the previous activation does not count in this one.
      state.progress += 1
      state.occupants = []
      state.report = nil
      // The body may change its executor on its way to its first request.
      state.isServed = isServed
      app_time_start(wallClock ?? -1)
      return state.activation
    }
    guard let activation else { throw .busy }
    if !isServed { adopt(activation: activation) }
  }

  /// Returns to real time and passes all held work to the runtime and to libdispatch.
  func deactivate() {
    struct Held {
      var now: Int64
      var blocked: [Work]
      var pool: [Work]
      var main: [Work]
      var timers: [AppTimerHeap.Entry]
      var sources: [TimerSource]
      var descriptors: [Int32: (arming: Int, deadline: Int64)]
      var suspended: [QueueCall]
      var groups: [(group: Handle, call: QueueCall)]
      var waiters: [Waiter]
      var requests: [Request]
    }
    let held: Held? = state.withLock { state in
      guard state.isActive else { return nil }
      state.isActive = false
      state.isServed = false
      state.isMainBlocked = false
      let held = Held(
        now: app_time_now(), blocked: state.blocked.map(\.work),
        pool: state.pool.removeAll(), main: state.main.removeAll(),
        timers: state.timers.removeAll(), sources: Array(state.timerSources.values),
        descriptors: state.descriptors, suspended: state.suspensions.values.flatMap(\.calls),
        groups: state.groupNotifications.flatMap { group, calls in calls.map { (group, $0) } },
        waiters: state.waiters, requests: state.requests.removeAll())
      state.timerSources = [:]
      state.descriptors = [:]
      state.suspensions = [:]
      state.groupNotifications = [:]
      state.waiters = []
      state.occupants = []
      state.blocked = []
      app_time_stop()
      return held
    }
    guard let held else { return }
    if let current = Participant.current, current.activation != nil { Participant.current = nil }

    // The admitted work comes before the blocked work. Later calls on the same queues come after both.
    for work in held.pool.filter(\.isAdmitted) + held.blocked { passOn(work, isMain: false) }
    for work in held.pool where !work.isAdmitted { passOn(work, isMain: false) }
    for work in held.main { passOn(work, isMain: true) }
    for call in held.suspended { call.passOn() }
    for waiter in held.waiters { waiter.participant.release() }
    for (group, call) in held.groups {
      app_time_real_group_notify(group.pointer, call.queue.pointer, call.context, call.function)
      app_time_release(call.queue.pointer)
      app_time_release(group.pointer)
    }
    for timer in held.timers {
      guard case .push(let work, let isMain) = timer.action else { continue }
      passOn(work, isMain: isMain, after: timer.deadline - held.now)
    }
    for source in held.sources { passOn(source, now: held.now) }
    for (descriptor, timer) in held.descriptors where timer.deadline != .max {
      app_time_real_timer_descriptor(descriptor, timer.deadline - held.now, false)
    }
    for request in held.requests { request.continuation.resume(returning: .notActive) }
  }

  private func passOn(_ work: Work, isMain: Bool, after delay: Int64? = nil) {
    switch work {
    case .job(let job):
      if let delay {
        Executors.passOn(job, isMain: isMain, after: delay)
      } else {
        Executors.passOn(job, isMain: isMain)
      }
    case .call(let call), .admitted(let call, _):
      if let delay {
        call.passOn(after: delay, now: 0)
      } else {
        call.passOn()
      }
    case .synchronousCall(_, let participant), .resume(let participant):
      // The thread repeats its blocking call in real time.
      participant.release()
    case .turn:
      // The list of waiters has the caller, too.
      break
    case .runLoopTimer(let descriptor):
      app_time_real_timer_descriptor(descriptor, 1, false)
    case .runLoopBlock:
      // The run loop has the block.
      break
    }
  }

  /// Gives a timer source its real timer and its real handlers.
  private func passOn(_ source: TimerSource, now: Int64) {
    let pointer = source.source.pointer
    guard !source.isCancelled else { return }
    if let handler = source.eventHandler { app_time_real_source_handler(pointer, false, handler.pointer) }
    if let handler = source.cancelHandler { app_time_real_source_handler(pointer, true, handler.pointer) }
    guard source.kind == app_time_source_timer else {
      let data = state.withLock { _ in
        defer { source.pendingData = 0 }
        return source.pendingData
      }
      if data != 0 { app_time_real_merge_data(pointer, data) }
      return
    }
    if source.isExpired {
      app_time_real_source_timer(pointer, 0, source.interval)
    } else if source.deadline != .max {
      app_time_real_source_timer(pointer, source.deadline - now, source.interval)
    }
  }

  /// Reports a driver that hangs inside the app's code and a test body that waits without a driver, because these cannot
  /// fail with an error. Ends the process if the wait goes on.
  private func watch() {
    let tick = 0.5
    var watchdog = Watchdog()
    while true {
      app_time_real_sleep(Int64(tick * 1e9))
      let (action, isDriven, held) = state.withLock { state in
        let isDriven = state.driver != nil
        let action = watchdog.tick(
          seconds: tick, progress: state.progress, isActive: state.isActive, isDriven: isDriven, limits: state.limits)
        return (action, isDriven, action == .wait ? [] : state.held)
      }
      guard action != .wait else { continue }
      let report: String
      if isDriven {
        report = "\(AppTimeError.stalled(seconds: watchdog.idle, held: held).description)\n"
      } else {
        report = Self.waitReport(seconds: watchdog.idle, held)
        state.withLock { $0.report = report }
      }
      app_time_report(report)
      guard action == .end else { continue }
      app_time_report(
        "The process ends, because no error can end this wait. AppTimeLimits.abortSeconds sets the limit.\n")
      abort()
    }
  }

  private static func waitReport(seconds: Double, _ held: [String]) -> String {
    "The test has not run its world for \(seconds) s of real time, and the app is at rest. Time passes only in `run`, so "
      + "a wait in the test body (wait(for:timeout:) of XCTest, RunLoop.run, Task.sleep, a result of the app) never ends. "
      + "Call world.run(until:) instead, or wait in a task and run the world meanwhile. Work that has not finished: "
      + "\(held.isEmpty ? "none" : held.joined(separator: "; ")).\n"
  }
}
