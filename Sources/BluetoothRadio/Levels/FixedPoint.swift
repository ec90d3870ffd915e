/// Binary logarithms and powers of two in integer arithmetic, so that every machine computes the same levels.
enum FixedPoint {
  /// The number of fraction bits of logarithms.
  static let fraction = 24

  /// Returns log₂ of `value`, in units of 2⁻²⁴. The error is at most 3 units. Traps if `value` is 0.
  @inline(__always)
  static func log2(_ value: UInt64) -> Int64 {
    precondition(value > 0, "zero has no logarithm")
    let zeros = value.leadingZeroBitCount
    // The mantissa without its leading one: the upper 10 bits select the row, the rest interpolates to the next row.
    let mantissa = (value << UInt64(zeros)) << 1
    let row = Int(mantissa >> 54)
    let rest = Int64((mantissa << 10) >> 42)
    let low = Int64(LogarithmTables.logarithms[row])
    let high = Int64(LogarithmTables.logarithms[row + 1])
    return Int64(63 - zeros) << Int64(fraction) + low + ((high - low) * rest) >> 22
  }

  /// Returns 2 to the power of `exponent` (in units of 2⁻²⁴) as a fixed-point number with `bits` fraction bits;
  /// `UInt64.max` for 2⁶³ units or more, 0 for less than one unit.
  @inline(__always)
  static func exp2(_ exponent: Int64, bits: Int64 = 16) -> UInt64 {
    let whole = exponent >> Int64(fraction) + bits
    guard whole < 63 else { return .max }
    guard whole >= 0 else { return 0 }
    let row = Int(exponent >> 14) & 1_023
    let rest = UInt64(exponent & 0x3FFF)
    let low = UInt64(LogarithmTables.powers[row])
    let high = UInt64(LogarithmTables.powers[row + 1])
    let mantissa = low + ((high - low) * rest) >> 14
    return whole >= 30 ? mantissa << UInt64(whole - 30) : mantissa >> UInt64(30 - whole)
  }
}
