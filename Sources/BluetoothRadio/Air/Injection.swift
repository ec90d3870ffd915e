import BluetoothWire

/// A packet that is injected into the air without a sending device.
package struct Injection: Sendable {
  package var packet: AirPacket
  package var channel: RadioChannel
  package var modulation: Modulation
  /// The transmit power, dBm.
  package var power: Decibel
  /// The position from which the packet is transmitted.
  package var position: GridPosition

  package init(
    _ packet: AirPacket, on channel: RadioChannel, modulation: Modulation, power: Decibel, from position: GridPosition
  ) {
    self.packet = packet
    self.channel = channel
    self.modulation = modulation
    self.power = power
    self.position = position
  }
}
