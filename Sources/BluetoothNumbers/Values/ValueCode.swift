/// A code of one octet of which some values have a meaning. The others are reserved for future use and remain what they
/// are: whoever reads one may meet a newer peer.
public protocol ValueCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible, ExpressibleByIntegerLiteral
where RawValue == UInt8, IntegerLiteralType == UInt8 {
  /// Any octet is a code.
  init(rawValue: UInt8)

  /// What the codes from `firstNamed` on are called; an empty name stands for a reserved one.
  static var names: [String] { get }

  /// The first code with a name.
  static var firstNamed: UInt8 { get }

  /// What codes beyond `names` are called.
  static var furtherNames: [UInt8: String] { get }
}

extension ValueCode {
  /// 0.
  public static var firstNamed: UInt8 { 0 }

  /// None.
  public static var furtherNames: [UInt8: String] { [:] }

  /// The code with this number.
  public init(integerLiteral value: UInt8) { self.init(rawValue: value) }

  /// What this code is called; nil when it is reserved.
  public var name: String? {
    let index = Int(rawValue) - Int(Self.firstNamed)
    guard Self.names.indices.contains(index) else { return Self.furtherNames[rawValue] }
    return Self.names[index].isEmpty ? nil : Self.names[index]
  }

  /// The name, or the number of a reserved one.
  public var description: String { name ?? "reserved (\(rawValue))" }
}

extension CharacteristicValue where Self: ValueCode {
  /// The code in the next octet.
  public init(from reader: inout ValueReader) throws(ValueError) { self.init(rawValue: try reader.uint8()) }

  /// The code's octet.
  public func write(to writer: inout ValueWriter) { writer.code(self) }

  /// What the code is called.
  public var fields: [ValueField] { [ValueField("", name ?? "reserved (\(rawValue))")] }

  /// The name, or the number of a reserved one.
  public var description: String { name ?? "reserved (\(rawValue))" }
}

/// A set of bits that say what a device can do or how it is. Reserved bits are kept.
public protocol FeatureSet: OptionSet, Hashable, Sendable, CustomStringConvertible
where RawValue: FixedWidthInteger & UnsignedInteger & Sendable, Element == Self {
  /// What the bits are called, from bit 0 on; an empty name stands for a reserved one.
  static var names: [String] { get }
}

extension FeatureSet {
  /// The set of a single bit.
  init(bit: Int) { self.init(rawValue: 1 << RawValue(bit)) }

  /// The names of the bits that are set.
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
  /// The bits in the next octets.
  public init(from reader: inout ValueReader) throws(ValueError) { self.init(rawValue: try reader.integer()) }

  /// The bits, the first eight first.
  public func write(to writer: inout ValueWriter) { writer.integer(rawValue) }

  /// The names of the bits that are set.
  public var fields: [ValueField] {
    [ValueField("", rawValue == 0 ? "none" : setNames.joined(separator: ", "))]
  }

  /// The names of the bits that are set, or "none".
  public var description: String { rawValue == 0 ? "none" : setNames.joined(separator: ", ") }
}
