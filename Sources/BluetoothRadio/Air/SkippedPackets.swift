import BluetoothWire

/// The packets of advertising events that a device did not run itself: the engine transmitted them, or the device was
/// culled, so that they only count in the statistics.
package struct SkippedPackets: Sendable {
  package var count: Int
  /// The air time of all packets together.
  package var airTime: TimeSpan
  /// The duration of all request windows together.
  package var listeningTime: TimeSpan
  /// The transmit power, dBm.
  package var power: Decibel
  /// The end of the last packet, or of the request window after it.
  package var end: Instant

  package init(count: Int, airTime: TimeSpan, listeningTime: TimeSpan = .zero, power: Decibel, end: Instant) {
    self.count = count
    self.airTime = airTime
    self.listeningTime = listeningTime
    self.power = power
    self.end = end
  }
}
