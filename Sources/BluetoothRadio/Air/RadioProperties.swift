import BluetoothWire

/// The static properties of a radio, in contrast to its current activity.
package struct RadioProperties: Sendable {
  package var position: GridPosition
  /// The sensitivity: the level in dBm at which one bit in a thousand is lost · Vol 6, Part A, 4.1. One value for each
  /// modulation.
  package var sensitivity1M = Decibel(-90)
  package var sensitivity2M = Decibel(-87)
  package var sensitivityS8 = Decibel(-102)
  package var sensitivityS2 = Decibel(-95)
  /// The level in dBm at which receiver overload again loses one bit in a thousand: the specification's maximum input
  /// level · Vol 6, Part A, 4.5. From 3.6 dB above it, almost nothing arrives.
  package var maximumInputLevel = Decibel(-10)
  /// The antenna gain for both transmission and reception, equal in all directions, dBi.
  package var antennaGain = Decibel(0)
  /// The conversion from levels to the RSSI that the link layer gets.
  package var signalStrength = SignalStrengthIndicator()

  package init(position: GridPosition) { self.position = position }

  @inline(__always)
  package func sensitivity(_ modulation: Modulation) -> Decibel {
    switch modulation {
    case .le1M: sensitivity1M
    case .le2M: sensitivity2M
    case .codedS8: sensitivityS8
    case .codedS2: sensitivityS2
    }
  }

  /// Returns the receiver's noise, which lies 10.9 dB below its sensitivity: at that ratio, one bit in a thousand is
  /// lost.
  @inline(__always)
  func noise(_ modulation: Modulation) -> Decibel { sensitivity(modulation) - Self.ratioAtSensitivity }

  static let ratioAtSensitivity = Decibel(steps: 2_790)
}

/// The RSSI measurement of a chip: offset, resolution and range of the reported levels. The default reports true
/// levels.
package struct SignalStrengthIndicator: Hashable, Sendable {
  /// The decibels that are added to every level.
  package var offset: Decibel
  /// The resolution: reported levels are multiples of it; at least 1/256 dB.
  package private(set) var step: Decibel
  /// The range of reported levels, dBm.
  package private(set) var minimum: Decibel
  package private(set) var maximum: Decibel

  /// Creates an indicator. A `maximum` below `minimum` counts as equal to `minimum`.
  package init(
    offset: Decibel = Decibel(0), step: Decibel = Decibel(steps: 1), minimum: Decibel = Decibel(-127),
    maximum: Decibel = Decibel(127)
  ) {
    self.offset = offset
    self.step = max(step, Decibel(steps: 1))
    self.minimum = minimum
    self.maximum = max(minimum, maximum)
  }

  /// Returns the RSSI reported for `level`, rounded to the nearest step, halves up.
  package func reading(of level: Decibel) -> Decibel {
    let steps = Int64((level + offset).steps) + Int64(step.steps) / 2
    let size = Int64(step.steps)
    let whole = steps >= 0 ? steps / size : (steps - size + 1) / size
    return min(max(Decibel(steps: Int32(clamping: whole * size)), minimum), maximum)
  }
}
