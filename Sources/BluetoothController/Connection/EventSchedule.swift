import BluetoothWire

/// When the events of a connection are · Vol 6, Part B, 4.5.1, 4.5.7. Events are counted from 0 and never wrap.
struct EventSchedule {
  private let role: Connection.Role
  private let clock: SleepClock
  /// Parts per million.
  private var ownAccuracy: Int64
  /// The peer's; a central never has to know it.
  private var peerAccuracy: Int64

  /// The anchor point, or the beginning of the transmit window, of event number `referenceEvent`.
  private var reference: Instant
  private var referenceEvent = 0
  /// The transmit window's size; zero when the anchor point is known.
  private var window: TimeSpan
  /// When the peer's clock was last known.
  private var synchronized: Instant

  private(set) var interval: TimeSpan
  /// The next event that will be attended.
  private(set) var next = 0
  /// The event after the last one that was attended or missed.
  private var earliest = 0
  /// When the radio is needed for `next`.
  private(set) var start = Instant.distantFuture

  /// The schedule of a connection whose first packet comes in a window that begins at `windowStart`.
  init(
    role: Connection.Role, interval: TimeSpan, windowStart: Instant, windowSize: TimeSpan, ownAccuracy: Int64,
    peerAccuracy: Int64, clock: SleepClock, now: Instant
  ) {
    self.role = role
    self.clock = clock
    self.ownAccuracy = ownAccuracy
    self.peerAccuracy = peerAccuracy
    self.interval = interval
    reference = windowStart
    window = role == .central ? .zero : windowSize
    synchronized = now
    plan()
  }

  /// Where event number `event` has its anchor point or its window's beginning, as far as this device knows.
  func anchor(of event: Int) -> Instant {
    clock.instant(interval * Int64(event - referenceEvent), after: reference)
  }

  /// The event whose anchor point was the last one before `instant`.
  func event(at instant: Instant) -> Int {
    let distance = (anchor(of: next) - instant).nanoseconds
    let events = Int(distance / interval.nanoseconds)
    return distance > 0 && distance % interval.nanoseconds > 0 ? next - events - 1 : next - events
  }

  /// The event from whose anchor point SyncInfo leads to a packet at `instant`, which lies after `next`: the next one if the
  /// offset reaches so far, else the last one before the packet.
  func reference(for instant: Instant) -> Int {
    guard instant - anchor(of: next) >= LL.SyncInfo.reach else { return next }
    var event = event(at: instant)
    while instant - anchor(of: event) < LL.interFrameSpace { event -= 1 }
    return event
  }

  /// When to give up waiting for the first packet of `next`, in the peripheral.
  var listeningEnds: Instant { anchor(of: next) + window + widening(of: next) }

  /// The time until which the radio is surely needed for `next`, for packets of these lengths on the air.
  func minimumEnd(transmit: TimeSpan, receive: TimeSpan) -> Instant {
    let first = role == .central ? start : listeningEnds
    return first + transmit + LL.interFrameSpace + receive
  }

  /// The packet of event `next` that makes the anchor point began at `instant`.
  mutating func anchored(at instant: Instant) {
    reference = instant
    referenceEvent = next
    window = .zero
    synchronized = instant
  }

  /// `next` is over: the one after it is next, or one that is `skipping` later.
  mutating func advance(skipping: Int = 0) {
    earliest = next + 1
    next = earliest + skipping
    plan()
  }

  /// How many events after `next` may be skipped, at most `latency`: so many that the window of the one that is attended then
  /// has not come to its limit, and the central is surely in it.
  func skippable(latency: Int) -> Int {
    guard latency > 0 else { return 0 }
    let drift = maximumWidening - RadioTiming.anchorJitter
    let reach = TimeSpan(nanoseconds: drift.nanoseconds / max(1, ownAccuracy + peerAccuracy) * 1_000_000)
    let count = (synchronized + reach - anchor(of: next + 1)).nanoseconds / interval.nanoseconds
    return min(latency, max(0, Int(count)))
  }

  /// The peer's sleep clock is as wrong as this at most, parts per million.
  mutating func setPeerAccuracy(_ accuracy: Int64) {
    peerAccuracy = accuracy
    plan()
  }

  /// This device's sleep clock is as wrong as this at most from now on, parts per million.
  mutating func setOwnAccuracy(_ accuracy: Int64) {
    ownAccuracy = accuracy
    plan()
  }

  /// There is something to say: attend the first event that is still to come instead of skipping it.
  mutating func hasten(at now: Instant) {
    guard next > earliest else { return }
    while next > earliest && start(of: next - 1) >= now { next -= 1 }
    plan()
  }

  /// From event `instant` on, events are `interval` apart, and the first begins in a window `offset` after the anchor point
  /// that it would have had · 5.1.1.
  mutating func update(at instant: Int, interval: TimeSpan, offset: TimeSpan, windowSize: TimeSpan) {
    reference = clock.instant(offset, after: anchor(of: instant))
    referenceEvent = instant
    window = role == .central ? .zero : windowSize
    self.interval = interval
    plan()
  }

  private mutating func plan() { start = start(of: next) }

  private func start(of event: Int) -> Instant {
    role == .central ? anchor(of: event) : anchor(of: event) - widening(of: event)
  }

  /// How much earlier and later than planned the central's packet may come · 4.2.2, 4.5.7.
  private func widening(of event: Int) -> TimeSpan { min(uncertainty(of: event), maximumWidening) }

  private func uncertainty(of event: Int) -> TimeSpan {
    let elapsed = anchor(of: event) - synchronized
    return TimeSpan(nanoseconds: elapsed.nanoseconds / 1_000 * (ownAccuracy + peerAccuracy) / 1_000)
      + RadioTiming.anchorJitter
  }

  private var maximumWidening: TimeSpan { interval / 2 - LL.interFrameSpace }
}
