import BluetoothWire

/// A command of a link layer to its radio, which takes effect at once. A radio has one activity at a time: a command
/// ends the activity that the previous command began.
package enum RadioCommand: Sendable {
  /// Transmits `packet` now at `power` (dBm). The radio reports `RadioEvent.transmitted` after the last bit.
  case transmit(AirPacket, on: RadioChannel, modulation: Modulation, power: Decibel)
  /// Listens from now on for one packet with this access address. The radio reports `received` when a packet has ended.
  /// It reports `nothingReceived` if no packet is arriving at `until` (nil: without limit), or at the end of a packet
  /// that it missed and that ended after `until`. It is idle afterwards. On LE Coded, both coding schemes are received.
  case receive(on: RadioChannel, phy: RadioPHY, accessAddress: UInt32, crcInit: UInt32, until: Instant?)
  /// Ends all activity.
  case stop
}

/// An event that a radio reports to its link layer.
package enum RadioEvent: Sendable {
  /// The transmission has ended.
  case transmitted
  /// A packet has been received. `start` is the start of its preamble, `level` the measured RSSI in dBm. If `isIntact`
  /// is false, the CRC was wrong; the octets are nevertheless those that were sent, and must not be used.
  case received(AirPacket, modulation: Modulation, start: Instant, level: Decibel, isIntact: Bool)
  /// The listening time ended without a packet.
  case nothingReceived
}
