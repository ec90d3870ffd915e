import BluetoothRadio
import BluetoothWire

/// The next action of the activity that has the radio.
enum RadioStep {
  case command(RadioCommand)
  /// A pause until the given time; then the activity continues.
  case wait(until: Instant)
  /// The end: the activity releases the radio.
  case done
}

/// Times that all activities share.
enum RadioTiming {
  /// The time after the interframe space within which an answer may begin: each of the two clocks may be 2 µs wrong,
  /// and both packets need time to travel · Vol 6, Part B, 4.2.1, 4.2.3.
  static let answerTolerance = TimeSpan.microseconds(6)
  /// The error of an anchor point apart from the clocks' drift · 4.2.2.
  static let anchorJitter = TimeSpan.microseconds(16)

  /// The time from the end of a packet until which its answer must begin.
  static let answerTimeout = LL.interFrameSpace + answerTolerance

  /// Returns the time at which a receiver stops waiting for the answer to a packet that ended at `end`.
  static func answerTimeout(after end: Instant) -> Instant { end + answerTimeout }
}
