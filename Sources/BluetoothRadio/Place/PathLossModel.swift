import BluetoothWire

/// A log-distance path loss model: `reference + 10 n log₁₀ d + margin`, d in metres, plus a shadowing value for each
/// pair of radios.
package struct PathLossModel: Hashable, Sendable {
  /// The loss over the first metre, in decibels.
  package var reference: Decibel
  /// The path loss exponent n in hundredths, 0 to 1,000: 200 in free space, 250 by default, up to 400 indoors.
  package private(set) var exponent: Int64
  /// The additional loss on every path from fading, walls and bodies, in decibels.
  package var margin: Decibel
  /// The standard deviation of the shadowing, in decibels. The shadowing of a pair of radios is the same in both
  /// directions, follows from the world's seed, and never exceeds 3.46 standard deviations.
  package var shadowing: Decibel

  package init(
    reference: Decibel = Decibel(40), exponent: Int = 250, margin: Decibel = Decibel(0), shadowing: Decibel = Decibel(0)
  ) {
    self.reference = reference
    self.exponent = Int64(min(max(exponent, 0), 1_000))
    self.margin = margin
    self.shadowing = max(shadowing, Decibel(0))
  }

  /// The default model, 40 + 25 log₁₀ d. At a sensitivity of −90 dBm, +10 dBm reach 251 m, and −20 dBm reach 15.8 m.
  package static let free = PathLossModel()
  /// Outdoors with line of sight, including a fading margin: +10 dBm reach 50 m.
  package static let lineOfSight = PathLossModel(margin: Decibel(steps: 4_480))  // 17.5 dB
  /// Indoors among walls, furniture and people: +10 dBm reach 30 m.
  package static let office = PathLossModel(margin: Decibel(23))

  /// The square of the minimum distance, 10 cm, in square millimetres. At distances near 0, the formula would give a
  /// gain.
  private static let nearest: UInt64 = 100 * 100

  /// Returns the path loss over a distance, given as its square in square millimetres; without shadowing.
  @inline(__always)
  package func loss(squaredDistance: UInt64) -> Decibel {
    // Octaves of the squared distance relative to 1 m, in units of 2⁻²⁴.
    let octaves = FixedPoint.log2(max(Self.nearest, squaredDistance)) - Self.octavesOfAMetre
    // 5 log₁₀ 2 · 256 / 100, in units of 2⁻²⁰: steps of 1/256 dB per octave and hundredth of the exponent.
    let product = octaves * (exponent * 4_040_356)
    return reference + margin + Decibel(steps: Int32(truncatingIfNeeded: product >> 44))
  }

  private static let octavesOfAMetre = FixedPoint.log2(1_000_000)

  /// Returns the shadowing of a pair of radios from 64 random bits: the sum of four uniform values, which is nearly
  /// normal.
  func shadow(draw: UInt64) -> Decibel {
    var sum: Int64 = -131_070
    for shift in stride(from: 0, to: 64, by: 16) { sum += Int64((draw >> UInt64(shift)) & 0xFFFF) }
    // √3 · 2¹⁶ / 2³²: the standard deviation of the sum is 65,536/√3.
    return Decibel(steps: Int32(truncatingIfNeeded: (sum * Int64(shadowing.steps) * 113_512) >> 32))
  }
}
