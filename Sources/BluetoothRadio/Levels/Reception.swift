import BluetoothWire

/// How levels add up, fall with distance, and decide whether bits arrive.
package enum Levels {
  /// What a distance takes away: 40 + 25 log₁₀ d dB, d in metres; nothing is nearer than 1 mm.
  package static func pathLoss(millimetres distance: UInt64) -> Decibel {
    // 25 log₁₀ 2 · 256, in units of 2⁻²⁰.
    let perOctave: Int64 = 2_020_178_104
    let octaves = FixedPoint.log2(max(1, distance)) - FixedPoint.log2(1_000)
    let product = (octaves >> 4) * (perOctave >> 4)
    let steps = Int32(truncatingIfNeeded: product >> Int64(FixedPoint.fraction - 4 + 20 - 4))
    return Decibel(40) + Decibel(steps: steps)
  }

  /// The level of two signals together.
  static func sum(_ left: Decibel, _ right: Decibel) -> Decibel {
    let (stronger, weaker) = left < right ? (right, left) : (left, right)
    let difference = stronger - weaker
    // A signal 40 dB weaker adds less than half a step.
    guard difference < Decibel(40) else { return stronger }
    // log₂ 10 / 2560, in units of 2⁻⁴⁰; 10 log₁₀ 2 · 256, in units of 2⁻¹⁶.
    let exponent = -(Int64(difference.steps) * 1_426_757_253) >> 16
    let total = (UInt64(1) << 16) + FixedPoint.exp2(exponent)
    let octaves = FixedPoint.log2(total) - Int64(16 << FixedPoint.fraction)
    return stronger
      + Decibel(steps: Int32(truncatingIfNeeded: (octaves * 50_504_453) >> Int64(FixedPoint.fraction + 16)))
  }

  /// What a bit at this ratio of signal to noise and interference costs; see `ErrorRates`.
  static func costPerBit(at ratio: Decibel) -> UInt64 {
    let row = (Int(ratio.steps) - ErrorRates.first * 256) * ErrorRates.rowsPerDecibel / 256
    if row < 0 { return ErrorRates.costs[0] }
    return row < ErrorRates.costs.count ? ErrorRates.costs[row] : 0
  }

  /// Whether bits that together cost `cost` arrive: true with probability 2^−cost. Draws nothing when they cost nothing.
  static func arrives(cost: UInt64, using generator: inout some RandomNumberGenerator) -> Bool {
    guard cost > 0 else { return true }
    let draw = max(1, generator.next())
    // −log₂ (draw / 2⁶⁴), in units of 2⁻²⁴.
    let drawn = Int64(64 << FixedPoint.fraction) - FixedPoint.log2(draw)
    return UInt64(drawn) >= cost >> UInt64(40 - FixedPoint.fraction)
  }
}
