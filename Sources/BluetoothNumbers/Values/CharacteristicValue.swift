/// The value of a characteristic or a descriptor: its octets, and what they mean.
///
/// Bits and codes that are reserved for future use are no errors: reserved bits of flags are ignored, as the services ask
/// of clients, and codes without a meaning stay numbers. What contradicts itself or ends too early is an error.
public protocol CharacteristicValue: Hashable, Sendable, CustomStringConvertible {
  /// The 16-bit UUID of the characteristic or descriptor.
  static var uuid: UInt16 { get }

  /// Whether octets behind the known fields are ignored. The services ask this of clients where a value has flags: later
  /// versions append fields.
  static var ignoresExcess: Bool { get }

  /// Takes the fields from the front of what `reader` has left.
  init(from reader: inout ValueReader) throws(ValueError)

  /// Appends the fields.
  func write(to writer: inout ValueWriter)

  /// The fields in words, with their units.
  var fields: [ValueField] { get }
}

extension CharacteristicValue {
  /// False.
  public static var ignoresExcess: Bool { false }

  /// The value that these octets are.
  public init(_ octets: some Sequence<UInt8>) throws(ValueError) {
    var reader = ValueReader(octets)
    try self.init(from: &reader)
    guard reader.remaining == 0 || Self.ignoresExcess else { throw .tooLong }
  }

  /// The octets of this value, as they are sent.
  public var octets: [UInt8] {
    var writer = ValueWriter()
    write(to: &writer)
    return writer.octets
  }

  /// The assigned name of the characteristic or descriptor, such as "Heart Rate Measurement".
  public static var name: String { AssignedNumbers.name(of: uuid) ?? "" }

  /// All fields in one line, such as "heart rate 72 /min, sensor contact detected".
  public var description: String { fields.map(\.description).joined(separator: ", ") }
}

/// One field of a value, in words.
public struct ValueField: Hashable, Sendable, CustomStringConvertible {
  /// What it is called; empty where the value has only this one.
  public let name: String
  /// What it says, with its unit.
  public let value: String

  /// A field that says what `value` describes.
  public init(_ name: String, _ value: some CustomStringConvertible) {
    self.name = name
    self.value = value.description
  }

  /// A number with a unit.
  public init(_ name: String, _ value: some CustomStringConvertible, _ unit: BluetoothUnit) {
    self.name = name
    self.value = unit.text(value.description)
  }

  /// The name, and what it says.
  public var description: String { name.isEmpty ? value : name + " " + value }
}

extension [ValueField] {
  /// Appends a field where there is something to tell.
  mutating func add(_ name: String, _ value: (some CustomStringConvertible)?) {
    if let value { append(ValueField(name, value)) }
  }

  /// Appends a number with a unit where there is one.
  mutating func add(_ name: String, _ value: (some CustomStringConvertible)?, _ unit: BluetoothUnit) {
    if let value { append(ValueField(name, value, unit)) }
  }
}

extension Sequence<UInt8> {
  /// Two hexadecimal digits for each octet.
  var hexadecimal: String {
    reduce(into: "") { text, octet in
      if octet < 0x10 { text += "0" }
      text += String(octet, radix: 16)
    }
  }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// "0x" and as many digits as the type has room for.
  var hexadecimal: String {
    let digits = String(self, radix: 16, uppercase: true)
    return "0x" + String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
  }
}
