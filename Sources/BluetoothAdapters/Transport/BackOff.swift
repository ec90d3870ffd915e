import BluetoothWire

/// How long to wait before it is tried again to reach a controller: each time twice as long, up to a limit, for ever.
struct BackOff {
  static let first = TimeSpan.milliseconds(100)
  static let longest = TimeSpan.seconds(10)

  private var pause = first

  /// The next pause.
  mutating func next() -> TimeSpan {
    defer { pause = min(2 * pause, Self.longest) }
    return pause
  }

  /// The controller was reached, and worked.
  mutating func reset() { pause = Self.first }
}
