/// What the octets of a scalar mean: their number, what one step is, the unit, and which numbers are allowed.
public struct ScalarFormat: Sendable {
  /// What the specification calls the field.
  public let field: String
  /// 1 to 8.
  public let octets: Int
  public let isSigned: Bool
  /// One step is `multiplier` × 10^`exponent` units.
  public let multiplier: Int
  public let exponent: Int
  public let unit: BluetoothUnit
  /// The numbers that are allowed, without the special ones.
  public let range: ClosedRange<Int>
  /// Numbers that are no measurement, and what they say instead.
  public let special: [Int: String]

  /// A format; without a range all numbers that the octets can hold are allowed.
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

/// What tells one kind of scalar from another.
public protocol ScalarKind: Sendable {
  /// Octets, step, unit and range.
  static var format: ScalarFormat { get }
}

/// A kind of scalar that is the whole value of a characteristic.
public protocol ScalarCharacteristicKind: ScalarKind {
  /// The characteristic's UUID.
  static var uuid: UInt16 { get }
}

/// A number with a step, a unit and a range. What is outside the range can't be made.
public struct Scalar<Kind: ScalarKind>: Hashable, Sendable, CustomStringConvertible {
  /// The number that is sent: how many steps.
  public let rawValue: Int

  /// nil when `rawValue` is neither in the range nor special.
  public init?(rawValue: Int) {
    guard Kind.format.range.contains(rawValue) || Kind.format.special[rawValue] != nil else { return nil }
    self.rawValue = rawValue
  }

  /// The step that is nearest to `value` units; nil when there is none in the range.
  public init?(_ value: Double) {
    let format = Kind.format
    let scaled =
      format.exponent < 0
      ? value * DecimalNumber.powerOf10(-format.exponent) : value / DecimalNumber.powerOf10(format.exponent)
    let steps = scaled / Double(format.multiplier)
    // Written without `rounded()`, which needs the C library's mathematics.
    guard steps.magnitude < 9e18 else { return nil }
    let rawValue = Int(steps + (steps < 0 ? -0.5 : 0.5))
    guard format.range.contains(rawValue), format.special[rawValue] == nil else { return nil }
    self.rawValue = rawValue
  }

  /// The number in the unit, exact; nil when the value is a special one, such as "not known".
  public var number: DecimalNumber? {
    guard Kind.format.special[rawValue] == nil else { return nil }
    let (product, overflow) = rawValue.multipliedReportingOverflow(by: Kind.format.multiplier)
    return overflow ? nil : DecimalNumber(product, exponent: Kind.format.exponent)
  }

  /// The number in the unit; nil when the value is a special one, such as "not known".
  public var value: Double? { number?.value }

  /// The unit.
  public var unit: BluetoothUnit { Kind.format.unit }

  /// The number and its unit, or what a special value says.
  public var description: String {
    if let text = Kind.format.special[rawValue] { return text }
    return Kind.format.unit.text(number?.description ?? "\(rawValue) steps")
  }
}

extension Scalar: CharacteristicValue where Kind: ScalarCharacteristicKind {
  public static var uuid: UInt16 { Kind.uuid }

  public init(from reader: inout ValueReader) throws(ValueError) { self = try reader.scalar() }

  public func write(to writer: inout ValueWriter) { writer.scalar(self) }

  public var fields: [ValueField] { [ValueField("", description)] }
}
