import BluetoothLab
import BluetoothLabTime
import XCTest

/// The number of runs that must give the same trace. `.ci/run app_time_long` raises it.
let runCount = ProcessInfo.processInfo.environment["APP_TIME_RUNS"].flatMap { Int($0) } ?? 100

class RepeatedTests: XCTestCase {
  override func setUp() {
    continueAfterFailure = false
  }
}

final class BlockingXCTests: RepeatedTests {
  /// A callback that blocks the main thread holds up its event; the app's timers and the later events go on.
  func testCallbackThatSleeps() async throws {
    let world = HoppingApp.makeWorld()
    try await world.withAppTime {
      let app = HoppingApp(hop: .none, in: world, queue: nil)
      app.sleepsWhenConnected = true
      await world.run(until: { app.valueCount == 2 }, limit: .seconds(30))
      XCTAssertEqual(app.valueCount, 2)
    }
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
