import BluetoothWire

/// The position, the receiver and the antenna of a radio, which do not depend on its current activity.
package struct RadioProperties: Sendable {
  package var position: GridPosition
  /// The sensitivity on LE 1M: the level in dBm at which the bit error rate is 0.1 % · Vol 6, Part A, 4.1. The
  /// following properties are the sensitivities of the other modulations.
  package var sensitivity1M = Decibel(-90)
  package var sensitivity2M = Decibel(-87)
  package var sensitivityS8 = Decibel(-102)
  package var sensitivityS2 = Decibel(-95)
  /// The level in dBm at which receiver overload causes a bit error rate of 0.1 %: the specification's maximum input
  /// level · Vol 6, Part A, 4.5. At 3.6 dB above it and more, almost no packet is received.
  package var maximumInputLevel = Decibel(-10)
  /// The antenna gain for both transmission and reception in its strongest direction, dBi. A `DirectionalLoss` of the
  /// world reduces it in other directions.
  package var antennaGain = Decibel(0)
  /// The conversion from true levels to the RSSI that the link layer gets.
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

  /// Returns the power of the receiver's noise, dBm: 10.9 dB below its sensitivity, because at that signal-to-noise
  /// ratio the bit error rate is 0.1 % (see `ErrorRates`).
  @inline(__always)
  func noise(_ modulation: Modulation) -> Decibel { sensitivity(modulation) - Self.ratioAtSensitivity }

  /// The ratio of signal to noise at the sensitivity: 10.9 dB.
  static let ratioAtSensitivity = Decibel(steps: 2_790)
}

/// The errors of a chip's RSSI measurement: offset, resolution and range. The default has no error.
package struct SignalStrengthIndicator: Hashable, Sendable {
  /// The offset that is added to every level, in decibels.
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
