import BluetoothWire

/// A device of a world, as the engine sees it. The engine makes one call at a time, on the thread that runs the world.
package protocol SimulatedDevice: AnyObject {
  /// The instant of the next call of `timeReached`; nil: none.
  var deadline: Instant? { get }
  /// Handles `deadline`, which is `now`.
  func timeReached(_ now: Instant)
  /// Handles an event of the device's radio.
  func radio(_ event: RadioEvent, at now: Instant)
  /// Removes and returns the pending command for the device's radio; nil: the radio continues its activity.
  func takeRadioCommand() -> RadioCommand?
  /// Processes the queued calls of apps.
  func processRequests(at now: Instant)
  /// True if `deliverNext` has something to deliver.
  var hasDelivery: Bool { get }
  /// Delivers one callback to an app. Calls that the app makes during the callback are not processed before the next
  /// `processRequests`.
  func deliverNext()

  /// Returns the advertising whose event begins now at `deadline`, if the device does nothing else before the result's
  /// `until` unless it is called or gets a request; nil otherwise. Called before `timeReached`, which the engine does not
  /// call if it runs the advertising event itself.
  func repeatedAdvertising(at now: Instant) -> RepeatedAdvertising?
  /// Counts an advertising event that the engine has run on the device's behalf, and schedules the next event.
  func endEvent(_ packets: SkippedPackets)
  /// Skips all advertising events that end at `limit` or before, and draws their random numbers. Returns the skipped
  /// packets; nil if there are none.
  func skip(until limit: Instant) -> SkippedPackets?
}

// Most devices have no apps.
extension SimulatedDevice {
  package func processRequests(at now: Instant) {}
  package var hasDelivery: Bool { false }
  package func deliverNext() {}
  package func repeatedAdvertising(at now: Instant) -> RepeatedAdvertising? { nil }
  package func endEvent(_ packets: SkippedPackets) {}
  package func skip(until limit: Instant) -> SkippedPackets? { nil }
}
