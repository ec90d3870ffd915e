import BluetoothWire

/// A device's sleep clock, for the times between connection events · Vol 6, Part B, 4.2.2. All conversions from a
/// device's durations to the world's time are made here. All parts of a controller that measure time share one clock.
final class SleepClock {
  /// The error of the clock, parts per billion; positive if its seconds are longer than the world's.
  var drift: Int64

  init(drift: Int64 = 0) { self.drift = drift }

  /// Returns the world's time at which this clock has measured `span` since `start`.
  func instant(_ span: TimeSpan, after start: Instant) -> Instant {
    guard drift != 0 else { return start + span }
    let (whole, rest) = span.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return start + span + TimeSpan(nanoseconds: whole * drift + rest * drift / 1_000_000_000)
  }
}
