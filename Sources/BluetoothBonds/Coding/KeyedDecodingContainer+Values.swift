import BluetoothCrypto
import BluetoothHost
import BluetoothWire

/// The values of a bond's fields. Errors contain the path of the field and never the value of a key.
extension KeyedDecodingContainer {
  func invalid(_ key: Key, _ reason: String) -> Swift.DecodingError {
    .dataCorruptedError(forKey: key, in: self, debugDescription: reason)
  }

  /// Returns true if the field exists and is not null.
  func has(_ key: Key) throws -> Bool { try contains(key) && !decodeNil(forKey: key) }

  func number<T: FixedWidthInteger & Decodable>(_ key: Key, in range: ClosedRange<T> = .min ... .max) throws -> T {
    let expected = "expected a whole number from \(range.lowerBound) to \(range.upperBound)"
    let number: T
    do { number = try decode(T.self, forKey: key) } catch let error as Swift.DecodingError { throw error } catch {
      // JSONDecoder reports fractions, and numbers that do not fit, without the path of the field.
      throw invalid(key, expected)
    }
    guard range.contains(number) else { throw invalid(key, expected) }
    return number
  }

  func optionalNumber<T: FixedWidthInteger & Decodable>(
    _ key: Key, in range: ClosedRange<T> = .min ... .max
  ) throws -> T? {
    try has(key) ? number(key, in: range) : nil
  }

  func handle(_ key: Key) throws -> AttributeHandle { try number(key, in: 1...AttributeHandle.max) }

  func optionalHandle(_ key: Key) throws -> AttributeHandle? { try has(key) ? handle(key) : nil }

  /// Decodes a value that is written as text.
  func text<T>(_ key: Key, _ form: String, _ parse: (String) -> T?) throws -> T {
    guard let value = parse(try decode(String.self, forKey: key)) else { throw invalid(key, "expected \(form)") }
    return value
  }

  func word<T: RawRepresentable<String>>(_ key: Key) throws -> T {
    let text = try decode(String.self, forKey: key)
    guard let value = T(rawValue: text) else { throw invalid(key, "unknown value \(text.debugDescription)") }
    return value
  }

  /// Decodes a number from all of its hexadecimal digits.
  func hexadecimal<T: FixedWidthInteger & UnsignedInteger>(_ key: Key) throws -> T {
    let count = T.bitWidth / 4
    return try text(key, "\(count) hexadecimal digits") { text in
      guard text.utf8.count == count, let octets = hexadecimalOctets(text) else { return nil }
      return octets.reduce(0) { $0 << 8 | T($1) }
    }
  }

  func octets(_ key: Key) throws -> [UInt8] { try text(key, "hexadecimal octets", hexadecimalOctets) }

  func block(_ key: Key) throws -> Block { try text(key, "32 hexadecimal digits", Block.init(digits:)) }

  func uuid(_ key: Key) throws -> BluetoothUUID { try text(key, "a UUID", BluetoothUUID.init(digits:)) }

  func address(_ key: Key, type: Key) throws -> DeviceAddress {
    DeviceAddress(
      try text(key, "an address", DeviceAddress.value(digits:)),
      try text(type, "public or random", DeviceAddress.Kind.init(word:)))
  }
}
