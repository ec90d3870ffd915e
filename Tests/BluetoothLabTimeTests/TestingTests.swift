import BluetoothLabTime
@preconcurrency import Dispatch
import Foundation
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

  /// The code that uses the main run loop.
  enum Origin: CaseIterable {
    case testBody, mainQueue, queue, synchronousCall, task, mainActorTask

    func perform(_ body: @escaping @Sendable () -> Void) {
      switch self {
      case .testBody: body()
      case .mainQueue: DispatchQueue.main.async(execute: body)
      case .queue: DispatchQueue(label: "app").async(execute: body)
      case .synchronousCall: DispatchQueue(label: "app").sync(execute: body)
      case .task: Task.detached { body() }
      case .mainActorTask: Task { @MainActor in body() }
      }
    }
  }

  private static let mainRunLoopSteps = [
    "0 performed", "20 timer on the main queue", "30 added by a timer", "50 tick", "100 tick",
  ]

  /// Adds timers and a block to the main run loop.
  private func useMainRunLoop(_ trace: Trace) -> @Sendable () -> Void {
    {
      RunLoop.main.add(
        Timer(fire: Date() + 0.02, interval: 0, repeats: false) { _ in
          dispatchPrecondition(condition: .onQueue(.main))
          trace.note("timer \(RunLoop.current === RunLoop.main ? "on the main queue" : "elsewhere")")
          RunLoop.main.add(
            Timer(fire: Date() + 0.01, interval: 0, repeats: false) { _ in trace.note("added by a timer") },
            forMode: .default)
        }, forMode: .common)
      RunLoop.main.add(
        Timer(fire: Date() + 0.05, interval: 0.05, repeats: true) { timer in
          trace.note("tick")
          if trace.lines.count(where: { $0.hasSuffix("tick") }) == 2 { timer.invalidate() }
        }, forMode: .default)
      RunLoop.main.perform {
        dispatchPrecondition(condition: .onQueue(.main))
        trace.note("performed")
      }
    }
  }

  @Test(
    "Timers and blocks of the main run loop run at their instants in a synchronous test", arguments: Origin.allCases)
  func mainRunLoop(origin: Origin) throws {
    for _ in 0..<runCount {
      let trace = Trace()
      try AppTime.activate(limits: AppTimeLimits(stallSeconds: 2))
      defer { AppTime.deactivate() }
      origin.perform(useMainRunLoop(trace))
      try AppTime.run(until: 1_000 * millisecond)
      try #require(trace.milliseconds == Self.mainRunLoopSteps)
      try #require(AppTime.counters.foreignWakeUps == 0)
    }
  }

  @Test(
    "Timers and blocks of the main run loop run at their instants in an asynchronous test", arguments: Origin.allCases)
  func mainRunLoopAsync(origin: Origin) async throws {
    for _ in 0..<runCount {
      let trace = Trace()
      try await AppTime.activate(limits: AppTimeLimits(stallSeconds: 2))
      defer { AppTime.deactivate() }
      origin.perform(useMainRunLoop(trace))
      try await AppTime.run(until: 1_000 * millisecond)
      try #require(trace.milliseconds == Self.mainRunLoopSteps)
      try #require(AppTime.counters.foreignWakeUps == 0)
    }
  }

  @MainActor
  @Test(
    "Timers and blocks of the main run loop run at their instants in a test on the main actor",
    arguments: Origin.allCases)
  func mainRunLoopOnMainActor(origin: Origin) async throws {
    for _ in 0..<runCount {
      let trace = Trace()
      try await AppTime.activate(limits: AppTimeLimits(stallSeconds: 2))
      defer { AppTime.deactivate() }
      origin.perform(useMainRunLoop(trace))
      try await AppTime.run(until: 1_000 * millisecond)
      try #require(trace.milliseconds == Self.mainRunLoopSteps)
      try #require(AppTime.counters.foreignWakeUps == 0)
    }
  }
}
