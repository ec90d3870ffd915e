import BluetoothWire

/// The limit of the data rate in both directions.
extension HostLink {
  /// Returns true if the data rate allows to send data now. Otherwise the deadline of the link is the time at which it
  /// does.
  @inline(__always)
  mutating func maySendData(at now: Instant) -> Bool {
    guard pace != nil else { return true }
    let interval = interval
    return pace?.maySend(at: now, interval: interval) ?? true
  }

  /// Counts a received frame, and holds the link if the peer is ahead of the data rate.
  mutating func count(_ frame: L2CAP.Frame, _ context: inout HostContext, at now: Instant) {
    let interval = interval
    if pace?.received(frame.paced, at: now, interval: interval) == true { context.pacedLinksChanged = true }
  }

  /// Lets data go on that have waited long enough.
  mutating func continuePacedData(_ context: inout HostContext, at now: Instant) {
    let interval = interval
    if pace?.timeReached(now, interval: interval) == true { context.pacedLinksChanged = true }
  }
}
