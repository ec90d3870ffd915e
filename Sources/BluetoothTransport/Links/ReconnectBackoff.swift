import BluetoothWire

/// The exponential backoff between attempts to connect to a controller or a server: each pause is twice as long as the previous
/// one, up to a limit. The number of attempts is not limited.
package struct ReconnectBackoff {
  package static let first = TimeSpan.milliseconds(100)
  package static let longest = TimeSpan.seconds(10)

  private var pause = first

  package init() {}

  /// Returns the next pause.
  package mutating func next() -> TimeSpan {
    defer { pause = min(2 * pause, Self.longest) }
    return pause
  }

  /// Resets the backoff. Called after the other side has proved to work.
  package mutating func reset() { pause = Self.first }
}
