import BluetoothLabTime
import Testing

/// An app on a source of events without a world, in tests of Swift Testing.
@Suite(.serialized) struct SwiftTestingTests {
  @Test("An app gives the same trace in each run of a synchronous test")
  func synchronous() throws {
    for _ in 0..<runCount {
      let trace = Trace()
      try AppTime.activate()
      defer { AppTime.deactivate() }
      try AppTime.run(until: Scenario.end, source: Scenario.make(trace))
      try #require(trace.lines == Scenario.expected)
      try #require(AppTime.counters.foreignWakeUps == 0)
    }
  }

  @MainActor
  @Test("An app gives the same trace in each run of a synchronous test on the main actor")
  func synchronousOnMainActor() throws {
    for _ in 0..<runCount {
      let trace = Trace()
      try AppTime.activate()
      defer { AppTime.deactivate() }
      try AppTime.run(until: Scenario.end, source: Scenario.make(trace))
      try #require(trace.lines == Scenario.expected)
      try #require(AppTime.counters.foreignWakeUps == 0)
    }
  }

  @Test("An app gives the same trace in each run of an asynchronous test")
  func asynchronous() async throws {
    for _ in 0..<runCount {
      let trace = Trace()
      try await AppTime.activate()
      defer { AppTime.deactivate() }
      try await AppTime.run(until: Scenario.end, source: Scenario.make(trace))
      try #require(trace.lines == Scenario.expected)
      try #require(AppTime.counters.foreignWakeUps == 0)
    }
  }

  @MainActor
  @Test("An app gives the same trace in each run of an asynchronous test on the main actor")
  func asynchronousOnMainActor() async throws {
    for _ in 0..<runCount {
      let trace = Trace()
      try await AppTime.activate()
      defer { AppTime.deactivate() }
      try await AppTime.run(until: Scenario.end, source: Scenario.make(trace))
      try #require(trace.lines == Scenario.expected)
      try #require(AppTime.counters.foreignWakeUps == 0)
    }
  }

  @Test("Timers of the main run loop fire in the context of the main queue")
  func runLoopTimers() throws {
    let trace = Trace()
    try AppTime.activate()
    defer { AppTime.deactivate() }
    try AppTime.run(until: Scenario.end, source: RunLoopApp.make(trace))
    try #require(trace.milliseconds == RunLoopApp.expected)
  }
}
