import BluetoothLab
import BluetoothLabTime
import CoreBluetooth
import Foundation
import NIOConcurrencyHelpers
import Testing
import XCTest

/// Worlds that control their app.
@Suite(.serialized) struct WorldTests {
  private let expected = HoppingApp.expectedTrace()

  @Test("An app without hops reaches its fifth value in ten steps")
  func plain() {
    #expect(expected.count == 10)
    #expect(expected.first == "0 on")
  }

  @Test("An app does each step at the instant at which an app without hops does it", arguments: Hop.allCases)
  func synchronous(hop: Hop) throws {
    for queue in [nil, DispatchQueue(label: "app.bluetooth")] {
      for _ in 0..<runCount { try #require(try HoppingApp.run(hop, queue: queue) == expected) }
    }
  }

  @Test("An app does each step at the right instant in asynchronous tests", arguments: Hop.allCases)
  func asynchronous(hop: Hop) async throws {
    for _ in 0..<runCount { try #require(try await HoppingApp.run(hop) == expected) }
  }

  @MainActor
  @Test("An app does each step at the right instant in tests on the main actor", arguments: Hop.allCases)
  func onMainActor(hop: Hop) async throws {
    for _ in 0..<runCount { try #require(try await HoppingApp.run(hop) == expected) }
  }

  @Test("Sleeps, timers and clocks of the app follow the world's time")
  func time() async throws {
    let world = World(seed: 1)
    try await world.withAppTime {
      await world.run(for: .seconds(1))
      let began = (Date(), ContinuousClock.now, DispatchTime.now())
      let woken = Task {
        try await Task.sleep(for: .milliseconds(1_500))
        return world.now
      }
      let clockWoken = Task {
        try await world.clock.sleep(for: .milliseconds(2_500))
        return world.now
      }
      let fired = Task {
        await withCheckedContinuation { continuation in
          DispatchQueue.main.asyncAfter(deadline: .now() + 0.25) { continuation.resume(returning: world.now) }
        }
      }
      await world.run(for: .seconds(3_600))
      let instants = try await (fired.value, woken.value, clockWoken.value)
      #expect(instants == (.milliseconds(1_250), .milliseconds(2_500), .milliseconds(3_500)))
      #expect(began.0.timeIntervalSinceReferenceDate == 1)
      #expect(Date().timeIntervalSince(began.0) == 3_600)
      #expect(ContinuousClock.now - began.1 == .seconds(3_600))
      #expect(DispatchTime.now().uptimeNanoseconds - began.2.uptimeNanoseconds == 3_600_000_000_000)
    }
  }

  @Test("An app may ask the world while it runs, and a held world waits")
  func inspection() throws {
    let world = HoppingApp.makeWorld()
    try world.withAppTime {
      let app = HoppingApp(hop: .task, in: world, queue: nil)
      let asked = Task {
        try await Task.sleep(for: .seconds(1))
        return world.statistics.devices.count
      }
      world.run(for: .seconds(2))
      #expect(app.valueCount > 0)
      let isRight = NIOLockedValueBox(false)
      Task {
        let count = try await asked.value
        isRight.withLockedValue { $0 = count == 2 }
      }
      world.run(for: .seconds(1))
      #expect(isRight.withLockedValue { $0 })
    }
  }

  @Test("An app that never rests is an error that names its work")
  func restless() throws {
    let error = #expect(throws: AppTimeError.self) {
      let world = World(seed: 1)
      try world.withAppTime(limits: AppTimeLimits(unitsPerInstant: 1_000)) {
        let task = Task { while !Task.isCancelled { await Task.yield() } }
        world.run(for: .seconds(1))
        task.cancel()
      }
    }
    guard case .neverRests(1_000, let held) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(held.contains { $0.contains("task") }, "\(held)")
  }

  @Test("A condition that reads the time ends an asynchronous run at its instant, and so does one about the world")
  func conditions() async throws {
    let world = HoppingApp.makeWorld()
    try await world.withAppTime {
      let app = HoppingApp(hop: .task, in: world, queue: nil)
      #expect(await world.run(until: { world.now >= .milliseconds(500) }))
      #expect((.milliseconds(500) ... .milliseconds(700)).contains(world.now))
      #expect(await world.run(until: { world.statistics.devices[0].transmitted.packets > 200 }))
      #expect(await !world.run(until: { false }, limit: .seconds(1)))
      withExtendedLifetime(app) {}
    }
  }

  @Test("An asynchronous run until idle begins with the app's tasks")
  func asynchronousIdle() async throws {
    let world = World(seed: 1)
    try await world.withAppTime {
      let task = Task { try await Task.sleep(for: .seconds(60)) }
      #expect(await world.runUntilIdle())
      #expect(world.now == .seconds(60))
      withExtendedLifetime(task) {}
    }
  }

  @Test("Time stands still while work holds the world, and held work that waits for the time is an error")
  func held() throws {
    let world = World(seed: 1)
    let instants = NIOLockedValueBox<[Duration]>([])
    try world.withAppTime {
      world.hold {
        await Task.yield()
        instants.withLockedValue { $0.append(world.now) }
      }
      world.run(for: .seconds(1))
    }
    #expect(instants.withLockedValue { $0 } == [.zero])
    #expect(throws: AppTimeError.self) {
      try world.withAppTime(limits: AppTimeLimits(stallSeconds: 0.2)) {
        world.hold { try? await Task.sleep(for: .seconds(1)) }
        world.run(for: .seconds(1))
      }
    }
  }

  @Test("A world in real time can't control its app, and a failed run explains the error of the body")
  func errors() throws {
    #expect(throws: AppTimeError.realTimeWorld) { try World(seed: 1, time: .real(speed: 1)).withAppTime {} }
    struct Failure: Error {}
    let explanation = #expect(throws: AppTimeError.self) {
      let world = World(seed: 1)
      try world.withAppTime(limits: AppTimeLimits(unitsPerInstant: 1_000)) {
        let task = Task { while !Task.isCancelled { await Task.yield() } }
        defer { task.cancel() }
        world.run(for: .seconds(1))
        throw Failure()
      }
    }
    #expect(explanation?.description.contains("does not come to rest") == true)
    #expect(throws: Failure.self) { try World(seed: 1).withAppTime { throw Failure() } }
  }

  @Test("A thread that sleeps between runs moves the app's clocks, and the next run goes on from there")
  func blocking() throws {
    let world = World(seed: 1)
    try world.withAppTime {
      let began = (Date(), ContinuousClock.now)
      Thread.sleep(forTimeInterval: 1)
      #expect(Date().timeIntervalSince(began.0) == 1)
      #expect(ContinuousClock.now - began.1 == .seconds(1))
      // The end of this run, at 0.5 s of the world, is past for the app: the world only catches up with the app's clocks.
      world.run(for: .milliseconds(500))
      #expect(world.now == .seconds(1))
      world.run(for: .seconds(2))
      #expect(world.now == .seconds(3))
      #expect(Date().timeIntervalSince(began.0) == 3)
    }
  }

  @Test("Only one world can have its app under control")
  func twoWorlds() throws {
    let (one, other) = (World(seed: 1), World(seed: 2))
    try one.withAppTime {
      #expect(throws: AppTimeError.busy) { try other.withAppTime {} }
      one.run(for: .seconds(1))
    }
    try other.withAppTime { other.run(for: .seconds(1)) }
  }

  @Test("A run until idle waits for the app's timers")
  func idle() throws {
    let world = World(seed: 1)
    try world.withAppTime {
      let task = Task { try await Task.sleep(for: .seconds(60)) }
      #expect(world.runUntilIdle())
      #expect(world.now == .seconds(60))
      withExtendedLifetime(task) {}
    }
  }
}

final class WorldXCTests: RepeatedTests {
  func testSynchronous() throws {
    let expected = HoppingApp.expectedTrace()
    for hop in Hop.allCases {
      for _ in 0..<runCount { XCTAssertEqual(try HoppingApp.run(hop), expected, hop.rawValue) }
    }
  }

  func testAsynchronous() async throws {
    let expected = await Task.detached { HoppingApp.expectedTrace() }.value
    for hop in Hop.allCases {
      for _ in 0..<runCount {
        let trace = try await HoppingApp.run(hop)
        XCTAssertEqual(trace, expected, hop.rawValue)
      }
    }
  }
}
