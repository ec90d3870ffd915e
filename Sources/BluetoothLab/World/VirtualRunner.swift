// Design: runs in virtual time
//
// `run` has two forms. The synchronous one (`@available(*, noasync)`) serves the main run loop while the world is
// held, if it is on the main thread. The `async` one (`nonisolated(nonsending)`) suspends while the world is held
// (`hold`/`release`). Tests whose callbacks start tasks use the `async` form, because a 2-core machine has only two
// pool threads, and blocking both stops all tasks.
//
// Calling `run` in a callback of the same world stops the program with a reason. In a block of a queue that a
// delegate's queue targets, such a call cannot be detected, and is documented as a mistake.

import BluetoothDaemon
import BluetoothRadio
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers
import Synchronization

/// Advances a world's virtual time on the calling thread, for one caller at a time.
final class VirtualRunner: @unchecked Sendable {
  // Only the thread that has called `enter` accesses `engine`, until it calls `leave`; `inspect` states the
  // exceptions.
  private let engine: WorldEngine
  /// False if no code of the program uses the main queue, so that looking for its work, one system call for each event,
  /// is not necessary. Set it while the world is not running.
  var servesMainQueue = true
  /// True while the app's work on the main queue runs. Only the main thread uses it.
  private var isServingMainQueue = false
  /// The number of callbacks whose work on the main queue has run. Only the main thread uses it.
  private var servedDeliveries = 0
  private let state = NIOLockedValueBox(State())
  /// The number of calls of `hold` without a matching `release`. It changes while `state` is locked, and is read without
  /// the lock, once for each event.
  private let holds = Atomic(0)

  private struct State {
    /// True while a thread uses the engine.
    var isRunning = false
    /// The suspended task that waits for the last `release`.
    var continuations: [CheckedContinuation<Void, Never>] = []
    /// The object that runs the app in the world's time; nil: the world only waits for callbacks.
    var driver: (any AppDriver)?
    /// The thread that runs the world without a driver; nil: none does.
    var thread: ObjectIdentifier?
    /// True after the warning about a call that a run could not wait for.
    var hasWarned = false
  }

  init(_ engine: WorldEngine) {
    self.engine = engine
    engine.requestQueue.setCallObserver { [weak self] in self?.noteCall() }
  }

  /// The reason why a run ended.
  enum End {
    case condition, limit, idle
    /// The work that holds the world does not return.
    case stalled
  }

  /// Runs until `isDone` returns true or until `limit`. `isDone` is evaluated after each event that an app could
  /// observe or, if `isDone` reads the clock, after each event of any device.
  func run(until limit: Limit, _ isDone: () -> Bool) -> End {
    enter()
    defer { finish() }
    let last = limit.instant(from: engine.now)
    if let driver {
      var end = End.limit
      driver.run(drivenWorld, until: last) { isOver(limit, isDone, driver, &end) }
      return end
    }
    let servesMainQueue = servesMainQueue && Thread.isMainThread
    observeCalls()
    engine.settle()
    if servesMainQueue { serveMainQueue() }
    while !ask(isDone) {
      guard waitWhileHeld() else { return .stalled }
      engine.settle()
      guard engine.step(until: last) else { return end(at: last, limit) }
      if servesMainQueue { serveMainQueue() }
    }
    return .condition
  }

  /// Runs the work that callbacks have left on the main queue, and processes everything that follows from it at the
  /// current instant.
  private func serveMainQueue() {
    // The limit ends an app that puts work on the queue without end.
    for _ in 0..<MainQueue.maximumRounds {
      guard MainQueue.takeSignal() else { break }
      isServingMainQueue = true
      MainQueue.serve()
      isServingMainQueue = false
      engine.settle()
    }
  }

  /// Runs like the synchronous method, but suspends the task while the world is held.
  ///
  /// - Parameter hasCondition: false if `isDone` is always false, so that nothing needs to evaluate it.
  nonisolated(nonsending) func run(
    until limit: Limit, hasCondition: Bool = true, _ isDone: () -> Bool
  ) async -> End {
    enter()
    defer { finish() }
    let last = limit.instant(from: engine.now)
    if let driver {
      var end = End.limit
      await driver.run(drivenWorld, until: last, hasCondition: hasCondition) { isOver(limit, isDone, driver, &end) }
      return end
    }
    observeCalls()
    engine.settle()
    await yieldToMainQueue()
    while !ask(isDone) {
      guard await untilReleased() else { return .stalled }
      engine.settle()
      guard engine.step(until: last) else { return end(at: last, limit) }
      await yieldToMainQueue()
    }
    return .condition
  }

  /// On the main actor, lets the work run that callbacks have left on the main queue, where it stands behind this task,
  /// and processes everything that follows from it at the current instant.
  private nonisolated(nonsending) func yieldToMainQueue() async {
    guard Self.isOnMainThread else { return }
    // A queue that already has work, such as another run on the main actor, gives no signal for the work of a callback.
    var hasDelivered = engine.deliveryCount != servedDeliveries
    // The limit is necessary: the yields of other runs on the main actor are work of the queue, too.
    for _ in 0..<MainQueue.maximumYields {
      guard MainQueue.takeSignal() || hasDelivered else { break }
      hasDelivered = false
      servedDeliveries = engine.deliveryCount
      isServingMainQueue = true
      await MainQueue.waitForWork()
      isServingMainQueue = false
      observeCalls()
      engine.settle()
    }
  }

  // `Thread.isMainThread` is unavailable in asynchronous functions.
  private static var isOnMainThread: Bool { Thread.isMainThread }

  /// Evaluates the condition of a run. If the condition reads the clock, makes the engine return after every event.
  private func ask(_ isDone: () -> Bool) -> Bool {
    let reads = engine.requestQueue.clockReads
    defer { if engine.requestQueue.clockReads != reads { engine.isWatched = true } }
    return isDone()
  }

  /// Returns true if a run by a driver is over, and notes the reason.
  private func isOver(_ limit: Limit, _ isDone: () -> Bool, _ driver: any AppDriver, _ end: inout End) -> Bool {
    if ask(isDone) {
      end = .condition
    } else if case .idle = limit, engine.isIdle, drivenWorld.nextEvent == nil, driver.hasNoTimers {
      end = .idle
    } else {
      return false
    }
    return true
  }

  // MARK: Driver

  /// The object that runs the app in the world's time; nil: the world only waits for callbacks. Set it while the world
  /// is not running.
  var driver: (any AppDriver)? {
    get { state.withLockedValue { $0.driver } }
    set { state.withLockedValue { $0.driver = newValue } }
  }

  private var drivenWorld: DrivenWorld { DrivenWorld(engine) { self.isHeld } }

  /// The limit of a run.
  enum Limit {
    case duration(TimeSpan)
    /// Until no work is pending, for at most this time.
    case idle(TimeSpan)

    func instant(from now: Instant) -> Instant {
      switch self {
      case .duration(let span), .idle(let span): now + span
      }
    }
  }

  /// Ends a run that has no event left until `last`.
  private func end(at last: Instant, _ limit: Limit) -> End {
    if case .idle = limit, engine.isIdle { return .idle }
    engine.passTime(to: last)
    return .limit
  }

  private func enter() {
    let wasRunning = state.withLockedValue { state in
      defer { state.isRunning = true }
      return state.isRunning
    }
    // `fatalError`, because a failed precondition prints no message in release builds.
    if wasRunning {
      fatalError("World.run was called while the world is running: in a callback of the world, or on another thread")
    }
  }

  private func finish() {
    engine.isWatched = false
    engine.requestQueue.isObservingCalls = false
    state.withLockedValue { state in
      state.thread = nil
      state.isRunning = false
    }
  }

  private func leave() { state.withLockedValue { $0.isRunning = false } }

  // MARK: Calls from other threads

  // `Thread.current` is unavailable in asynchronous functions.
  private static var currentThread: ObjectIdentifier { ObjectIdentifier(Thread.current) }

  /// Begins to observe the calls of apps, or goes on after a task was suspended, which may resume on another thread.
  private func observeCalls() {
    let observes = state.withLockedValue { state in
      if !state.hasWarned { state.thread = Self.currentThread }
      return !state.hasWarned
    }
    engine.requestQueue.isObservingCalls = observes
  }

  /// Logs the first call that comes from another thread than the one that runs the world, except from held work. The
  /// queue does not report calls during callbacks. The main queue's work runs on the thread that runs the world.
  private func noteCall() {
    guard !isHeld else { return }
    let isFirst = state.withLockedValue { state in
      guard !state.hasWarned, let thread = state.thread, thread != Self.currentThread else { return false }
      state.hasWarned = true
      return true
    }
    guard isFirst else { return }
    let queue = engine.requestQueue
    queue.isObservingCalls = false
    PrintableLogger("BluetoothLab").warning(
      """
      at \(queue.now.sinceZero.duration), an app called Bluetooth from a thread or task that the run could not wait \
      for, so the time of the call can differ between runs: use World.hold(during:), or the product BluetoothLabTime
      """)
  }

  /// Inspects the world while it is not running, is in a callback, or is held.
  func inspect<R>(_ body: (WorldEngine) -> R) -> R {
    let mayEnter = state.withLockedValue { state in
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mayEnter {
      defer { leave() }
      return body(engine)
    }
    // The thread that runs the world is blocked in a callback, waits for a release, or runs the app's code: for a
    // driver, or on the main queue.
    guard engine.isInCallback || isHeld || isServingMainQueue || driver?.ownsThread == true else {
      fatalError("a world was accessed while it was running, outside its callbacks")
    }
    return body(engine)
  }

  // MARK: Hold and release

  /// Holds the world until `release`. Returns the number of the work.
  ///
  /// - Parameter place: the place of the call in the source.
  func hold(_ place: String) -> Int {
    let number = watch.add(place)
    state.withLockedValue { _ in _ = holds.add(1, ordering: .releasing) }
    return number
  }

  func release(_ number: Int) {
    watch.remove(number)
    let isReleased = state.withLockedValue { _ in holds.subtract(1, ordering: .releasing).newValue == 0 }
    if isReleased { wakeWaitingRun() }
  }

  /// The watch over work that does not return.
  let watch = HoldWatch()

  private let released = ReleaseSignal()

  private var isHeld: Bool { holds.load(ordering: .acquiring) > 0 }

  /// True while a run must wait: the world is held, and the work can still return.
  private var mustWait: Bool { isHeld && !watch.isStalled }

  private func wakeWaitingRun() {
    let waiting = state.withLockedValue { state in
      defer { state.continuations = [] }
      return state.continuations
    }
    for continuation in waiting { continuation.resume() }
    released.signal()
  }

  /// Waits until the world is released. Returns false if the work that holds it does not return.
  private func waitWhileHeld() -> Bool {
    guard isHeld else { return true }
    watch.beginWait { [weak self] in self?.wakeWaitingRun() }
    defer { watch.endWait() }
    while mustWait { released.wait { self.mustWait } }
    return !watch.isStalled
  }

  /// Waits like the synchronous method, but suspends the task.
  private nonisolated(nonsending) func untilReleased() async -> Bool {
    guard isHeld else { return true }
    watch.beginWait { [weak self] in self?.wakeWaitingRun() }
    defer { watch.endWait() }
    while mustWait {
      await withCheckedContinuation { continuation in
        let waits = state.withLockedValue { state in
          let waits = mustWait
          if waits { state.continuations.append(continuation) }
          return waits
        }
        if !waits { continuation.resume() }
      }
    }
    observeCalls()
    return !watch.isStalled
  }
}

/// Blocks a thread until a signal: the main thread runs its run loop meanwhile, other threads sleep.
private final class ReleaseSignal: Sendable {
  private let condition = NSCondition()

  func signal() {
    condition.lock()
    condition.broadcast()
    condition.unlock()
    // Wakes the main thread if it waits in its run loop.
    RunLoop.main.perform {}
  }

  func wait(while mustWait: () -> Bool) {
    if Thread.isMainThread {
      _ = RunLoop.main.run(mode: .default, before: .distantFuture)
    } else {
      condition.lock()
      if mustWait() { condition.wait() }
      condition.unlock()
    }
  }
}
