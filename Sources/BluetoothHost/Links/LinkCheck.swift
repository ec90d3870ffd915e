import BluetoothWire

/// The timer of the liveness check for links without traffic. The controller may have ended such a link and its
/// Disconnection Complete may have been lost; without the check the link would exist for ever, and a peripheral with
/// a single link would not advertise again.
struct LinkCheck {
  /// The time without any sign of life after which the host checks a link.
  static let period = TimeSpan.seconds(60)

  /// The time of the next check; nil: no link exists.
  private(set) var deadline: Instant?

  mutating func begin(at now: Instant) {
    if deadline == nil { deadline = now + Self.period }
  }

  /// Returns true if the links must be checked now, and schedules the next check.
  mutating func isDue(at now: Instant, hasLinks: Bool) -> Bool {
    guard let due = deadline, due <= now else { return false }
    deadline = hasLinks ? now + Self.period : nil
    return hasLinks
  }

  mutating func end() { deadline = nil }
}
