import BluetoothWire

/// A UUID of a service, characteristic or descriptor, with 16, 32 or 128 bits. The short and long forms of a UUID are
/// equal.
///
/// ```swift
/// let heartRate: AttributeUUID = "180D"
/// let own: AttributeUUID = "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001"
/// ```
public struct AttributeUUID: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  let value: BluetoothUUID

  /// Creates a 16-bit UUID assigned by the Bluetooth SIG.
  public init(_ assigned: UInt16) { value = BluetoothUUID(assigned) }

  /// Creates a UUID from text: 4 or 8 hexadecimal digits, or 32 with four hyphens. Returns nil for other text.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    let digits = parts.joined()
    guard digits.allSatisfy(\.isHexDigit) else { return nil }
    switch parts.map(\.count) {
    case [4]:
      guard let short = UInt16(digits, radix: 16) else { return nil }
      value = BluetoothUUID(short)
    case [8]:
      guard let short = UInt32(digits, radix: 16) else { return nil }
      value = BluetoothUUID(short)
    case [8, 4, 4, 4, 12]:
      guard let high = UInt64(digits.prefix(16), radix: 16), let low = UInt64(digits.suffix(16), radix: 16) else {
        return nil
      }
      value = BluetoothUUID(high: high, low: low)
    default: return nil
    }
  }

  /// Creates a UUID from a literal; a malformed literal stops the program.
  public init(stringLiteral text: String) {
    guard let uuid = AttributeUUID(text) else { fatalError("invalid UUID \"\(text)\": expected 16, 32 or 128 bits") }
    self = uuid
  }

  /// The shortest form as in advertising data, least significant octet first · Core Specification Supplement, Part A,
  /// 1.1.
  var advertisedOctets: [UInt8] {
    if let short = value.shortValue { return short.octets }
    if let long = value.value32 { return long.octets }
    return value.low.octets + value.high.octets
  }

  /// The hexadecimal digits of the shortest form.
  public var description: String { value.description }
}
