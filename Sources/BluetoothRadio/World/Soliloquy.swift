import BluetoothWire

/// What a device does that sends on the primary advertising channels again and again, asks for no answer, and has nothing to
/// tell its app of it. As long as nobody could notice, it need not be run: see `UnheardDevices`.
package struct Soliloquy: Sendable {
  /// The highest power of its packets, dBm, without the antenna's gain.
  package let power: Decibel
  /// When it would do something else besides; nil: not by itself.
  package var until: Instant?

  package init(power: Decibel, until: Instant? = nil) {
    self.power = power
    self.until = until
  }

  /// Where its packets are: channels 37 to 39.
  static let channels = [RadioChannel(0), RadioChannel(12), RadioChannel(39)]
}

/// The packets of a device that has passed over them.
package struct SkippedPackets: Sendable {
  package var count: Int
  /// Of all of them.
  package var airTime: TimeSpan
  /// dBm.
  package var power: Decibel
  /// When the last one has ended.
  package var end: Instant

  package init(count: Int, airTime: TimeSpan, power: Decibel, end: Instant) {
    self.count = count
    self.airTime = airTime
    self.power = power
    self.end = end
  }
}
