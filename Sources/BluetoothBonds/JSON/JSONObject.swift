import BluetoothCrypto
import BluetoothDaemon
import BluetoothHost
import BluetoothWire

/// A reader of an object's members. The error for an invalid member contains its name, but never its value, which may
/// be a key.
struct JSONObject {
  private let json: JSON
  /// The description of the object in errors.
  private let what: String

  init(_ json: JSON, _ what: String) {
    self.json = json
    self.what = what
  }

  private func malformed(_ name: String, _ expected: String) -> BondDecodingError {
    .malformed("\"\(name)\" of \(what) is not \(expected)")
  }

  private func require<T>(_ value: T?, _ name: String, _ expected: String) throws(BondDecodingError) -> T {
    guard let value else { throw malformed(name, expected) }
    return value
  }

  /// Checks that the value is an object of this software, in `format` or an earlier one.
  func checkFormat(_ format: Int) throws(BondDecodingError) {
    guard case .object = json else { throw .malformed("\(what) is not an object") }
    let found: Int = try number("format")
    guard found > 0 else { throw malformed("format", "a format number") }
    guard found <= format else { throw .laterFormat(found) }
  }

  func has(_ name: String) -> Bool { json[name] != nil }

  func object(_ name: String) throws(BondDecodingError) -> JSONObject? {
    guard let value = json[name] else { return nil }
    guard case .object = value else { throw malformed(name, "an object") }
    return JSONObject(value, "\"\(name)\"")
  }

  func optionalText(_ name: String) throws(BondDecodingError) -> String? {
    guard let value = json[name] else { return nil }
    guard case .string(let text) = value else { throw malformed(name, "a string") }
    return text
  }

  func text(_ name: String) throws(BondDecodingError) -> String {
    try require(try optionalText(name), name, "a string")
  }

  func bool(_ name: String) throws(BondDecodingError) -> Bool {
    guard case .bool(let value)? = json[name] else { throw malformed(name, "true or false") }
    return value
  }

  func optionalInteger(_ name: String) throws(BondDecodingError) -> Int64? {
    guard let value = json[name] else { return nil }
    guard case .integer(let integer) = value else { throw malformed(name, "a whole number") }
    return integer
  }

  func optionalNumber<T: FixedWidthInteger>(_ name: String) throws(BondDecodingError) -> T? {
    guard let value = try optionalInteger(name) else { return nil }
    return try require(T(exactly: value), name, "a number in its range")
  }

  func number<T: FixedWidthInteger>(_ name: String) throws(BondDecodingError) -> T {
    let value: T? = try optionalNumber(name)
    return try require(value, name, "a whole number")
  }

  /// Returns a number from all of its hexadecimal digits.
  func hexadecimal<T: FixedWidthInteger & UnsignedInteger>(_ name: String) throws(BondDecodingError) -> T {
    let text = try text(name)
    guard text.utf8.count == T.bitWidth / 4, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      throw malformed(name, "\(T.bitWidth / 4) hexadecimal digits")
    }
    return try require(T(text, radix: 16), name, "hexadecimal")
  }

  func block(_ name: String) throws(BondDecodingError) -> Block {
    let text = try text(name)
    return try require(Block(digits: text), name, "32 hexadecimal digits")
  }

  func octets(_ name: String) throws(BondDecodingError) -> [UInt8] {
    let text = try text(name)
    return try require(hexadecimalOctets(text), name, "hexadecimal octets")
  }

  func address(_ name: String, type: String) throws(BondDecodingError) -> DeviceAddress {
    let value = try require(DeviceAddress.value(digits: try text(name)), name, "an address")
    let kind = try require(DeviceAddress.Kind(word: try text(type)), type, "public or random")
    return DeviceAddress(value, kind)
  }

  func identifier(_ name: String) throws(BondDecodingError) -> PeerIdentifier {
    let uuid = try uuid(name)
    return PeerIdentifier(high: uuid.high, low: uuid.low)
  }

  func uuid(_ name: String) throws(BondDecodingError) -> BluetoothUUID {
    try require(BluetoothUUID(digits: try text(name)), name, "a UUID")
  }

  func handle(_ name: String) throws(BondDecodingError) -> AttributeHandle {
    let handle: AttributeHandle = try number(name)
    guard handle > 0 else { throw malformed(name, "a handle") }
    return handle
  }

  func optionalHandle(_ name: String) throws(BondDecodingError) -> AttributeHandle? {
    has(name) ? try handle(name) : nil
  }

  /// Returns the range of handles from two members, the first and the last handle.
  func handles(_ first: String = "first", _ last: String = "last") throws(BondDecodingError) -> ClosedRange<
    AttributeHandle
  > {
    let (lower, upper) = (try handle(first), try handle(last))
    guard lower <= upper else { throw malformed(last, "a later handle") }
    return lower...upper
  }

  /// Returns the members of a list, each of which must be an object.
  func objects(_ name: String) throws(BondDecodingError) -> [JSONObject] {
    guard case .array(let items)? = json[name] else { throw malformed(name, "a list") }
    return items.map { JSONObject($0, "\"\(name)\"") }
  }
}

/// Returns the octets of a text of hexadecimal digit pairs; nil if the text contains anything else.
func hexadecimalOctets(_ text: some StringProtocol) -> [UInt8]? {
  let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
  guard digits.count.isMultiple(of: 2) else { return nil }
  var octets: [UInt8] = []
  octets.reserveCapacity(digits.count / 2)
  for index in stride(from: 0, to: digits.count, by: 2) {
    guard let high = digits[index], let low = digits[index + 1] else { return nil }
    octets.append(UInt8(high << 4 | low))
  }
  return octets
}

extension Block {
  /// Parses 32 digits, most significant first.
  init?(digits: String) {
    guard let octets = hexadecimalOctets(digits) else { return nil }
    self.init(octets)
  }
}

extension DeviceAddress {
  /// Returns the value of an address such as `C0:11:22:33:44:55`; nil: invalid.
  package static func value(digits: String) -> UInt64? {
    let parts = digits.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 6 else { return nil }
    var value: UInt64 = 0
    for part in parts {
      guard let octets = hexadecimalOctets(part), octets.count == 1 else { return nil }
      value = value << 8 | UInt64(octets[0])
    }
    return value
  }
}

extension BluetoothUUID {
  /// Parses any of the three forms that `description` can have; nil: invalid.
  init?(digits text: String) {
    switch text.utf8.count {
    case 4:
      guard let octets = hexadecimalOctets(text) else { return nil }
      self.init(UInt16(octets[0]) << 8 | UInt16(octets[1]))
    case 8:
      guard let octets = hexadecimalOctets(text) else { return nil }
      self.init(octets.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    case 36:
      let parts = text.split(separator: "-", omittingEmptySubsequences: false)
      guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12], let block = Block(digits: parts.joined()) else { return nil }
      self.init(high: block.high, low: block.low)
    default: return nil
    }
  }
}
