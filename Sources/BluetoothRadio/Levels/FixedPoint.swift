/// Logarithms and powers of two in whole numbers, so that every machine comes to the same levels.
enum FixedPoint {
  /// Bits behind the point.
  static let fraction = 24

  /// log2 of `value`, which is at least 1, in units of 2⁻²⁴, rounded down.
  static func log2(_ value: UInt64) -> Int64 {
    precondition(value > 0, "zero has no logarithm")
    let whole = 63 - value.leadingZeroBitCount
    // The mantissa as 1.31 bits; each squaring yields one bit of the logarithm.
    var mantissa = whole >= 31 ? value >> UInt64(whole - 31) : value << UInt64(31 - whole)
    var result = Int64(whole) << Int64(fraction)
    var bit = Int64(1) << Int64(fraction - 1)
    while bit > 0 {
      mantissa = (mantissa * mantissa) >> 31
      if mantissa >= 1 << 32 {
        mantissa >>= 1
        result += bit
      }
      bit >>= 1
    }
    return result
  }

  /// 2 to the power of `exponent` (in units of 2⁻²⁴), in units of 2⁻¹⁶; held at the largest number from 2⁴⁶ on.
  static func exp2(_ exponent: Int64) -> UInt64 {
    let whole = exponent >> Int64(fraction)
    guard whole < 46 else { return .max }
    guard whole > -17 else { return 0 }
    // The product of 2^(2^-k) for the bits that are set, as 1.30 bits.
    var mantissa: UInt64 = 1 << 30
    for (index, root) in roots.enumerated() where exponent & (1 << Int64(fraction - 1 - index)) != 0 {
      mantissa = (mantissa * root) >> 31
    }
    return whole >= 14 ? mantissa << UInt64(whole - 14) : mantissa >> UInt64(14 - whole)
  }

  /// 2^(2^-k) for k = 1, 2, … as 1.31 bits, rounded.
  private static let roots: [UInt64] = [
    3_037_000_500, 2_553_802_834, 2_341_847_524, 2_242_560_872, 2_194_507_417, 2_170_868_212, 2_159_144_272,
    2_153_306_067, 2_150_392_887, 2_148_937_775, 2_148_210_589, 2_147_847_087, 2_147_665_360, 2_147_574_502,
    2_147_529_075, 2_147_506_361, 2_147_495_005, 2_147_489_326, 2_147_486_487, 2_147_485_068, 2_147_484_358,
    2_147_484_003, 2_147_483_825, 2_147_483_737,
  ]
}
