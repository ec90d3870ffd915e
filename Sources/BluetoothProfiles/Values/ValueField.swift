/// The name and the text of one field of a value.
public struct ValueField: Hashable, Sendable, CustomStringConvertible {
  /// The name of the field; empty if it is the only field of the value.
  public let name: String
  /// The text of the field, with its unit.
  public let value: String
  /// The digits of the number, without its unit: "36.6"; nil if the field is not a finite number.
  public let number: String?
  /// The symbol of the number's unit, such as "°C"; empty if the number has no unit, or the field is not a number.
  public let unit: String

  /// Creates a field whose text is the description of `value`.
  public init(_ name: String, _ value: some CustomStringConvertible) {
    self.name = name
    self.value = value.description
    let parts = (value as? any NumericText)?.numberParts
    (number, unit) = (parts?.digits, parts?.unit ?? "")
  }

  /// Creates a field for a number with a unit.
  public init(_ name: String, _ value: some CustomStringConvertible, _ unit: BluetoothUnit) {
    self.init(name, value, symbol: unit.symbol)
  }

  /// Creates a field for a number with a unit.
  ///
  /// - Parameters:
  ///   - name: the name of the field.
  ///   - value: the number.
  ///   - symbol: the symbol of the unit; empty if there is none.
  public init(_ name: String, _ value: some CustomStringConvertible, symbol: String) {
    self.name = name
    self.value = symbol.isEmpty ? value.description : value.description + " " + symbol
    number = (value as? any NumericText)?.numberParts?.digits
    unit = number == nil ? "" : symbol
  }

  /// Creates a field from the text of a number with its unit.
  ///
  /// - Parameter unit: the unit that follows the digits.
  init(_ name: String, textOfNumber text: String, _ unit: BluetoothUnit) {
    let symbol = unit.symbol
    let digits = symbol.isEmpty ? text : text.hasSuffix(" " + symbol) ? String(text.dropLast(symbol.count + 1)) : ""
    self.name = name
    value = text
    number = Double(digits)?.isFinite == true ? digits : nil
    self.unit = number == nil ? "" : symbol
  }

  /// The name and the text.
  public var description: String { name.isEmpty ? value : name + " " + value }
}

extension [ValueField] {
  /// Appends a field unless `value` is nil.
  mutating func add(_ name: String, _ value: (some CustomStringConvertible)?) {
    if let value { append(ValueField(name, value)) }
  }

  /// Appends a field for a number with a unit unless `value` is nil.
  mutating func add(_ name: String, _ value: (some CustomStringConvertible)?, _ unit: BluetoothUnit) {
    if let value { append(ValueField(name, value, unit)) }
  }

  /// Appends a field for a number with the symbol of a unit unless `value` is nil.
  mutating func add(_ name: String, _ value: (some CustomStringConvertible)?, symbol: String) {
    if let value { append(ValueField(name, value, symbol: symbol)) }
  }
}

/// A value whose description is a number, with or without a unit.
protocol NumericText {
  /// The digits of the number and the symbol of its unit; nil if the value is not a finite number, such as "not known".
  var numberParts: (digits: String, unit: String)? { get }
}

extension NumericText where Self: BinaryInteger {
  var numberParts: (digits: String, unit: String)? { (String(self), "") }
}

extension NumericText where Self: BinaryFloatingPoint & CustomStringConvertible {
  var numberParts: (digits: String, unit: String)? { isFinite ? (description, "") : nil }
}

extension NumericText where Self: MedicalFloat {
  var numberParts: (digits: String, unit: String)? { number.map { ($0.description, "") } }
}

extension Int: NumericText {}
extension Int8: NumericText {}
extension Int16: NumericText {}
extension Int32: NumericText {}
extension Int64: NumericText {}
extension UInt8: NumericText {}
extension UInt16: NumericText {}
extension UInt32: NumericText {}
extension UInt64: NumericText {}
extension Float: NumericText {}
extension Double: NumericText {}
extension MedicalFloat16: NumericText {}
extension MedicalFloat32: NumericText {}

extension DecimalNumber: NumericText {
  var numberParts: (digits: String, unit: String)? { (description, "") }
}

extension Scalar: NumericText {
  var numberParts: (digits: String, unit: String)? { number.map { ($0.description, unit.symbol) } }
}
