import BluetoothWire

/// How long an encrypted connection goes without a packet whose MIC shows that the peer is still the one that has the key ·
/// Vol 6, Part B, 5.1.8, 5.4.
struct AuthenticatedPayloadTimer {
  /// What the time that has come means.
  enum Expiry {
    /// The time is nearly over: the peer is asked for a packet.
    case isNear
    /// The host is told.
    case isOver
  }

  /// authenticatedPayloadTO in the units of HCI, 10 ms.
  private(set) var timeout: UInt16 = 3_000
  private var end: Instant?
  private var hasAsked = false
  /// How long before the end the peer is asked.
  private var notice = TimeSpan.zero

  var deadline: Instant? {
    guard let end else { return nil }
    return hasAsked ? end : end - min(notice, span / 2)
  }

  private var span: TimeSpan { .milliseconds(10) * Int64(timeout) }

  /// The host sets the timeout, which begins anew · Vol 4, Part E, 7.3.94.
  mutating func set(_ timeout: UInt16, at now: Instant) {
    self.timeout = timeout
    restart(at: now)
  }

  /// The link is encrypted from now on. The peer is asked four connection events that a peripheral attends, which are
  /// `interval` apart, before the end, but not before half of the time has passed.
  mutating func start(interval: TimeSpan, at now: Instant) {
    end = now
    notice = interval * 4
    restart(at: now)
  }

  mutating func stop() { end = nil }

  /// A packet with a right MIC has come.
  mutating func restart(at now: Instant) {
    guard end != nil else { return }
    end = now + span
    hasAsked = false
  }

  /// What is due; nil: nothing.
  mutating func timeReached(_ now: Instant) -> Expiry? {
    guard let end, let deadline, deadline <= now else { return nil }
    if now >= end {
      restart(at: now)
      return .isOver
    }
    hasAsked = true
    return .isNear
  }
}
