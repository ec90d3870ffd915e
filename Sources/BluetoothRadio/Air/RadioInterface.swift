import BluetoothWire

/// What a link layer tells its radio to do, from this instant on. A radio does one thing at a time: a command ends what
/// the one before it began.
package enum RadioCommand: Sendable {
  /// Send `packet` now, at `power` (dBm). Answered by `RadioEvent.transmitted` when its last bit has left.
  case transmit(AirPacket, on: RadioChannel, modulation: Modulation, power: Decibel)
  /// Listen from now on for one packet with this access address. Answered by `received` when a packet has ended, or
  /// by `nothingReceived` at `until` (nil: never) unless a packet is arriving then. The radio is idle after either. On
  /// LE Coded both codings are heard.
  case receive(on: RadioChannel, phy: PHY, accessAddress: UInt32, crcInit: UInt32, until: Instant?)
  /// Do nothing.
  case stop
}

/// What a radio tells its link layer.
package enum RadioEvent: Sendable {
  /// The transmission has ended, now.
  case transmitted
  /// A packet has ended, now. Its octets are what was sent; `isIntact` false stands for a wrong CRC, and then they
  /// must not be looked at.
  case received(AirPacket, modulation: Modulation, start: Instant, level: Decibel, isIntact: Bool)
  /// The listening time is over.
  case nothingReceived
}
