import BluetoothLabTime
@preconcurrency import Dispatch
import Foundation
import Synchronization
import XCTest

/// Tests of asynchronous test bodies.
final class AsynchronousBehaviorTests: XCTestCase {
  private let trace = Trace()

  override func tearDown() {
    AppTime.deactivate()
  }

  func testBodyAwaitsWorkWithoutRun() async throws {
    try await AppTime.activate()
    let value = await Task { 3 }.value
    XCTAssertEqual(value, 3)
    await MainActor.run { [trace] in trace.note("main actor") }
    XCTAssertEqual(trace.lines, ["0 main actor"])
    try await AppTime.run(until: millisecond)
    XCTAssertEqual(AppTime.now, millisecond)
  }

  func testConcurrentBodies() async throws {
    try await AppTime.activate()
    let sleeper = Task { [trace] in
      try await Task.sleep(for: .milliseconds(2))
      trace.note("slept")
    }
    try await AppTime.settle()
    XCTAssertEqual(AppTime.nextTimer, 2 * millisecond)
    AppTime.fireOne()
    try await sleeper.value
    XCTAssertEqual(trace.lines, ["2000000 slept"])
  }

  @MainActor
  func testMainThreadThatWaits() async throws {
    let trace = trace
    try await AppTime.activate()
    DispatchQueue.main.async {
      let semaphore = DispatchSemaphore(value: 0)
      Task.detached {
        try await Task.sleep(for: .milliseconds(3))
        DispatchQueue.main.async { trace.note("main queue, after the block") }
        semaphore.signal()
      }
      semaphore.wait()
      trace.note("semaphore")
      Thread.sleep(forTimeInterval: 0.25)
      trace.note("slept")
    }
    try await AppTime.run(until: 300 * millisecond)
    XCTAssertEqual(trace.milliseconds, ["3 semaphore", "253 slept", "253 main queue, after the block"])
  }

  func testStall() async throws {
    try await AppTime.activate(limits: AppTimeLimits(stallSeconds: 0.3))
    let gate = Gate()
    DispatchQueue(label: "com.example.blocked").async { gate.wait() }
    do {
      try await AppTime.settle()
      XCTFail("no error")
    } catch {
      XCTAssertEqual(
        error, .stalled(seconds: 0.3, held: ["running: a block on queue \"com.example.blocked\""]))
    }
    gate.open()
    try await AppTime.settle()
  }

  func testDeactivatedRequest() async throws {
    do {
      try await AppTime.run(until: 1)
      XCTFail("no error")
    } catch {
      XCTAssertEqual(error, .notActive)
    }
  }
}

/// A lock that the scheduler does not know. Unchecked, because it is used by any thread, as locks are.
private final class Gate: @unchecked Sendable {
  private let lock = NSLock()

  init() {
    lock.lock()
  }

  func wait() {
    lock.lock()
    lock.unlock()
  }

  func open() {
    lock.unlock()
  }
}
