import BluetoothWire

/// What a radio is, besides what it does at the moment.
package struct RadioProperties: Sendable {
  package var position: GridPosition
  /// The level at which one bit in a thousand is lost, dBm · Vol 6, Part A, 4.1. One for each modulation.
  package var sensitivity1M = Decibel(-90)
  package var sensitivity2M = Decibel(-87)
  package var sensitivityS8 = Decibel(-102)
  package var sensitivityS2 = Decibel(-95)
  /// The level at which the receiver is so far beyond its range that one bit in a thousand is lost again, dBm: the
  /// specification's maximum input level · Vol 6, Part A, 4.5. From 3.6 dB more on next to nothing arrives.
  package var maximumInputLevel = Decibel(-10)
  /// Of sending and receiving alike, in all directions, dBi.
  package var antennaGain = Decibel(0)
  /// How levels are told to the link layer.
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

  /// A receiver's noise lies 10.9 dB below its sensitivity: there one bit in a thousand is lost.
  @inline(__always)
  func noise(_ modulation: Modulation) -> Decibel { sensitivity(modulation) - Self.ratioAtSensitivity }

  static let ratioAtSensitivity = Decibel(steps: 2_790)
}

/// What a chip makes of a level before it tells it as RSSI. The default tells what is.
package struct SignalStrengthIndicator: Hashable, Sendable {
  /// What it tells too much, everywhere.
  package var offset: Decibel
  /// It tells multiples of this; at least 1/256 dB.
  package private(set) var step: Decibel
  /// The least and the most that it tells.
  package private(set) var minimum: Decibel
  package private(set) var maximum: Decibel

  /// A `maximum` below `minimum` counts as equal to it.
  package init(
    offset: Decibel = Decibel(0), step: Decibel = Decibel(steps: 1), minimum: Decibel = Decibel(-127),
    maximum: Decibel = Decibel(127)
  ) {
    self.offset = offset
    self.step = max(step, Decibel(steps: 1))
    self.minimum = minimum
    self.maximum = max(minimum, maximum)
  }

  /// What is told of `level`: to the nearest step, halves up.
  package func reading(of level: Decibel) -> Decibel {
    let steps = Int64((level + offset).steps) + Int64(step.steps) / 2
    let size = Int64(step.steps)
    let whole = steps >= 0 ? steps / size : (steps - size + 1) / size
    return min(max(Decibel(steps: Int32(clamping: whole * size)), minimum), maximum)
  }
}
