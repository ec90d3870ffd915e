import BluetoothWire

/// The authenticated payload timer: the maximum time between two received packets with a valid MIC on an encrypted
/// connection · Vol 6, Part B, 5.1.8, 5.4.
struct AuthenticatedPayloadTimer {
  /// The action that is due.
  enum Expiry {
    /// The timeout is near: the link layer requests a packet from the peer.
    case isNear
    /// The timeout has expired: the link layer reports that to the host.
    case isOver
  }

  /// authenticatedPayloadTO in the units of HCI, 10 ms.
  private(set) var timeout: UInt16 = 3_000
  private var end: Instant?
  private var hasAsked = false
  /// The time before the end at which the link layer requests a packet.
  private var notice = TimeSpan.zero

  var deadline: Instant? {
    guard let end else { return nil }
    return hasAsked ? end : end - min(notice, span / 2)
  }

  private var span: TimeSpan { .milliseconds(10) * Int64(timeout) }

  /// Sets the timeout of the host and restarts the timer · Vol 4, Part E, 7.3.94.
  mutating func set(_ timeout: UInt16, at now: Instant) {
    self.timeout = timeout
    restart(at: now)
  }

  /// Starts the timer when the link becomes encrypted. The request to the peer is sent four attended connection events
  /// (`interval` apart) before the end, but not in the first half of the timeout.
  mutating func start(interval: TimeSpan, at now: Instant) {
    end = now
    notice = interval * 4
    restart(at: now)
  }

  mutating func stop() { end = nil }

  /// Restarts the timer after a packet with a valid MIC.
  mutating func restart(at now: Instant) {
    guard end != nil else { return }
    end = now + span
    hasAsked = false
  }

  /// Returns the action that is due; nil: none.
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
