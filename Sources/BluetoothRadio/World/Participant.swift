import BluetoothWire

/// A device of a world. All calls come one at a time, from the thread that runs the world.
package protocol Participant: AnyObject {
  /// When it wants to be told the time next.
  var deadline: Instant? { get }
  /// `deadline` has come.
  func timeReached(_ now: Instant)
  /// Its radio has something to tell.
  func radio(_ event: RadioEvent, at now: Instant)
  /// What its radio shall do now; nil: go on.
  func takeRadioCommand() -> RadioCommand?
  /// Takes in the calls that apps have made.
  func takeMail(at now: Instant)
  /// Whether `deliverNext` has something to deliver.
  var hasDelivery: Bool { get }
  /// Hands one callback to an app. No call of the app that comes of it is taken in before the next `takeMail`.
  func deliverNext()

  /// Asked when `deadline` has come: whether what begins now is to send unasked, with nobody to hear, and nothing else until
  /// somebody turns to the device; nil: no.
  func soliloquy(at now: Instant) -> Soliloquy?
  /// Passes over all events of its soliloquy that end at `limit` or before: afterwards everything is as if they had taken
  /// place; nil: there are none.
  func skip(until limit: Instant) -> SkippedPackets?
}

extension Participant {
  package func soliloquy(at now: Instant) -> Soliloquy? { nil }
  package func skip(until limit: Instant) -> SkippedPackets? { nil }
}
