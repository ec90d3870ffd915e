import BluetoothWire

/// How a signal weakens on its way: `reference + 10 n log₁₀ d + margin`, d in metres, and per pair of radios a shadowing of
/// their own.
package struct PathLossModel: Hashable, Sendable {
  /// The loss over the first metre.
  package var reference: Decibel
  /// n in hundredths, 0 to 1,000: 200 in free space, 250 by default, up to 400 indoors.
  package private(set) var exponent: Int64
  /// What fading, walls and bodies take away besides, on every way.
  package var margin: Decibel
  /// The standard deviation of what each pair of radios loses or gains on top: the same in both directions, decided by
  /// the world's seed, never more than 3.46 times this.
  package var shadowing: Decibel

  package init(
    reference: Decibel = Decibel(40), exponent: Int = 250, margin: Decibel = Decibel(0), shadowing: Decibel = Decibel(0)
  ) {
    self.reference = reference
    self.exponent = Int64(min(max(exponent, 0), 1_000))
    self.margin = margin
    self.shadowing = max(shadowing, Decibel(0))
  }

  /// The default: 40 + 25 log₁₀ d. At a sensitivity of −90 dBm, +10 dBm reach 251 m, and −20 dBm 15.8 m.
  package static let free = PathLossModel()
  /// Outdoors in sight of each other, with the margin that fading needs: +10 dBm reach 50 m.
  package static let lineOfSight = PathLossModel(margin: Decibel(steps: 4_480))  // 17.5 dB
  /// Among walls, furniture and people: +10 dBm reach 30 m.
  package static let office = PathLossModel(margin: Decibel(23))

  /// The square of 10 cm in square millimetres: nothing is nearer, for antennas have a size.
  private static let nearest: UInt64 = 100 * 100

  /// What a distance takes away, given its square in square millimetres; without shadowing.
  @inline(__always)
  package func loss(squaredDistance: UInt64) -> Decibel {
    // In units of 2⁻²⁴ octaves of the squared distance, from 1 m on.
    let octaves = FixedPoint.log2(max(Self.nearest, squaredDistance)) - Self.octavesOfAMetre
    // 5 log₁₀ 2 · 256 / 100, in units of 2⁻²⁰: steps of 1/256 dB per octave and hundredth of the exponent.
    let product = octaves * (exponent * 4_040_356)
    return reference + margin + Decibel(steps: Int32(truncatingIfNeeded: product >> 44))
  }

  private static let octavesOfAMetre = FixedPoint.log2(1_000_000)

  /// The shadowing of a pair of which `draw` decides: the sum of four even chances, which is nearly normal.
  func shadow(draw: UInt64) -> Decibel {
    var sum: Int64 = -131_070
    for shift in stride(from: 0, to: 64, by: 16) { sum += Int64((draw >> UInt64(shift)) & 0xFFFF) }
    // √3 · 2¹⁶ / 2³²: the sum's own deviation is 65,536/√3.
    return Decibel(steps: Int32(truncatingIfNeeded: (sum * Int64(shadowing.steps) * 113_512) >> 32))
  }
}
