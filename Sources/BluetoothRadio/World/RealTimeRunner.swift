import BluetoothWire
import Dispatch
import NIOConcurrencyHelpers

/// Runs a world in step with the wall clock, on an executor that sleeps between events.
package final class RealTimeRunner: Sendable {
  package let mailbox: WorldMailbox
  private let executor: any WorldExecutor
  private let isPending = NIOLockedValueBox(false)
  private let confined: Confined

  /// What the executor alone touches.
  private final class Confined: @unchecked Sendable {
    let engine: WorldEngine
    let executor: any WorldExecutor
    // Nobody is called while one of these is accessed.
    @exclusivity(unchecked) var guest: (any WorldGuest)?
    /// When the wall clock began to count with this speed, and the radio time of that.
    @exclusivity(unchecked) private var origin = Confined.clock
    @exclusivity(unchecked) private var beginning = Instant.zero
    /// Radio nanoseconds in a thousand of the wall clock's; 0: time stands still.
    @exclusivity(unchecked) private var speedPerMille: Int64
    /// The event that the timer rings for, in time (nil: there is none); nil: not known.
    @exclusivity(unchecked) private var awaited: Instant??

    init(engine: WorldEngine, executor: any WorldExecutor, speedPerMille: Int64) {
      self.engine = engine
      self.executor = executor
      self.speedPerMille = speedPerMille
    }

    /// The wall clock, in nanoseconds.
    private static var clock: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// The radio time of the wall clock's now.
    private var wallTime: Instant { time(at: readClock()) }

    private func readClock() -> UInt64 {
      let clock = Self.clock
      // Long before the products in `time(at:)` are too large.
      if clock - origin > RealTimeRunner.longestCount { restart(at: time(at: clock), clock) }
      return clock
    }

    private func time(at clock: UInt64) -> Instant {
      let elapsed = Int64(clock - origin)
      let (whole, part) = elapsed.quotientAndRemainder(dividingBy: 1_000)
      return beginning + TimeSpan(nanoseconds: whole * speedPerMille + part * speedPerMille / 1_000)
    }

    func setSpeed(perMille: Int64) {
      // What a world that can't keep up is behind is forgotten.
      restart(at: max(engine.now, min(wallTime, engine.nextEvent ?? .distantFuture)), Self.clock)
      speedPerMille = perMille
      pump(runsAhead: false)
    }

    private func restart(at time: Instant, _ clock: UInt64) {
      beginning = time
      origin = clock
    }

    /// Lets the time pass that has passed on the wall since the latest event, unless something is due.
    func passTime() {
      let time = wallTime
      if (engine.nextEvent ?? .distantFuture) > time { engine.passTime(to: time) }
    }

    func with(_ radio: RadioID, _ body: (any Participant, Instant) -> Bool) {
      passTime()
      engine.with(radio, body)
    }

    var outlook: Outlook {
      let next = engine.nextEvent
      if let next, next <= engine.now { return .due }
      return awaited == .some(next) && !engine.hasDeliveries ? .awaited : .changed
    }

    /// Does what is due, then has the timer ring at the next event. A world that can't keep up with its speed gives the
    /// thread away again and again, so that whoever wants to look into it, or to slow it down, has his turn.
    func pump(runsAhead: Bool) {
      let goesOn = advance(runsAhead: runsAhead)
      guest?.worldPaused()
      awaited = nil
      if goesOn { return executor.setTimer(0) }
      // Who was told of the pause may have brought about something new.
      guard let wait = timeToWait else {
        awaited = .some(engine.nextEvent)
        return executor.setTimer(nil)
      }
      // A world that is behind is not to wait.
      let patience = wait > 0 ? guest?.patience(at: engine.now) ?? 0 : 0
      if patience == 0 { awaited = .some(engine.nextEvent) }
      executor.setTimer(max(wait, patience))
    }

    /// Does what is due; returns whether to come back at once.
    private func advance(runsAhead: Bool) -> Bool {
      var clock = readClock()
      let end = clock + RealTimeRunner.slice
      while true {
        let limit = time(at: clock)
        var steps = 0
        while engine.step(until: limit) {
          steps += 1
          if steps.isMultiple(of: 64), Self.clock > end { return true }
        }
        engine.passTime(to: limit)
        engine.settle()
        guard let next = engine.nextEvent else { break }
        clock = Self.clock
        if next > time(at: clock) || clock > end { break }
      }
      return isHurried && (!runsAhead || runAhead())
    }

    /// After how many nanoseconds of the wall clock the next event is due; nil: there is none, or it never is.
    private var timeToWait: Int? {
      guard speedPerMille > 0, let next = engine.nextEvent else { return nil }
      return RealTimeRunner.wallTime(for: next - wallTime, speedPerMille: speedPerMille)
    }

    private var isHurried: Bool { speedPerMille > 0 && guest?.isHurried(at: engine.now) ?? false }

    /// Takes some events before their time. The clock goes on from there. Returns whether there were any.
    private func runAhead() -> Bool {
      let end = Self.clock + RealTimeRunner.sliceAhead
      var steps = 0
      while isHurried, engine.step(until: .distantFuture) {
        steps += 1
        if steps.isMultiple(of: 16), Self.clock > end { break }
      }
      let clock = Self.clock
      restart(at: max(engine.now, time(at: clock)), clock)
      return steps > 0
    }
  }

  /// How long the wall clock counts from one beginning, in nanoseconds.
  private static let longestCount: UInt64 = 3_600_000_000_000
  /// How long a world keeps its thread, in nanoseconds.
  private static let slice: UInt64 = 5_000_000
  /// How long a world takes events before their time until its guests have their turn, in nanoseconds.
  private static let sliceAhead: UInt64 = 500_000

  /// The wall clock's nanoseconds until `wait` of radio time is over, or until it is time to look again.
  static func wallTime(for wait: TimeSpan, speedPerMille: Int64) -> Int {
    let longest = TimeSpan.seconds(3_600)
    return Int(min(max(.zero, wait), longest).nanoseconds * 1_000 / speedPerMille)
  }

  /// Begins to run `engine`, which nobody else may touch from then on; `speed` is radio seconds per second, 0.001 to
  /// 1,000; `executor` runs nothing but this world, nil: a queue of its own.
  package init(_ engine: sending WorldEngine, speed: Double = 1, on executor: (any WorldExecutor)? = nil) {
    mailbox = engine.mailbox
    let executor = executor ?? DispatchWorldExecutor()
    self.executor = executor
    confined = Confined(engine: engine, executor: executor, speedPerMille: Self.perMille(speed))
    let box = confined
    executor.begin { box.pump(runsAhead: true) }
    mailbox.setWake { [weak self] in self?.wake() }
  }

  deinit {
    mailbox.setWake(nil)
    executor.end()
  }

  /// Radio seconds per second from now on, 0.001 to 1,000; 0: time stands still.
  package func setSpeed(_ speed: Double) {
    let perMille = speed == 0 ? 0 : Self.perMille(speed)
    executor.execute { [confined] in confined.setSpeed(perMille: perMille) }
  }

  private static func perMille(_ speed: Double) -> Int64 {
    speed.isNaN ? 1_000 : Int64((min(max(speed, 0.001), 1_000) * 1_000).rounded())
  }

  /// Looks into the world between two of its events. Not to be called on the world's own queue.
  package func inspect<R: Sendable>(_ body: (WorldEngine) -> R) -> R {
    let (result, outlook) = executor.wait {
      confined.passTime()
      return (body(confined.engine), confined.outlook)
    }
    // To look at devices that nobody could notice has them run from now on.
    if outlook != .awaited { executor.execute { [confined] in confined.pump(runsAhead: false) } }
    return result
  }

  /// Has the world's clock show the time of now, also in a world in which nothing is due.
  package func updateClock() { executor.wait { confined.passTime() } }

  private func wake() {
    let isFirst = isPending.withLockedValue { pending in
      defer { pending = true }
      return !pending
    }
    guard isFirst else { return }
    executor.execute { [self] in
      isPending.withLockedValue { $0 = false }
      confined.pump(runsAhead: false)
    }
  }

  // MARK: On the executor

  /// Who wants to be told when the world pauses; nil: nobody. On the executor only.
  package func setGuest(_ guest: (any WorldGuest)?) { confined.guest = guest }

  /// Does `body` at the time of now, or, in a world that has not done yet what is due, at that of its latest event. What
  /// follows from it is done with the next `pump`. On the executor only, and not in an event of the world.
  package func enter(_ body: (WorldEngine) -> Void) {
    confined.passTime()
    body(confined.engine)
  }

  /// Has something done to a device, as `enter` does; `body` is told the time, and returns whether the device's radio command,
  /// deadline or callbacks may have changed.
  package func with(_ radio: RadioID, _ body: (any Participant, Instant) -> Bool) { confined.with(radio, body) }

  /// What there is for `pump` to do.
  package enum Outlook: Sendable {
    /// Something is due at the time that the latest `enter` has found.
    case due
    /// Nothing, unless something became due after that: the timer is set for what comes next.
    case awaited
    /// To set the timer.
    case changed
  }

  /// What there is for `pump` to do. On the executor only.
  package var outlook: Outlook { confined.outlook }

  /// Does what is due and sets the timer anew. On the executor only.
  ///
  /// - Parameter runsAhead: whether events may be taken before their time, if somebody waits for them; else that is left to the
  ///   timer, which then rings soon.
  package func pump(runsAhead: Bool) { confined.pump(runsAhead: runsAhead) }
}

/// Who lives on a world's executor beside it, and is told of its pauses. Confined to the executor.
package protocol WorldGuest: AnyObject {
  /// The world has done what was due: the time to let out what has gathered.
  func worldPaused()
  /// Whether somebody waits for the world, so that its clock may go on to the next event.
  func isHurried(at now: Instant) -> Bool
  /// How many nanoseconds later than it is due an event may be taken, since hardly anybody would notice.
  func patience(at now: Instant) -> Int
}
