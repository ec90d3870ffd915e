extension JSON {
  /// The reason why octets are not JSON.
  package struct ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position of the error in octets.
    package let offset: Int
    package let reason: String

    package var description: String { "octet \(offset): \(reason)" }
  }

  /// Parses a text with exactly one value, which white space may surround. Arrays and objects may be nested 32 deep.
  package init(parsing bytes: [UInt8]) throws(ParsingError) {
    var parser = JSONParser(bytes: bytes)
    self = try parser.document()
  }
}

/// A JSON parser that reads octet by octet. Every input results in a value or an error.
private struct JSONParser {
  static let maximumDepth = 32

  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  func error(_ reason: String) -> JSON.ParsingError { JSON.ParsingError(offset: position, reason: reason) }

  mutating func document() throws(JSON.ParsingError) -> JSON {
    let value = try value(depth: 0)
    skipBlanks()
    guard next == nil else { throw error("unexpected text after the value") }
    return value
  }

  mutating func skipBlanks() {
    while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
  }

  /// Skips `text` if it is at the current position, and returns true if so.
  mutating func skip(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - position >= count,
      text.withUTF8Buffer({ $0.elementsEqual(bytes[position..<position + count]) })
    else { return false }
    position += count
    return true
  }

  mutating func value(depth: Int) throws(JSON.ParsingError) -> JSON {
    guard depth <= Self.maximumDepth else { throw error("nested too deeply") }
    skipBlanks()
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-")?: return try number()
    case let digit? where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit): return try number()
    case nil: throw error("unexpected end")
    default:
      if skip("true") { return true }
      if skip("false") { return false }
      if skip("null") { return .null }
      throw error("expected a value")
    }
  }

  mutating func array(depth: Int) throws(JSON.ParsingError) -> JSON {
    position += 1
    var items: [JSON] = []
    skipBlanks()
    if skip("]") { return .array([]) }
    while true {
      items.append(try value(depth: depth + 1))
      skipBlanks()
      if skip("]") { return .array(items) }
      guard skip(",") else { throw error("expected a comma or ]") }
    }
  }

  mutating func object(depth: Int) throws(JSON.ParsingError) -> JSON {
    position += 1
    var members: [JSON.Member] = []
    skipBlanks()
    if skip("}") { return .object([]) }
    while true {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw error("expected a name") }
      let name = try string()
      skipBlanks()
      guard skip(":") else { throw error("expected a colon") }
      members.append(JSON.Member(name, try value(depth: depth + 1)))
      skipBlanks()
      if skip("}") { return .object(members) }
      guard skip(",") else { throw error("expected a comma or }") }
    }
  }

  /// Parses a number · RFC 8259, 6.
  mutating func number() throws(JSON.ParsingError) -> JSON {
    let start = position
    _ = skip("-")
    let isZero = next == UInt8(ascii: "0")
    guard skipDigits() > 0 else { throw error("expected a digit") }
    let first = bytes[start] == UInt8(ascii: "-") ? start + 1 : start
    if isZero, position > first + 1 { throw error("leading zero") }
    var isWhole = true
    if skip(".") {
      isWhole = false
      guard skipDigits() > 0 else { throw error("expected a digit") }
    }
    if skip("e") || skip("E") {
      isWhole = false
      if !skip("+") { _ = skip("-") }
      guard skipDigits() > 0 else { throw error("expected a digit") }
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole, let value = Int64(text) { return .integer(value) }
    guard let value = Double(text), value.isFinite else { throw error("number too large") }
    return .real(value)
  }

  mutating func skipDigits() -> Int {
    let start = position
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    return position - start
  }

  /// Parses a string · RFC 8259, 7.
  mutating func string() throws(JSON.ParsingError) -> String {
    position += 1
    var octets: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: octets, as: UTF8.self) else { throw error("invalid UTF-8") }
        position += 1
        return text
      case UInt8(ascii: "\\"):
        position += 1
        octets += try escaped()
      case ..<0x20: throw error("unexpected control character")
      default:
        octets.append(byte)
        position += 1
      }
    }
    throw error("unterminated string")
  }

  /// Parses the characters after a backslash and returns them as UTF-8.
  mutating func escaped() throws(JSON.ParsingError) -> [UInt8] {
    guard let byte = next else { throw error("unterminated string") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"):
      var value = UInt32(try codeUnit())
      if value & 0xFC00 == 0xD800 {
        guard skip("\\u") else { throw error("unpaired surrogate") }
        let low = UInt32(try codeUnit())
        guard low & 0xFC00 == 0xDC00 else { throw error("unpaired surrogate") }
        value = 0x10000 + (value & 0x3FF) << 10 + (low & 0x3FF)
      }
      guard let scalar = Unicode.Scalar(value) else { throw error("unpaired surrogate") }
      return Array(String(Character(scalar)).utf8)
    default: throw error("unknown escape sequence")
    }
  }

  mutating func codeUnit() throws(JSON.ParsingError) -> UInt16 {
    guard bytes.count - position >= 4 else { throw error("unterminated string") }
    var value: UInt16 = 0
    for byte in bytes[position..<position + 4] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("expected a hexadecimal digit")
      }
      value = value << 4 | UInt16(digit)
    }
    position += 4
    return value
  }
}
