import BluetoothWire

/// A device's own clock for the times between connection events · Vol 6, Part B, 4.2.2. It is the one place where a
/// device's lengths of time become the world's. Everything in a controller that measures time has the same one.
final class SleepClock {
  /// How much longer this clock's seconds are than the world's, parts per billion.
  var drift: Int64

  init(drift: Int64 = 0) { self.drift = drift }

  /// The world's instant at which this clock says that `span` has passed since `start`.
  func instant(_ span: TimeSpan, after start: Instant) -> Instant {
    guard drift != 0 else { return start + span }
    let (whole, rest) = span.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return start + span + TimeSpan(nanoseconds: whole * drift + rest * drift / 1_000_000_000)
  }
}
