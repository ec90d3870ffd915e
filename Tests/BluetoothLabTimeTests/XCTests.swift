import BluetoothLabTime
import XCTest

/// The number of runs that must give the same trace. `stress.sh` raises it.
let runCount = ProcessInfo.processInfo.environment["APP_TIME_RUNS"].flatMap { Int($0) } ?? 100

class RepeatedTests: XCTestCase {
  override func setUp() {
    continueAfterFailure = false
  }
}

final class SynchronousXCTests: RepeatedTests {
  private func run(_ source: (Trace) -> CallbackSource) throws -> Trace {
    let trace = Trace()
    try AppTime.activate()
    defer { AppTime.deactivate() }
    try AppTime.run(until: Scenario.end, source: source(trace))
    XCTAssertEqual(AppTime.counters.foreignWakeUps, 0)
    return trace
  }

  func testScenario() throws {
    for _ in 0..<runCount { XCTAssertEqual(try run(Scenario.make).lines, Scenario.expected) }
  }

  func testRunLoopTimers() throws {
    for _ in 0..<runCount { XCTAssertEqual(try run(RunLoopApp.make).milliseconds, RunLoopApp.expected) }
  }
}

final class AsynchronousXCTests: RepeatedTests {
  private func run(_ source: (Trace) -> CallbackSource) async throws -> Trace {
    let trace = Trace()
    try await AppTime.activate()
    defer { AppTime.deactivate() }
    try await AppTime.run(until: Scenario.end, source: source(trace))
    XCTAssertEqual(AppTime.counters.foreignWakeUps, 0)
    return trace
  }

  func testScenario() async throws {
    for _ in 0..<runCount {
      let trace = try await run(Scenario.make)
      XCTAssertEqual(trace.lines, Scenario.expected)
    }
  }

  func testRunLoopTimers() async throws {
    for _ in 0..<runCount {
      let trace = try await run(RunLoopApp.make)
      XCTAssertEqual(trace.milliseconds, RunLoopApp.expected)
    }
  }
}

final class MainActorXCTests: RepeatedTests {
  @MainActor
  private func run(_ source: (Trace) -> CallbackSource) async throws -> Trace {
    let trace = Trace()
    try await AppTime.activate()
    defer { AppTime.deactivate() }
    try await AppTime.run(until: Scenario.end, source: source(trace))
    XCTAssertEqual(AppTime.counters.foreignWakeUps, 0)
    return trace
  }

  @MainActor
  func testScenario() async throws {
    for _ in 0..<runCount {
      let trace = try await run(Scenario.make)
      XCTAssertEqual(trace.lines, Scenario.expected)
    }
  }

  @MainActor
  func testRunLoopTimers() async throws {
    for _ in 0..<runCount {
      let trace = try await run(RunLoopApp.make)
      XCTAssertEqual(trace.milliseconds, RunLoopApp.expected)
    }
  }
}
