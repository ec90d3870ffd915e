import BluetoothWire

/// The exponential backoff between attempts to connect to a controller: each pause is twice as long as the previous
/// one, up to a limit. The number of attempts is not limited.
struct ReconnectBackoff {
  static let first = TimeSpan.milliseconds(100)
  static let longest = TimeSpan.seconds(10)

  private var pause = first

  /// Returns the next pause.
  mutating func next() -> TimeSpan {
    defer { pause = min(2 * pause, Self.longest) }
    return pause
  }

  /// Resets the backoff. Called after a connected controller has been initialized.
  mutating func reset() { pause = Self.first }
}
