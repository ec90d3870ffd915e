import BluetoothWire

/// The schedule of a connection's events · Vol 6, Part B, 4.5.1, 4.5.7. Event numbers start at 0 and never wrap.
struct EventSchedule {
  private let role: ConnectionRole
  private let clock: SleepClock
  /// The accuracy of the local sleep clock, parts per million.
  private var ownAccuracy: Int64
  /// The accuracy of the peer's sleep clock, parts per million; a central does not need it.
  private var peerAccuracy: Int64

  /// The anchor point, or the start of the transmit window, of event number `referenceEvent`.
  private var reference: Instant
  private var referenceEvent = 0
  /// The transmit window's size; zero when the anchor point is known.
  private var window: TimeSpan
  /// The time of the last synchronization with the peer's clock.
  private var synchronized: Instant

  private(set) var interval: TimeSpan
  /// The next event that this device attends.
  private(set) var next = 0
  /// The event after the last one that was attended or missed.
  private var earliest = 0
  /// The time at which the radio is needed for `next`.
  private(set) var start = Instant.distantFuture

  /// Creates the schedule of a connection whose first packet is sent in a window that begins at `windowStart`.
  init(
    role: ConnectionRole, interval: TimeSpan, windowStart: Instant, windowSize: TimeSpan, ownAccuracy: Int64,
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

  /// Returns the anchor point of event number `event`, or the start of its window, as far as this device knows.
  func anchor(of event: Int) -> Instant {
    clock.instant(interval * Int64(event - referenceEvent), after: reference)
  }

  /// Returns the event with the last anchor point at or before `instant`.
  func event(at instant: Instant) -> Int {
    let distance = (anchor(of: next) - instant).nanoseconds
    let events = Int(distance / interval.nanoseconds)
    return distance > 0 && distance % interval.nanoseconds > 0 ? next - events - 1 : next - events
  }

  /// Returns the event whose anchor point is the reference of SyncInfo for a packet at `instant`, later than `next`:
  /// `next` if SyncInfo can express the offset, else the last event at least T_IFS before the packet.
  func reference(for instant: Instant) -> Int {
    guard instant - anchor(of: next) >= LL.SyncInfo.reach else { return next }
    var event = event(at: instant)
    while instant - anchor(of: event) < LL.interFrameSpace { event -= 1 }
    return event
  }

  /// Returns the number of the event that an Instant refers to; nil: the instant has passed, because modulo 65,536 it
  /// lies 32,767 or more events after `next`. The connection then ends at once · 5.5.
  func futureEvent(_ instant: UInt16) -> Int? {
    let distance = Int(instant &- UInt16(truncatingIfNeeded: next))
    return distance < 32_767 ? next + distance : nil
  }

  /// The time at which a peripheral stops waiting for the first packet of `next`.
  var listeningEnds: Instant { anchor(of: next) + window + widening(of: next) }

  /// Returns the time until which `next` certainly needs the radio, for packets of these durations.
  func minimumEnd(transmit: TimeSpan, receive: TimeSpan) -> Instant {
    let first = role == .central ? start : listeningEnds
    return first + transmit + LL.interFrameSpace + receive
  }

  /// Sets the anchor point: the packet of event `next` that defines it began at `instant`.
  mutating func anchored(at instant: Instant) {
    reference = instant
    referenceEvent = next
    window = .zero
    synchronized = instant
  }

  /// Advances `next` by one event, plus `skipping` events.
  mutating func advance(skipping: Int = 0) {
    earliest = next + 1
    next = earliest + skipping
    plan()
  }

  /// Returns the number of events after `next` that may be skipped, at most `latency`: the window widening of the event
  /// attended after them stays below its limit, so the central's packet is certainly in the window.
  func skippable(latency: Int) -> Int {
    guard latency > 0 else { return 0 }
    let drift = maximumWidening - RadioTiming.anchorJitter
    let reach = TimeSpan(nanoseconds: drift.nanoseconds / max(1, ownAccuracy + peerAccuracy) * 1_000_000)
    let count = (synchronized + reach - anchor(of: next + 1)).nanoseconds / interval.nanoseconds
    return min(latency, max(0, Int(count)))
  }

  /// Sets the maximum error of the peer's sleep clock, parts per million.
  mutating func setPeerAccuracy(_ accuracy: Int64) {
    peerAccuracy = accuracy
    plan()
  }

  /// Sets the maximum error of the local sleep clock from now on, parts per million.
  mutating func setOwnAccuracy(_ accuracy: Int64) {
    ownAccuracy = accuracy
    plan()
  }

  /// Stops skipping events, because there are data to send: `next` becomes the first event that can still be attended.
  mutating func hasten(at now: Instant) {
    guard next > earliest else { return }
    while next > earliest && start(of: next - 1) >= now { next -= 1 }
    plan()
  }

  /// Changes the interval from event `instant` on; the first packet is sent in a window that begins `offset` after
  /// the anchor point that the event would have had · 5.1.1.
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

  /// Returns the window widening: the time by which the central's packet may come early or late · 4.2.2, 4.5.7.
  private func widening(of event: Int) -> TimeSpan { min(uncertainty(of: event), maximumWidening) }

  private func uncertainty(of event: Int) -> TimeSpan {
    let elapsed = anchor(of: event) - synchronized
    return TimeSpan(nanoseconds: elapsed.nanoseconds / 1_000 * (ownAccuracy + peerAccuracy) / 1_000)
      + RadioTiming.anchorJitter
  }

  private var maximumWidening: TimeSpan { interval / 2 - LL.interFrameSpace }
}
