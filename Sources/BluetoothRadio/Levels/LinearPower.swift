import BluetoothWire

/// A power on a linear scale, so that powers can be added, in units of 10⁻¹⁵ mW (−150 dBm).
struct LinearPower {
  private(set) var units: UInt64

  private static let unit = Decibel(-150)
  /// log₂ 10 / 2560: the octaves of power in a step of 1/256 dB, in units of 2⁻⁴⁰.
  private static let octavesPerStep: Int64 = 1_426_757_253
  /// 2560 / log₂ 10: the inverse of `octavesPerStep`, in units of 2⁻¹⁶.
  private static let stepsPerOctave: Int64 = 50_504_453

  /// Converts a level. Levels above +42 dBm are clamped to the largest 64-bit number; levels below −150 dBm count as no
  /// power.
  init(_ level: Decibel) {
    let steps = Int64((level - Self.unit).steps)
    units = FixedPoint.exp2((steps * Self.octavesPerStep) >> 16, bits: 0)
  }

  /// The level in dBm; −150 dBm for no power.
  var level: Decibel {
    let octaves = FixedPoint.log2(max(1, units))
    let steps = ((octaves >> 8) * Self.stepsPerOctave) >> Int64(FixedPoint.fraction - 8 + 16)
    return Self.unit + Decibel(steps: Int32(truncatingIfNeeded: steps))
  }

  static let none = LinearPower(units: 0)

  var isNone: Bool { units == 0 }

  private init(units: UInt64) { self.units = units }

  static func += (left: inout LinearPower, right: LinearPower) {
    let (sum, overflows) = left.units.addingReportingOverflow(right.units)
    left.units = overflows ? .max : sum
  }
}
