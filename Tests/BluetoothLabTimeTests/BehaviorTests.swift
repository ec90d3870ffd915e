import BluetoothLabTime
@preconcurrency import Dispatch
import Synchronization
import XCTest

/// Tests of single functions, limits and errors from a synchronous body on the main thread.
final class BehaviorTests: XCTestCase {
  private let trace = Trace()

  override func tearDown() {
    AppTime.deactivate()
  }

  func testErrors() throws {
    XCTAssertThrowsError(try AppTime.settle()) { XCTAssertEqual($0 as? AppTimeError, .notActive) }
    try AppTime.activate()
    XCTAssertThrowsError(try AppTime.activate()) { XCTAssertEqual($0 as? AppTimeError, .busy) }
    try AppTime.advance(to: 5)
    XCTAssertThrowsError(try AppTime.run(until: 4)) {
      XCTAssertEqual($0 as? AppTimeError, .timeRunsForward(now: 5, target: 4))
    }
  }

  func testSettleDoesNotMoveTime() throws {
    try AppTime.activate()
    Task { [trace] in
      trace.note("before")
      try await Task.sleep(for: .milliseconds(1))
      trace.note("after")
    }
    XCTAssertEqual(trace.lines, [])
    try AppTime.settle()
    XCTAssertEqual(trace.lines, ["0 before"])
    XCTAssertEqual(AppTime.nextTimer, millisecond)
    XCTAssertTrue(AppTime.fireOne())
    XCTAssertEqual(AppTime.now, millisecond)
    XCTAssertEqual(trace.lines, ["0 before"])
    try AppTime.settle()
    XCTAssertEqual(trace.lines, ["0 before", "1000000 after"])
    XCTAssertFalse(AppTime.fireOne())
    XCTAssertNil(AppTime.nextTimer)
  }

  func testWallClock() throws {
    try AppTime.activate(wallClock: 1_700_000_000_000_000_000)
    XCTAssertEqual(Date(), Date(timeIntervalSince1970: 1_700_000_000))
    try AppTime.run(until: 1_500 * millisecond)
    XCTAssertEqual(Date(), Date(timeIntervalSince1970: 1_700_000_001.5))
    XCTAssertEqual(time(nil), 1_700_000_001)
  }

  func testRunFromAnotherThread() throws {
    let isDone = expectation(description: "done")
    let trace = trace
    Thread.detachNewThread {
      do {
        try AppTime.activate()
        try AppTime.run(until: Scenario.end, source: Scenario.make(trace))
        AppTime.deactivate()
      } catch {
        XCTFail("\(error)")
      }
      isDone.fulfill()
    }
    wait(for: [isDone], timeout: 60)
    XCTAssertEqual(trace.lines, Scenario.expected)
  }

  func testRunInsideWork() throws {
    try AppTime.activate()
    Task.detached { [trace] in runSynchronously(trace, "task") }
    try AppTime.settle()
    DispatchQueue.main.async { [trace] in runSynchronously(trace, "main queue") }
    try AppTime.settle()
    DispatchQueue(label: "inner").async { [trace] in runSynchronously(trace, "queue") }
    try AppTime.settle()
    XCTAssertEqual(
      trace.lines,
      [
        "0 task", "1000000 task slept", "2000000 task main", "2000000 task end",
        "2000000 main queue", "3000000 main queue slept", "4000000 main queue main", "4000000 main queue end",
        "4000000 queue", "5000000 queue slept", "6000000 queue main", "6000000 queue end",
      ])
  }

  func testStall() throws {
    try AppTime.activate(limits: AppTimeLimits(stallSeconds: 0.3))
    let lock = NSLock()
    lock.lock()
    DispatchQueue(label: "com.example.blocked").async { [trace] in
      lock.lock()
      trace.note("unblocked")
      lock.unlock()
    }
    XCTAssertThrowsError(try AppTime.settle()) { error in
      XCTAssertEqual(
        error as? AppTimeError,
        .stalled(seconds: 0.3, held: ["running: a block on queue \"com.example.blocked\""]))
    }
    XCTAssertThrowsError(try AppTime.settle())
    lock.unlock()
    try AppTime.settle()
    XCTAssertEqual(trace.lines, ["0 unblocked"])
  }

  func testStalledTask() throws {
    try AppTime.activate(limits: AppTimeLimits(stallSeconds: 0.3))
    let lock = NSLock()
    lock.lock()
    let trace = trace
    Task.detached {
      lock.withLock { trace.note("unblocked") }
    }
    XCTAssertThrowsError(try AppTime.settle()) { error in
      XCTAssertEqual(error as? AppTimeError, .stalled(seconds: 0.3, held: ["running: a Swift task"]))
    }
    lock.unlock()
    try AppTime.settle()
    XCTAssertEqual(trace.lines, ["0 unblocked"])
  }

  func testWorkThatNeverRests() throws {
    try AppTime.activate(limits: AppTimeLimits(unitsPerInstant: 1_000))
    let isDone = Flag()
    let task = Task { while !Task.isCancelled { await Task.yield() } }
    XCTAssertThrowsError(try AppTime.settle()) { error in
      XCTAssertEqual(error as? AppTimeError, .neverRests(items: 1_000, held: ["queued: a Swift task"]))
    }
    task.cancel()
    try AppTime.settle()
    @Sendable func again() {
      if !isDone.value { DispatchQueue.main.async { again() } }
    }
    again()
    XCTAssertThrowsError(try AppTime.settle())
    isDone.value = true
    try AppTime.settle()
    isDone.value = false
    @Sendable func afterZero() {
      if !isDone.value { DispatchQueue.main.asyncAfter(deadline: .now()) { afterZero() } }
    }
    afterZero()
    XCTAssertThrowsError(try AppTime.run(until: 1))
    isDone.value = true
    try AppTime.run(until: 1)
  }

  func testForeignWakeUps() throws {
    try AppTime.activate()
    let semaphore = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [trace] in
      DispatchQueue.main.async { trace.note("from outside") }
      semaphore.signal()
    }
    semaphore.wait()
    try AppTime.settle()
    XCTAssertEqual(trace.lines, ["0 from outside"])
    XCTAssertEqual(AppTime.counters.foreignWakeUps, 1)
  }

  func testDeactivationPassesWorkOn() throws {
    try AppTime.activate()
    let trace = trace
    let names = [
      "task", "main actor", "main queue", "queue", "sleep", "after", "source", "semaphore", "timer", "blocking sleep",
      "main sync",
    ]
    let expectations = Dictionary(uniqueKeysWithValues: names.map { ($0, expectation(description: $0)) })
    let queue = DispatchQueue(label: "held")
    let semaphore = DispatchSemaphore(value: 0)
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.setEventHandler { expectations["source"]!.fulfill() }
    source.schedule(deadline: .now() + .milliseconds(20))
    source.resume()
    DispatchQueue(label: "held.semaphore").async {
      semaphore.wait()
      expectations["semaphore"]!.fulfill()
    }
    DispatchQueue(label: "held.sleep").async {
      usleep(20_000)
      expectations["blocking sleep"]!.fulfill()
    }
    Task {
      try await Task.sleep(for: .milliseconds(20))
      expectations["sleep"]!.fulfill()
    }
    queue.asyncAfter(deadline: .now() + .milliseconds(20)) { expectations["after"]!.fulfill() }
    _ = Timer.scheduledTimer(withTimeInterval: 0.02, repeats: false) { _ in expectations["timer"]!.fulfill() }
    try AppTime.settle()
    Task.detached { expectations["task"]!.fulfill() }
    Task { @MainActor in expectations["main actor"]!.fulfill() }
    DispatchQueue.main.async { expectations["main queue"]!.fulfill() }
    queue.async { expectations["queue"]!.fulfill() }
    Thread.detachNewThread { DispatchQueue.main.sync { expectations["main sync"]!.fulfill() } }
    trace.note("end")
    AppTime.deactivate()
    let start = ContinuousClock.now
    semaphore.signal()
    wait(for: Array(expectations.values), timeout: 10)
    XCTAssertGreaterThan(start.duration(to: .now), .milliseconds(10))
    source.cancel()
  }

  func testBlockedMainThread() throws {
    try AppTime.activate()
    let semaphore = DispatchSemaphore(value: 0)
    DispatchQueue.main.async { [trace] in
      Task.detached {
        try await Task.sleep(for: .milliseconds(3))
        DispatchQueue.main.async { trace.note("main queue, after the block") }
        semaphore.signal()
      }
      semaphore.wait()
      trace.note("semaphore")
      Thread.sleep(forTimeInterval: 0.25)
      trace.note("slept")
      XCTAssertEqual(semaphore.wait(timeout: .now() + .milliseconds(5)), .timedOut)
      trace.note("expired")
    }
    try AppTime.settle()
    XCTAssertEqual(
      trace.milliseconds, ["3 semaphore", "253 slept", "258 expired", "258 main queue, after the block"])
  }

  func testSuspendedQueueAndSource() throws {
    try AppTime.activate()
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    queue.async { [trace] in trace.note("queue") }
    let source = DispatchSource.makeTimerSource(queue: .main)
    source.setEventHandler { [trace] in trace.note("source") }
    source.schedule(deadline: .now() + .milliseconds(1), repeating: .milliseconds(1))
    source.resume()
    source.suspend()
    try AppTime.run(until: 5 * millisecond)
    XCTAssertEqual(trace.lines, [])
    queue.resume()
    source.resume()
    try AppTime.run(until: 6 * millisecond)
    XCTAssertEqual(trace.lines, ["5000000 queue", "5000000 source", "6000000 source"])
    source.cancel()
    queue.sync {}
  }

  func testOperationQueue() throws {
    try AppTime.activate()
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    for index in 1...3 { queue.addOperation { [trace] in trace.note("operation \(index)") } }
    OperationQueue.main.addOperation { [trace] in trace.note("main operation") }
    try AppTime.settle()
    // The serial queue keeps its order; the main queue runs beside it.
    XCTAssertEqual(
      trace.lines.filter { $0 != "0 main operation" }, ["0 operation 1", "0 operation 2", "0 operation 3"])
    XCTAssertEqual(trace.lines.count, 4)
    DispatchQueue.concurrentPerform(iterations: 3) { [trace] in trace.note("iteration \($0)") }
    XCTAssertEqual(trace.lines.suffix(3), ["0 iteration 0", "0 iteration 1", "0 iteration 2"])
  }
}

private final class Flag: Sendable {
  private let state = Mutex(false)

  var value: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}

private func runSynchronously(_ trace: Trace, _ name: String) {
  trace.note(name)
  Task {
    try await Task.sleep(for: .milliseconds(1))
    trace.note("\(name) slept")
  }
  DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(2)) { trace.note("\(name) main") }
  XCTAssertNoThrow(try AppTime.run(until: AppTime.now + 2 * millisecond))
  trace.note("\(name) end")
}
