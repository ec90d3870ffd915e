/// A code of one octet, of which some values have a defined meaning. The other values are reserved for future use and
/// are preserved, because they may come from a newer peer.
public protocol ValueCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible, ExpressibleByIntegerLiteral
where RawValue == UInt8, IntegerLiteralType == UInt8 {
  /// Creates a code. Every octet is valid.
  init(rawValue: UInt8)

  /// The names of the codes from `firstNamed` on; an empty name marks a reserved code.
  static var names: [String] { get }

  /// The first code with a name.
  static var firstNamed: UInt8 { get }

  /// The names of codes beyond `names`.
  static var furtherNames: [UInt8: String] { get }
}

extension ValueCode {
  /// The default, 0.
  public static var firstNamed: UInt8 { 0 }

  /// The default, no further names.
  public static var furtherNames: [UInt8: String] { [:] }

  /// Creates the code with this number.
  public init(integerLiteral value: UInt8) { self.init(rawValue: value) }

  /// The name of the code; nil if it is reserved.
  public var name: String? {
    let index = Int(rawValue) - Int(Self.firstNamed)
    guard Self.names.indices.contains(index) else { return Self.furtherNames[rawValue] }
    return Self.names[index].isEmpty ? nil : Self.names[index]
  }

  /// The name, or the number if the code is reserved.
  public var description: String { name ?? "reserved (\(rawValue))" }
}

extension CharacteristicValue where Self: ValueCode {
  /// Reads the code from the next octet.
  public init(from reader: inout ValueReader) throws(ValueError) { self.init(rawValue: try reader.uint8()) }

  /// Appends the code's octet.
  public func write(to writer: inout ValueWriter) { writer.code(self) }

  /// The name of the code as the only field.
  public var fields: [ValueField] { [ValueField("", name ?? "reserved (\(rawValue))")] }

  /// The name, or the number if the code is reserved.
  public var description: String { name ?? "reserved (\(rawValue))" }
}

/// A set of bits that represent the features or the state of a device. Reserved bits are preserved.
public protocol FeatureSet: OptionSet, Hashable, Sendable, CustomStringConvertible
where RawValue: FixedWidthInteger & UnsignedInteger & Sendable, Element == Self {
  /// The names of the bits from bit 0 on; an empty name marks a reserved bit.
  static var names: [String] { get }
}

extension FeatureSet {
  /// Creates the set of a single bit.
  init(bit: Int) { self.init(rawValue: 1 << RawValue(bit)) }

  /// The names of the bits that are set; reserved bits are included by number.
  public var setNames: [String] {
    (0..<RawValue.bitWidth).filter { rawValue.has($0) }.map { bit in
      guard Self.names.indices.contains(bit), !Self.names[bit].isEmpty else { return "reserved bit \(bit)" }
      return Self.names[bit]
    }
  }

  /// The names of the bits that are set, or "none".
  public var description: String { rawValue == 0 ? "none" : setNames.joined(separator: ", ") }
}

extension CharacteristicValue where Self: FeatureSet {
  /// Reads the bits from the next octets.
  public init(from reader: inout ValueReader) throws(ValueError) { self.init(rawValue: try reader.integer()) }

  /// Appends the bits, least significant octet first.
  public func write(to writer: inout ValueWriter) { writer.integer(rawValue) }

  /// The names of the bits that are set, or "none", as the only field.
  public var fields: [ValueField] {
    [ValueField("", rawValue == 0 ? "none" : setNames.joined(separator: ", "))]
  }

  /// The names of the bits that are set, or "none".
  public var description: String { rawValue == 0 ? "none" : setNames.joined(separator: ", ") }
}
