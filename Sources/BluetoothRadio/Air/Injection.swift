import BluetoothWire

/// A packet that comes from no device.
package struct Injection: Sendable {
  package var packet: AirPacket
  package var channel: RadioChannel
  package var modulation: Modulation
  /// dBm.
  package var power: Decibel
  /// Where it is sent from.
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
