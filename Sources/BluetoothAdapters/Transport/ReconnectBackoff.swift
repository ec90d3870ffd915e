import BluetoothWire

/// The exponential backoff between attempts to reach a controller: each pause is twice as long as the one before, up to
/// a limit, and the attempts never end.
struct ReconnectBackoff {
  static let first = TimeSpan.milliseconds(100)
  static let longest = TimeSpan.seconds(10)

  private var pause = first

  /// Returns the next pause.
  mutating func next() -> TimeSpan {
    defer { pause = min(2 * pause, Self.longest) }
    return pause
  }

  /// Resets the backoff, after a controller that was reached has worked.
  mutating func reset() { pause = Self.first }
}
