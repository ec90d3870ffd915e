/// Logarithms and powers of two in whole numbers, so that every machine comes to the same levels.
enum FixedPoint {
  /// Bits behind the point of logarithms.
  static let fraction = 24

  /// log2 of `value`, which is at least 1, in units of 2⁻²⁴; right to 3 of them.
  @inline(__always)
  static func log2(_ value: UInt64) -> Int64 {
    precondition(value > 0, "zero has no logarithm")
    let zeros = value.leadingZeroBitCount
    // Without its leading one: the row in the upper 10 bits, then how far it is to the next one.
    let mantissa = (value << UInt64(zeros)) << 1
    let row = Int(mantissa >> 54)
    let rest = Int64((mantissa << 10) >> 42)
    let low = Int64(LogarithmTables.logarithms[row])
    let high = Int64(LogarithmTables.logarithms[row + 1])
    return Int64(63 - zeros) << Int64(fraction) + low + ((high - low) * rest) >> 22
  }

  /// 2 to the power of `exponent` (in units of 2⁻²⁴), in units of 2^−`bits`; held at the largest number.
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
