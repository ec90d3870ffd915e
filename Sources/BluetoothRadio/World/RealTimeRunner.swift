import BluetoothWire
import Dispatch
import NIOConcurrencyHelpers

/// Runs a world in step with the wall clock, on a queue of its own that sleeps between events.
package final class RealTimeRunner: Sendable {
  package let mailbox: WorldMailbox
  private let queue = DispatchQueue(label: "CoreBluetooth world", qos: .userInitiated)
  private let isPending = NIOLockedValueBox(false)
  private let confined: Confined

  /// What the runner's queue alone touches.
  private final class Confined: @unchecked Sendable {
    let engine: WorldEngine
    let timer: any DispatchSourceTimer
    /// When the wall clock began to count with this speed, and the radio time of that.
    private var origin = DispatchTime.now().uptimeNanoseconds
    private var beginning = Instant.zero
    /// Radio nanoseconds in a thousand of the wall clock's; 0: time stands still.
    private var speedPerMille: Int64

    init(engine: WorldEngine, timer: any DispatchSourceTimer, speedPerMille: Int64) {
      self.engine = engine
      self.timer = timer
      self.speedPerMille = speedPerMille
    }

    var wallTime: Instant {
      let elapsed = Int64(DispatchTime.now().uptimeNanoseconds - origin)
      let (whole, part) = elapsed.quotientAndRemainder(dividingBy: 1_000)
      return beginning + TimeSpan(nanoseconds: whole * speedPerMille + part * speedPerMille / 1_000)
    }

    func setSpeed(perMille: Int64) {
      // What a world that can't keep up is behind is forgotten.
      beginning = max(engine.now, min(wallTime, engine.nextEvent ?? .distantFuture))
      origin = DispatchTime.now().uptimeNanoseconds
      speedPerMille = perMille
      pump()
    }

    /// Lets the time pass that has passed on the wall since the latest event, unless something is due.
    func passTime() {
      let time = wallTime
      if (engine.nextEvent ?? .distantFuture) > time { engine.passTime(to: time) }
    }

    /// Does what is due, then has the timer ring at the next event. A world that can't keep up with its speed gives the queue
    /// away again and again, so that whoever wants to look into it, or to slow it down, has his turn.
    func pump() {
      let end = DispatchTime.now().uptimeNanoseconds + RealTimeRunner.slice
      repeat {
        let limit = wallTime
        var steps = 0
        while engine.step(until: limit) {
          steps += 1
          guard steps.isMultiple(of: 64), DispatchTime.now().uptimeNanoseconds > end else { continue }
          return timer.schedule(deadline: .now(), leeway: .nanoseconds(0))
        }
        engine.passTime(to: limit)
        engine.settle()
        if DispatchTime.now().uptimeNanoseconds > end { break }
      } while engine.nextEvent.map { $0 <= wallTime } ?? false
      guard speedPerMille > 0, let next = engine.nextEvent else { return timer.schedule(deadline: .distantFuture) }
      let delay = RealTimeRunner.wallTime(for: next - wallTime, speedPerMille: speedPerMille)
      timer.schedule(deadline: .now() + .nanoseconds(delay), leeway: .nanoseconds(0))
    }
  }

  /// How long a world keeps its queue, in nanoseconds.
  private static let slice: UInt64 = 5_000_000

  /// The wall clock's nanoseconds until `wait` of radio time is over, or until it is time to look again.
  static func wallTime(for wait: TimeSpan, speedPerMille: Int64) -> Int {
    let longest = TimeSpan.seconds(3_600)
    return Int(min(max(.zero, wait), longest).nanoseconds * 1_000 / speedPerMille)
  }

  /// Begins to run `engine`, which nobody else may touch from then on; `speed` is radio seconds per second, 0.001 to
  /// 1,000.
  package init(_ engine: sending WorldEngine, speed: Double = 1) {
    mailbox = engine.mailbox
    let timer = DispatchSource.makeTimerSource(queue: queue)
    confined = Confined(engine: engine, timer: timer, speedPerMille: Self.perMille(speed))
    let box = confined
    timer.setEventHandler { box.pump() }
    timer.schedule(deadline: .now())
    timer.activate()
    mailbox.setWake { [weak self] in self?.wake() }
  }

  deinit {
    mailbox.setWake(nil)
    confined.timer.cancel()
  }

  /// Radio seconds per second from now on, 0.001 to 1,000; 0: time stands still.
  package func setSpeed(_ speed: Double) {
    let perMille = speed == 0 ? 0 : Self.perMille(speed)
    queue.async { [confined] in confined.setSpeed(perMille: perMille) }
  }

  private static func perMille(_ speed: Double) -> Int64 {
    speed.isNaN ? 1_000 : Int64((min(max(speed, 0.001), 1_000) * 1_000).rounded())
  }

  /// Looks into the world between two of its events. Not to be called on the world's own queue.
  package func inspect<R: Sendable>(_ body: (WorldEngine) -> R) -> R {
    queue.sync {
      confined.passTime()
      return body(confined.engine)
    }
  }

  /// Has the world's clock show the time of now, also in a world in which nothing is due.
  package func updateClock() { queue.sync { confined.passTime() } }

  private func wake() {
    let isFirst = isPending.withLockedValue { pending in
      defer { pending = true }
      return !pending
    }
    guard isFirst else { return }
    queue.async { [self] in
      isPending.withLockedValue { $0 = false }
      confined.pump()
    }
  }
}
