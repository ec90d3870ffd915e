import BluetoothWire

/// An observer that receives the keys of each encrypted session: a capture whose reader has asked for them.
package protocol SessionObserver: AnyObject {
  /// Called when a device has all session parameters, before it encrypts with them. Both ends of a link report the
  /// session.
  func sessionBegins(_ session: LL.SessionRecord, at now: Instant)
}
