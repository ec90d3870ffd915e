import BluetoothWire
import Testing

@testable import BluetoothRadio

@Suite("Real time")
struct RealTimeRunnerTests {
  @Test("A world in real time waits as long as its speed says, at most for one hour of world time")
  func wallTime() {
    #expect(RealTimeRunner.wallTime(for: .milliseconds(30), speedPerMille: 1_000) == 30_000_000)
    #expect(RealTimeRunner.wallTime(for: .milliseconds(30), speedPerMille: 10_000) == 3_000_000)
    #expect(RealTimeRunner.wallTime(for: TimeSpan(nanoseconds: -1), speedPerMille: 1_000) == 0)
    // A year is the longest that an app's attempt may be delayed.
    #expect(RealTimeRunner.wallTime(for: .seconds(31_536_000), speedPerMille: 1_000) == 3_600_000_000_000)
    #expect(RealTimeRunner.wallTime(for: TimeSpan(nanoseconds: .max), speedPerMille: 1) == 3_600_000_000_000_000)
  }
}

/// An executor whose timer never fires. Each test has its own executor on one thread, so it shares nothing.
private final class Clockwork: WorldExecutor, @unchecked Sendable {
  /// The durations that the timer was set to, in nanoseconds.
  private(set) var waits: [Int?] = []

  func execute(_ work: @escaping @Sendable () -> Void) { work() }
  func wait<R: Sendable>(for work: () -> R) -> R { work() }
  func begin(_ onTimer: @escaping @Sendable () -> Void) { onTimer() }
  func setTimer(_ wait: Int?) { waits.append(wait) }
  func end() {}
}

/// A delegate that tolerates late events for `timerTolerance` nanoseconds.
private final class TestDelegate: RunnerDelegate {
  var timerTolerance = 0
  /// The action that the delegate takes when the world pauses.
  var onPause: (() -> Void)?

  func worldPaused() {
    onPause.take()?()
  }
  func mayRunAhead(at now: Instant) -> Bool { false }
  func timerTolerance(at now: Instant) -> Int { timerTolerance }
}

@Suite("Pending work of a world in real time")
struct PendingWorkTests {
  private let clockwork = Clockwork()
  private let device = Scripted([(.zero + .seconds(100), listen())])

  private func runner(speed: Double = 1) -> RealTimeRunner {
    let runner = RealTimeRunner(WorldEngine(seed: 1), speed: speed, on: clockwork)
    runner.enter { engine in
      engine.add(device, radio: RadioProperties(position: GridPosition(metresX: 0, y: 0, z: 0)))
    }
    runner.pump(runsAhead: false)
    return runner
  }

  private let id = RadioID(index: 0)

  @Test(
    "The pending work is scheduled while the timer matches the next event, unscheduled if not, due if an event is due")
  func changed() {
    let runner = runner()
    #expect(runner.pendingWork == .scheduled)
    // The device was touched, and no new event follows from it.
    runner.with(id) { _, _ in false }
    #expect(runner.pendingWork == .scheduled)
    runner.with(id) { [device] _, now in
      device.script.insert((now + .seconds(50), listen()), at: 0)
      return true
    }
    #expect(runner.pendingWork == .unscheduled)
    runner.pump(runsAhead: false)
    #expect(runner.pendingWork == .scheduled)
    runner.with(id) { [device] _, now in
      device.script.insert((now, listen()), at: 0)
      return true
    }
    #expect(runner.pendingWork == .due)
    runner.pump(runsAhead: false)
    #expect(runner.pendingWork == .scheduled)
  }

  @Test("A speed that is not a number counts as 1, and one below 0.001 as 0.001", arguments: [(.nan, 1), (-5, 1_000)])
  func speed(_ speed: Double, seconds: Int) throws {
    // The event comes after 100 s of world time. A little wall time has passed already.
    let wait = try #require(runner(speed: speed).pendingWork == .scheduled ? clockwork.waits.last ?? nil : nil)
    #expect((50_000_000_000 * seconds...100_000_000_000 * seconds).contains(wait))
  }

  @Test("The runner corrects a timer that was set late for a tolerant delegate")
  func tolerance() throws {
    let runner = runner()
    let delegate = TestDelegate()
    delegate.timerTolerance = 200_000_000_000
    runner.setDelegate(delegate)
    runner.pump(runsAhead: false)
    #expect(clockwork.waits.last == 200_000_000_000)
    #expect(runner.pendingWork == .unscheduled)
    delegate.timerTolerance = 0
    runner.pump(runsAhead: false)
    let wait = try #require(clockwork.waits.last ?? nil)
    #expect(wait <= 100_000_000_000)
    #expect(runner.pendingWork == .scheduled)
    withExtendedLifetime(delegate) {}
  }

  @Test("The timer accounts for events that a delegate adds when the world pauses")
  func onPause() throws {
    let runner = runner()
    let delegate = TestDelegate()
    runner.setDelegate(delegate)
    delegate.onPause = { [device, id] in
      runner.with(id) { _, now in
        device.script.insert((now + .seconds(1), listen()), at: 0)
        return true
      }
    }
    runner.pump(runsAhead: false)
    let wait = try #require(clockwork.waits.last ?? nil)
    #expect(wait <= 1_000_000_000)
    #expect(runner.pendingWork == .scheduled)
    withExtendedLifetime(delegate) {}
  }

  @Test("The timer accounts for events that an inspection of the world adds")
  func inspection() throws {
    let runner = runner()
    runner.inspect { [device, id] engine in
      engine.with(id) { _ in device.script.insert((engine.now + .seconds(1), listen()), at: 0) }
    }
    let wait = try #require(clockwork.waits.last ?? nil)
    #expect(wait <= 1_000_000_000)
    #expect(runner.pendingWork == .scheduled)
  }

  @Test("A world that is behind does not wait, even with a tolerant delegate")
  func behind() {
    let runner = runner()
    let delegate = TestDelegate()
    delegate.timerTolerance = 5_000_000
    runner.setDelegate(delegate)
    // When the world pauses, the delegate adds an overdue event.
    delegate.onPause = { [device, id] in
      runner.with(id) { _, now in
        device.script.insert((now - .seconds(1), listen()), at: 0)
        return true
      }
    }
    runner.pump(runsAhead: false)
    #expect(clockwork.waits.last == 0)
    withExtendedLifetime(delegate) {}
  }

  @Test("A world whose time stands still sets no timer")
  func standsStill() {
    let runner = runner()
    runner.setSpeed(0)
    #expect(clockwork.waits.last == .some(nil))
    #expect(runner.pendingWork == .scheduled)
  }
}
