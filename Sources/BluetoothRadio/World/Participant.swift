import BluetoothWire

/// A device of a world. All calls come one at a time, from the thread that runs the world.
package protocol Participant: AnyObject {
  /// The instant of the next call of `timeReached`; nil: none.
  var deadline: Instant? { get }
  /// Called when `deadline` has come.
  func timeReached(_ now: Instant)
  /// Called with an event of the device's radio.
  func radio(_ event: RadioEvent, at now: Instant)
  /// Returns the next command for the device's radio; nil: the radio continues.
  func takeRadioCommand() -> RadioCommand?
  /// Processes the calls that apps have made.
  func takeMail(at now: Instant)
  /// True if `deliverNext` has something to deliver.
  var hasDelivery: Bool { get }
  /// Delivers one callback to an app. Calls that the app makes meanwhile are not processed before the next `takeMail`.
  func deliverNext()

  /// Called when `deadline` has come. Returns the advertising that begins now, if it expects no response and reports
  /// nothing, and if the device does nothing else until it is changed from outside; nil otherwise.
  func openLoopAdvertising(at now: Instant) -> OpenLoopAdvertising?
  /// Skips all events of its advertising that end at `limit` or before, as if they had taken place. Returns the packets
  /// skipped; nil if there are none.
  func skip(until limit: Instant) -> SkippedPackets?
}

// Most devices have no apps.
extension Participant {
  package func takeMail(at now: Instant) {}
  package var hasDelivery: Bool { false }
  package func deliverNext() {}
  package func openLoopAdvertising(at now: Instant) -> OpenLoopAdvertising? { nil }
  package func skip(until limit: Instant) -> SkippedPackets? { nil }
}
