/// A floating-point number of the standard for medical devices: mantissa × 10^exponent, both in two's complement, the
/// exponent in the highest bits · IEEE 11073-20601, Annex F.
public protocol MedicalFloat: RawRepresentable, Hashable, Sendable, CustomStringConvertible
where RawValue: FixedWidthInteger & UnsignedInteger & Sendable {
  /// The number of bits of the mantissa.
  static var mantissaBits: Int { get }

  /// Creates a number from its bits. Every bit pattern is valid.
  init(rawValue: RawValue)
}

/// The special values of a medical float.
public enum MedicalFloatSpecial: Hashable, Sendable {
  case notANumber
  /// The measurement has no result at this resolution.
  case notAtThisResolution
  case positiveInfinity
  case negativeInfinity
  /// The one bit pattern that is reserved for future use.
  case reserved
}

extension MedicalFloat {
  private static var limit: Int { 1 << (mantissaBits - 1) }

  private static func exponents() -> ClosedRange<Int> {
    let limit = 1 << (RawValue.bitWidth - mantissaBits - 1)
    return -limit...limit - 1
  }

  private var mantissa: Int {
    let bits = Int(truncatingIfNeeded: rawValue) & (Self.limit * 2 - 1)
    return bits >= Self.limit ? bits - Self.limit * 2 : bits
  }

  private var exponent: Int {
    let limit = Self.exponents().upperBound + 1
    let bits = Int(truncatingIfNeeded: rawValue >> RawValue(Self.mantissaBits)) & (limit * 2 - 1)
    return bits >= limit ? bits - limit * 2 : bits
  }

  /// Creates `mantissa` × 10^`exponent`. Returns nil if either is out of range, or if the bit pattern is a special
  /// value.
  public init?(mantissa: Int, exponent: Int) {
    guard (-Self.limit..<Self.limit).contains(mantissa), Self.exponents().contains(exponent) else { return nil }
    let bits = RawValue(truncatingIfNeeded: mantissa) & RawValue(Self.limit * 2 - 1)
    self.init(rawValue: bits | RawValue(truncatingIfNeeded: exponent) << RawValue(Self.mantissaBits))
    guard special == nil else { return nil }
  }

  /// Creates `value` rounded to a multiple of 10^`exponent`. Returns nil if the result is out of range.
  public init?(_ value: Double, exponent: Int) {
    guard Self.exponents().contains(exponent) else { return nil }
    let power = DecimalNumber.powerOf10(exponent.magnitude == 0 ? 0 : Int(exponent.magnitude))
    let scaled = exponent < 0 ? value * power : value / power
    guard scaled.magnitude <= Double(Self.limit) else { return nil }
    self.init(mantissa: Int(scaled + (scaled < 0 ? -0.5 : 0.5)), exponent: exponent)
  }

  /// Creates a special value.
  public init(_ special: MedicalFloatSpecial) {
    let mantissa =
      switch special {
      case .notANumber: Self.limit - 1
      case .notAtThisResolution: Self.limit
      case .positiveInfinity: Self.limit - 2
      case .negativeInfinity: Self.limit + 2
      case .reserved: Self.limit + 1
      }
    self.init(rawValue: RawValue(mantissa))
  }

  /// The special value; nil for a number. Special values have the exponent 0.
  public var special: MedicalFloatSpecial? {
    guard exponent == 0 else { return nil }
    switch Int(truncatingIfNeeded: rawValue) {
    case Self.limit - 1: return .notANumber
    case Self.limit: return .notAtThisResolution
    case Self.limit - 2: return .positiveInfinity
    case Self.limit + 2: return .negativeInfinity
    case Self.limit + 1: return .reserved
    default: return nil
    }
  }

  /// The exact number; nil for a special value.
  public var number: DecimalNumber? {
    special == nil ? DecimalNumber(mantissa, exponent: exponent) : nil
  }

  /// The nearest floating-point number; infinity or NaN for a special value.
  public var value: Double {
    switch special {
    case nil: DecimalNumber(mantissa, exponent: exponent).value
    case .positiveInfinity: .infinity
    case .negativeInfinity: -.infinity
    case .notANumber, .notAtThisResolution, .reserved: .nan
    }
  }

  /// The number, or the name of the special value.
  public var description: String {
    switch special {
    case nil: DecimalNumber(mantissa, exponent: exponent).description
    case .notANumber: "NaN"
    case .notAtThisResolution: "NRes"
    case .positiveInfinity: "+INF"
    case .negativeInfinity: "-INF"
    case .reserved: "reserved"
    }
  }
}

/// SFLOAT: four bits of exponent, twelve of mantissa. Presentation formats call it medfloat16.
public struct MedicalFloat16: MedicalFloat {
  public static let mantissaBits = 12
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// FLOAT: eight bits of exponent, 24 of mantissa. Presentation formats call it medfloat32.
public struct MedicalFloat32: MedicalFloat {
  public static let mantissaBits = 24
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}
