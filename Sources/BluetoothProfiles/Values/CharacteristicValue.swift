// Overview
//
// Characteristics and descriptors carry octets whose meaning profiles define. BluetoothProfiles gives them types: a
// heart rate is a `HeartRateMeasurement` with named fields and units, not an array of octets.
//
// The idea: a value reads itself from a `ValueReader` and writes itself to a `ValueWriter`, and knows the UUID of its
// characteristic. `AttributeValue` below is the coding, `CharacteristicValue` adds the UUID. A service or a client is
// therefore generic: it names the type, and gets coding, UUID and errors.
//
// The module imports only BluetoothTypes and BluetoothNumbers, so apps use it with any Bluetooth stack. BluetoothLab's
// accessories encode with it, CoreBluetoothProfiles' clients decode with it, and BluetoothDissection and `ble` show
// values with it.
//
// Invariants:
// - Octets from outside give a value or a `ValueError`, never a trap. What is out of range is an error with the
//   specification's name of the field.
// - Decoding what has been encoded gives the same value; a fuzz target checks it.
// - A type describes a value, not a procedure: what a server does with a control point is in BluetoothLab, and what a
//   client does is in CoreBluetoothProfiles.
// - Each type is in `CharacteristicValues.types`, so that text is shown for every UUID that the module supports.
//
// Where to begin: this file, then `HeartRate.swift` as an example with flags; `Quantities.swift` and
// `MedicalFloat.swift` for numbers with units; `CharacteristicValues.swift` for the lookup by UUID.
//
// Specification: GATT Specification Supplement, and the services that each type cites.

import BluetoothNumbers

/// A value with an encoding in octets: the value of a characteristic or a descriptor, with an assigned or a custom
/// UUID.
///
/// For a custom value of a fixed number of octets, an enum with an integer as raw value is sufficient:
///
/// ```swift
/// enum Mode: UInt8, AttributeValue { case off, slow, fast }
/// ```
public protocol AttributeValue: Hashable, Sendable {
  /// True if octets after the known fields are ignored. For values with flags, the services require this behaviour of
  /// clients, because later versions append fields.
  static var ignoresExcess: Bool { get }

  /// Reads the fields from the remaining octets of `reader`.
  init(from reader: inout ValueReader) throws(ValueError)

  /// Appends the fields.
  func write(to writer: inout ValueWriter)
}

extension AttributeValue {
  /// The default, false.
  public static var ignoresExcess: Bool { false }

  /// Decodes these octets. Throws `tooLong` if octets follow the fields, unless `ignoresExcess` is true.
  public init(_ octets: some Sequence<UInt8>) throws(ValueError) {
    var reader = ValueReader(octets)
    try self.init(from: &reader)
    guard reader.remaining == 0 || Self.ignoresExcess else { throw .tooLong }
  }

  /// The encoded value.
  public var octets: [UInt8] {
    var writer = ValueWriter()
    write(to: &writer)
    return writer.octets
  }
}

extension AttributeValue where Self: RawRepresentable, RawValue: FixedWidthInteger {
  /// Reads the raw value, least significant octet first. Throws `outOfRange` if no value has it.
  public init(from reader: inout ValueReader) throws(ValueError) {
    guard let value = Self(rawValue: try reader.integer()) else { throw .outOfRange(field: "\(Self.self)") }
    self = value
  }

  /// Appends the raw value, least significant octet first.
  public func write(to writer: inout ValueWriter) { writer.integer(rawValue) }
}

/// The decoded value of a characteristic or a descriptor with an assigned UUID.
///
/// Bits and codes that are reserved for future use are not errors. Reserved bits of flags are ignored, as the
/// services require of clients, and unknown codes are kept as integers. Contradictory or truncated values are errors.
public protocol CharacteristicValue: AttributeValue, CustomStringConvertible {
  /// The 16-bit UUID of the characteristic or descriptor.
  static var uuid: UInt16 { get }

  /// The names and texts of the fields, with units.
  var fields: [ValueField] { get }
}

extension CharacteristicValue {
  /// The assigned name of the characteristic or descriptor, such as "Heart Rate Measurement".
  public static var name: String { AssignedNumbers.name(of: uuid) ?? "" }

  /// The fields in one line, such as "heart rate 72 /min, sensor contact detected".
  public var description: String { fields.map(\.description).joined(separator: ", ") }
}

extension Sequence<UInt8> {
  /// Two hexadecimal digits per octet.
  var hexadecimal: String {
    reduce(into: "") { text, octet in
      if octet < 0x10 { text += "0" }
      text += String(octet, radix: 16)
    }
  }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// "0x" and all hexadecimal digits of the integer, with leading zeros.
  var hexadecimal: String {
    let digits = String(self, radix: 16, uppercase: true)
    return "0x" + String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
  }
}
