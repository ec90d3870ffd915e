/// An exact decimal number: `mantissa` × 10^`exponent`.
public struct DecimalNumber: Hashable, Sendable, CustomStringConvertible {
  /// The digits as an integer.
  public let mantissa: Int
  /// The decimal exponent: -2 for hundredths.
  public let exponent: Int

  /// Creates the number `mantissa` × 10^`exponent`.
  public init(_ mantissa: Int, exponent: Int) {
    self.mantissa = mantissa
    self.exponent = exponent
  }

  /// The nearest floating-point number.
  public var value: Double {
    exponent < 0 ? Double(mantissa) / Self.powerOf10(-exponent) : Double(mantissa) * Self.powerOf10(exponent)
  }

  /// The digits with a decimal point, without trailing zeros: "36.6".
  public var description: String { Self.text(mantissa, exponent: exponent) }

  /// Returns 10^`exponent`: exact up to 22, infinite if it exceeds the range of `Double`.
  static func powerOf10(_ exponent: Int) -> Double {
    guard exponent < 400 else { return .infinity }
    var power = 1.0
    for _ in 0..<exponent { power *= 10 }
    return power
  }

  /// Returns the digits of an integer with the decimal point moved by `exponent`, which must be between -128 and 127.
  static func text(_ mantissa: some BinaryInteger, exponent: Int) -> String {
    guard mantissa != 0 else { return "0" }
    let sign = mantissa < 0 ? "-" : ""
    var digits = String(mantissa.magnitude)
    if exponent >= 0 { return sign + digits + String(repeating: "0", count: exponent) }
    if digits.count <= -exponent { digits = String(repeating: "0", count: 1 - exponent - digits.count) + digits }
    let whole = digits.dropLast(-exponent)
    var part = digits.suffix(-exponent)
    while part.last == "0" { part.removeLast() }
    return sign + whole + (part.isEmpty ? "" : "." + part)
  }
}
