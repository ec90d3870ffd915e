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
  func begin(_ ring: @escaping @Sendable () -> Void) { ring() }
  func setTimer(_ wait: Int?) { waits.append(wait) }
  func end() {}
}

/// A guest that tolerates late events for `patience` nanoseconds.
private final class Guest: WorldGuest {
  var patience = 0
  /// The action that the guest takes when the world pauses.
  var errand: (() -> Void)?

  func worldPaused() {
    errand.take()?()
  }
  func isHurried(at now: Instant) -> Bool { false }
  func patience(at now: Instant) -> Int { patience }
}

@Suite("Outlook of a world in real time")
struct OutlookTests {
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

  @Test("The outlook is awaited while the timer matches the next event, changed if it does not, due if an event is due")
  func changed() {
    let runner = runner()
    #expect(runner.outlook == .awaited)
    // The device was touched, and no new event follows from it.
    runner.with(id) { _, _ in false }
    #expect(runner.outlook == .awaited)
    runner.with(id) { [device] _, now in
      device.script.insert((now + .seconds(50), listen()), at: 0)
      return true
    }
    #expect(runner.outlook == .changed)
    runner.pump(runsAhead: false)
    #expect(runner.outlook == .awaited)
    runner.with(id) { [device] _, now in
      device.script.insert((now, listen()), at: 0)
      return true
    }
    #expect(runner.outlook == .due)
    runner.pump(runsAhead: false)
    #expect(runner.outlook == .awaited)
  }

  @Test("A speed that is not a number counts as 1, and one below 0.001 as 0.001", arguments: [(.nan, 1), (-5, 1_000)])
  func speed(_ speed: Double, seconds: Int) throws {
    // The event comes after 100 s of world time. A little wall time has passed already.
    let wait = try #require(runner(speed: speed).outlook == .awaited ? clockwork.waits.last ?? nil : nil)
    #expect((50_000_000_000 * seconds...100_000_000_000 * seconds).contains(wait))
  }

  @Test("The runner corrects a timer that was set late for a patient guest")
  func patience() throws {
    let runner = runner()
    let guest = Guest()
    guest.patience = 200_000_000_000
    runner.setGuest(guest)
    runner.pump(runsAhead: false)
    #expect(clockwork.waits.last == 200_000_000_000)
    #expect(runner.outlook == .changed)
    guest.patience = 0
    runner.pump(runsAhead: false)
    let wait = try #require(clockwork.waits.last ?? nil)
    #expect(wait <= 100_000_000_000)
    #expect(runner.outlook == .awaited)
    withExtendedLifetime(guest) {}
  }

  @Test("The timer accounts for events that a guest adds when the world pauses")
  func errand() throws {
    let runner = runner()
    let guest = Guest()
    runner.setGuest(guest)
    guest.errand = { [device, id] in
      runner.with(id) { _, now in
        device.script.insert((now + .seconds(1), listen()), at: 0)
        return true
      }
    }
    runner.pump(runsAhead: false)
    let wait = try #require(clockwork.waits.last ?? nil)
    #expect(wait <= 1_000_000_000)
    #expect(runner.outlook == .awaited)
    withExtendedLifetime(guest) {}
  }

  @Test("The timer accounts for events that an inspection of the world adds")
  func inspection() throws {
    let runner = runner()
    runner.inspect { [device, id] engine in
      engine.with(id) { _ in device.script.insert((engine.now + .seconds(1), listen()), at: 0) }
    }
    let wait = try #require(clockwork.waits.last ?? nil)
    #expect(wait <= 1_000_000_000)
    #expect(runner.outlook == .awaited)
  }

  @Test("A world that is behind does not wait, even with a patient guest")
  func behind() {
    let runner = runner()
    let guest = Guest()
    guest.patience = 5_000_000
    runner.setGuest(guest)
    // When the world pauses, the guest adds an overdue event.
    guest.errand = { [device, id] in
      runner.with(id) { _, now in
        device.script.insert((now - .seconds(1), listen()), at: 0)
        return true
      }
    }
    runner.pump(runsAhead: false)
    #expect(clockwork.waits.last == 0)
    withExtendedLifetime(guest) {}
  }

  @Test("A world whose time stands still sets no timer")
  func standsStill() {
    let runner = runner()
    runner.setSpeed(0)
    #expect(clockwork.waits.last == .some(nil))
    #expect(runner.outlook == .awaited)
  }
}
