import BluetoothRadio
import BluetoothWire

/// What an activity that has the radio does next.
enum RadioStep {
  case command(RadioCommand)
  /// Nothing before `until`; then the activity goes on.
  case wait(until: Instant)
  /// It does not need the radio any more.
  case done
}

/// Times that all activities have in common.
enum RadioTiming {
  /// How long after the interframe space an answer may begin: both clocks may be 2 µs wrong, and both packets travel ·
  /// Vol 6, Part B, 4.2.1, 4.2.3.
  static let answerTolerance = TimeSpan.microseconds(6)
  /// How wrong an anchor point may be besides the clocks' drift · 4.2.2.
  static let anchorJitter = TimeSpan.microseconds(16)

  /// When somebody who listens for an answer to a packet that has ended at `end` gives up.
  static func answerTimeout(after end: Instant) -> Instant { end + LL.interFrameSpace + answerTolerance }
}
