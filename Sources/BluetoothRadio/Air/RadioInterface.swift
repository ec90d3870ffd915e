import BluetoothWire

/// A command of a link layer to its radio, effective at once. A radio does one thing at a time: a command ends the
/// activity that the previous command began.
package enum RadioCommand: Sendable {
  /// Transmits `packet` now at `power` (dBm). The radio reports `RadioEvent.transmitted` after the last bit.
  case transmit(AirPacket, on: RadioChannel, modulation: Modulation, power: Decibel)
  /// Listens for one packet with this access address from now on. The radio reports `received` when a packet has ended,
  /// or `nothingReceived` at `until` (nil: never) unless a packet is arriving then. The radio is idle afterwards. On LE
  /// Coded, both codings are received.
  case receive(on: RadioChannel, phy: PHY, accessAddress: UInt32, crcInit: UInt32, until: Instant?)
  /// Ends all activity.
  case stop
}

/// An event that a radio reports to its link layer, at the time of the report.
package enum RadioEvent: Sendable {
  /// The transmission has ended.
  case transmitted
  /// A packet has ended. If `isIntact` is false, the CRC was wrong; the packet still holds the octets that were sent,
  /// and they must not be used.
  case received(AirPacket, modulation: Modulation, start: Instant, level: Decibel, isIntact: Bool)
  /// The listening time ended without a packet.
  case nothingReceived
}
