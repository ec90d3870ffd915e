import BluetoothWire

/// The maximum data rate of a link, for each direction by itself: the data of ATT and of L2CAP channels. Signals and
/// pairing are not counted.
///
/// Data may be ahead of the rate by one connection interval, so that the rate does not depend on the interval. What this
/// side sends waits in its queues. What the peer sends waits at the peer: the link is held, so that the controller does
/// not acknowledge the peer's data · Vol 6, Part B, 4.5.9.
struct LinkPace {
  /// The data of one direction.
  private struct Direction {
    /// The time at which the data so far have been transferred at the maximum rate.
    var end = Instant.zero
    /// True if further data wait because the data so far are ahead of the rate.
    var isWaiting = false

    mutating func add(_ time: TimeSpan, at now: Instant) { end = max(end, now) + time }
    func isAhead(at now: Instant, by interval: TimeSpan) -> Bool { end - now > interval }
  }

  private let octetsPerSecond: Int64
  private var sent = Direction()
  private var received = Direction()

  init(octetsPerSecond: Int) { self.octetsPerSecond = Int64(max(1, octetsPerSecond)) }

  private func time(of octets: Int) -> TimeSpan {
    .nanoseconds(Int64(max(0, octets)) * 1_000_000_000 / octetsPerSecond)
  }

  /// True if the peer's data wait at the peer.
  var isHeld: Bool { received.isWaiting }

  /// Returns true if data may be sent now. Otherwise `deadline` is the time at which they may.
  mutating func maySend(at now: Instant, interval: TimeSpan) -> Bool {
    sent.isWaiting = sent.isAhead(at: now, by: interval)
    return !sent.isWaiting
  }

  mutating func sent(_ octets: Int, at now: Instant) { sent.add(time(of: octets), at: now) }

  /// Notes received data. Returns true if `isHeld` has changed.
  mutating func received(_ octets: Int, at now: Instant, interval: TimeSpan) -> Bool {
    received.add(time(of: octets), at: now)
    let wasHeld = isHeld
    received.isWaiting = received.isAhead(at: now, by: interval)
    return isHeld != wasHeld
  }

  /// Lets the data go on that have waited long enough. Returns true if `isHeld` has changed.
  mutating func timeReached(_ now: Instant, interval: TimeSpan) -> Bool {
    if sent.isWaiting { sent.isWaiting = sent.isAhead(at: now, by: interval) }
    guard received.isWaiting else { return false }
    received.isWaiting = received.isAhead(at: now, by: interval)
    return !received.isWaiting
  }

  /// The time at which data go on that wait; nil: none wait.
  func deadline(interval: TimeSpan) -> Instant? {
    let sending = sent.isWaiting ? sent.end - interval : nil
    return earliest(sending, received.isWaiting ? received.end - interval : nil)
  }
}

extension L2CAP.Frame {
  /// The number of octets that count for the data rate of a link: those of values, and those of channels.
  var paced: Int {
    if channel == .attribute { return max(0, payload.count - LinkPace.attributeHeader) }
    return channel.isDynamic ? payload.count : 0
  }
}

extension LinkPace {
  /// The octets before the value in an ATT PDU with a handle: opcode and handle · Vol 3, Part F, 3.4.7.1.
  static let attributeHeader = 3
}
