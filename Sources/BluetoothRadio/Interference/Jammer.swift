import BluetoothWire

/// A jammer: noise on some of the 40 channels.
package struct Jammer: Hashable, Sendable {
  package let channels: Set<RadioChannel>
  package let pattern: BurstPattern

  package init(channels: Set<RadioChannel>, pattern: BurstPattern = .always) {
    self.channels = channels
    self.pattern = pattern
  }

  /// Returns the attenuation, in a receiver on `channel`, of the nearest of the jammer's channels.
  func rejection(on channel: RadioChannel, _ modulation: Modulation) -> Decibel {
    var distance = Int.max
    for other in channels { distance = min(distance, Int((other.megahertz - channel.megahertz).magnitude)) }
    return Selectivity.rejection(atOffset: distance, modulation)
  }
}
