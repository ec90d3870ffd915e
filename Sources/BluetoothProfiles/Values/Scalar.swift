/// The format of a scalar: the number of octets, the size of a step, the unit, and the valid integers.
public struct ScalarFormat: Sendable {
  /// The specification's name of the field.
  public let field: String
  /// The number of octets, 1 to 8.
  public let octets: Int
  public let isSigned: Bool
  /// One step is `multiplier` × 10^`exponent` units.
  public let multiplier: Int
  public let exponent: Int
  public let unit: BluetoothUnit
  /// The valid integers, without the special ones.
  public let range: ClosedRange<Int>
  /// The integers that stand for no measurement, and their meanings.
  public let special: [Int: String]

  /// Creates a format. Without a range, all integers that fit in the octets are valid.
  public init(
    _ field: String, octets: Int, isSigned: Bool = false, multiplier: Int = 1, exponent: Int = 0,
    unit: BluetoothUnit, range: ClosedRange<Int>? = nil, special: [Int: String] = [:]
  ) {
    self.field = field
    self.octets = octets
    self.isSigned = isSigned
    self.multiplier = multiplier
    self.exponent = exponent
    self.unit = unit
    self.special = special
    let bits = octets * 8 - 1
    let highest = (1 << (bits - 1) - 1) * 2 + 1
    self.range = range ?? (isSigned ? -highest - 1...highest : 0...(octets == 8 ? highest : highest * 2 + 1))
  }
}

/// The kind of a scalar, which distinguishes scalar types.
public protocol ScalarKind: Sendable {
  /// The format: octets, step, unit and range.
  static var format: ScalarFormat { get }
}

/// A kind of scalar that is the complete value of a characteristic.
public protocol ScalarCharacteristicKind: ScalarKind {
  /// The characteristic's UUID.
  static var uuid: UInt16 { get }
}

/// A number with a step, a unit and a range. A value outside the range can't be created.
public struct Scalar<Kind: ScalarKind>: Hashable, Sendable, CustomStringConvertible {
  /// The transmitted integer, which is the number of steps.
  public let rawValue: Int

  /// Returns nil if `rawValue` is neither in the range nor special.
  public init?(rawValue: Int) {
    guard Kind.format.range.contains(rawValue) || Kind.format.special[rawValue] != nil else { return nil }
    self.rawValue = rawValue
  }

  /// Creates the scalar with the integer in the range that is nearest to `rawValue`.
  public init(clamping rawValue: Int) {
    self.rawValue = min(max(rawValue, Kind.format.range.lowerBound), Kind.format.range.upperBound)
  }

  /// Creates the scalar nearest to `value`, which is in the kind's unit. Returns nil if it is out of range.
  public init?(_ value: Double) {
    let format = Kind.format
    let scaled =
      format.exponent < 0
      ? value * DecimalNumber.powerOf10(-format.exponent) : value / DecimalNumber.powerOf10(format.exponent)
    let steps = scaled / Double(format.multiplier)
    // Does not use `rounded()`, which depends on the C mathematics library.
    guard steps.magnitude < 9e18 else { return nil }
    let rawValue = Int(steps + (steps < 0 ? -0.5 : 0.5))
    guard format.range.contains(rawValue), format.special[rawValue] == nil else { return nil }
    self.rawValue = rawValue
  }

  /// The exact number in the unit; nil for a special value, such as "not known", and on overflow.
  public var number: DecimalNumber? {
    guard Kind.format.special[rawValue] == nil else { return nil }
    let (product, overflow) = rawValue.multipliedReportingOverflow(by: Kind.format.multiplier)
    return overflow ? nil : DecimalNumber(product, exponent: Kind.format.exponent)
  }

  /// The number in the unit; nil for a special value, such as "not known", and on overflow.
  public var value: Double? { number?.value }

  /// The unit of the number.
  public var unit: BluetoothUnit { Kind.format.unit }

  /// The number with its unit, or the meaning of a special value.
  public var description: String {
    if let text = Kind.format.special[rawValue] { return text }
    return Kind.format.unit.text(number?.description ?? "\(rawValue) steps")
  }
}

extension Scalar: AttributeValue {
  public init(from reader: inout ValueReader) throws(ValueError) { self = try reader.scalar() }

  public func write(to writer: inout ValueWriter) { writer.scalar(self) }
}

extension Scalar: CharacteristicValue where Kind: ScalarCharacteristicKind {
  public static var uuid: UInt16 { Kind.uuid }

  public var fields: [ValueField] { [ValueField("", self)] }
}
