/// The reason why octets are not read.
package enum DBusError: Error, Hashable, Sendable { case malformed }

/// Writes values · D-Bus Specification, "Marshaling".
struct DBusWriter {
  var octets: [UInt8] = []

  mutating func align(_ alignment: Int) {
    while octets.count % alignment != 0 { octets.append(0) }
  }

  private mutating func append(_ number: UInt32) {
    align(4)
    withUnsafeBytes(of: number.littleEndian) { octets.append(contentsOf: $0) }
  }

  mutating func append(_ value: DBusValue) {
    switch value {
    case .byte(let number): octets.append(number)
    case .int32(let number): append(UInt32(bitPattern: number))
    case .uint32(let number): append(number)
    case .string(let text), .path(let text):
      append(UInt32(text.utf8.count))
      octets += Array(text.utf8) + [0]
    case .signature(let text):
      octets.append(UInt8(truncatingIfNeeded: text.utf8.count))
      octets += Array(text.utf8) + [0]
    case .strings(let texts): appendList(alignment: 4) { writer in for text in texts { writer.append(.string(text)) } }
    case .options(let options):
      appendList(alignment: 8) { writer in
        for (name, value) in options.sorted(by: { $0.key < $1.key }) {
          writer.align(8)
          writer.append(.string(name))
          writer.append(variant: value)
        }
      }
    }
  }

  mutating func append(variant value: DBusValue) {
    append(.signature(value.signature))
    append(value)
  }

  /// Appends the elements that `body` writes, with their length. The space in front of the first element does not count.
  mutating func appendList(alignment: Int, _ body: (inout DBusWriter) -> Void) {
    append(UInt32(0))
    let place = octets.count - 4
    align(alignment)
    let start = octets.count
    body(&self)
    let length = UInt32(octets.count - start)
    withUnsafeBytes(of: length.littleEndian) { octets.replaceSubrange(place..<place + 4, with: $0) }
  }
}

/// Reads values; see `DBusWriter`. Offsets are those in the message.
struct DBusReader {
  private let octets: ArraySlice<UInt8>
  private(set) var offset = 0

  init(_ octets: ArraySlice<UInt8>) { self.octets = octets }

  mutating func align(_ alignment: Int) { offset = (offset + alignment - 1) / alignment * alignment }

  private mutating func take(_ count: Int) throws(DBusError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= octets.count - offset else { throw .malformed }
    defer { offset += count }
    let start = octets.startIndex + offset
    return octets[start..<start + count]
  }

  mutating func byte() throws(DBusError) -> UInt8 {
    guard let octet = try take(1).first else { throw .malformed }
    return octet
  }

  mutating func uint32() throws(DBusError) -> UInt32 {
    align(4)
    return try take(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  private mutating func text(_ count: Int) throws(DBusError) -> String {
    let text = String(decoding: try take(count), as: UTF8.self)
    _ = try byte()
    return text
  }

  mutating func signature() throws(DBusError) -> String { try text(Int(try byte())) }

  mutating func value(_ signature: String) throws(DBusError) -> DBusValue {
    switch signature {
    case "y": return .byte(try byte())
    case "i": return .int32(Int32(bitPattern: try uint32()))
    case "u": return .uint32(try uint32())
    case "s": return .string(try text(Int(try uint32())))
    case "o": return .path(try text(Int(try uint32())))
    case "g": return .signature(try self.signature())
    case "as":
      let length = Int(try uint32())
      let end = offset + length
      guard length <= octets.count - offset else { throw .malformed }
      var texts: [String] = []
      while offset < end { texts.append(try text(Int(try uint32()))) }
      return .strings(texts)
    default: throw .malformed
    }
  }
}
