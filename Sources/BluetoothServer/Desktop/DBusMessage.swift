// Design: the messages of D-Bus
//
// `DesktopNotifications` speaks the few messages of D-Bus that notifications need (`DBusMessage`) on an event loop. A
// library would bring all of D-Bus.

/// A value in a message of D-Bus, of the types that notifications use.
enum DBusValue: Hashable, Sendable {
  case byte(UInt8)
  case int32(Int32)
  case uint32(UInt32)
  case string(String)
  case path(String)
  case signature(String)
  case strings([String])
  /// A dictionary from texts to variants.
  case options([String: DBusValue])

  /// The type · D-Bus Specification, "Type System".
  var signature: String {
    switch self {
    case .byte: "y"
    case .int32: "i"
    case .uint32: "u"
    case .string: "s"
    case .path: "o"
    case .signature: "g"
    case .strings: "as"
    case .options: "a{sv}"
    }
  }
}

/// A message of D-Bus · D-Bus Specification, "Message Protocol".
struct DBusMessage: Hashable, Sendable {
  enum Kind: UInt8, Sendable {
    case call = 1
    case reply, error, signal
  }

  var kind: Kind
  /// The number of the message among those of its sender, from 1.
  var serial: UInt32 = 0
  /// The serial of the call that a reply or an error answers.
  var replySerial: UInt32?
  var path: String?
  var interface: String?
  var member: String?
  var errorName: String?
  var destination: String?
  var sender: String?
  var body: [DBusValue] = []

  init(_ kind: Kind) { self.kind = kind }

  /// Creates a call of a method.
  init(
    calling member: String, of interface: String, at path: String, on destination: String, _ body: [DBusValue] = []
  ) {
    self.init(.call)
    self.path = path
    self.interface = interface
    self.member = member
    self.destination = destination
    self.body = body
  }

  /// The longest message that is read, in octets.
  static let maximumLength = 1 << 18

  /// The number of octets in front of the header's fields.
  private static let fixedLength = 16

  /// The numbers of the header's fields.
  private enum Field {
    static let path: UInt8 = 1
    static let interface: UInt8 = 2
    static let member: UInt8 = 3
    static let errorName: UInt8 = 4
    static let replySerial: UInt8 = 5
    static let destination: UInt8 = 6
    static let sender: UInt8 = 7
    static let signature: UInt8 = 8
  }

  // MARK: Writing

  /// The octets of the message, little-endian.
  var octets: [UInt8] {
    var content = DBusWriter()
    for value in body { content.append(value) }
    var fields: [(UInt8, DBusValue)] = []
    if let path { fields.append((Field.path, .path(path))) }
    if let interface { fields.append((Field.interface, .string(interface))) }
    if let member { fields.append((Field.member, .string(member))) }
    if let errorName { fields.append((Field.errorName, .string(errorName))) }
    if let replySerial { fields.append((Field.replySerial, .uint32(replySerial))) }
    if let destination { fields.append((Field.destination, .string(destination))) }
    if let sender { fields.append((Field.sender, .string(sender))) }
    if !body.isEmpty { fields.append((Field.signature, .signature(body.map(\.signature).joined()))) }
    var header = DBusWriter()
    header.octets += [UInt8(ascii: "l"), kind.rawValue, 0, 1]
    header.append(.uint32(UInt32(content.octets.count)))
    header.append(.uint32(serial))
    header.appendList(alignment: 8) { writer in
      for (number, value) in fields {
        writer.align(8)
        writer.octets.append(number)
        writer.append(variant: value)
      }
    }
    header.align(8)
    return header.octets + content.octets
  }

  // MARK: Reading

  /// Returns the length of the message at the beginning of `octets`; nil: more octets are needed.
  ///
  /// - Throws: `DBusError` if the octets are no message, or if it is too long.
  static func length(_ octets: ArraySlice<UInt8>) throws(DBusError) -> Int? {
    guard octets.count >= fixedLength else { return nil }
    // All programs of one machine have one order of octets.
    guard octets[octets.startIndex] == UInt8(ascii: "l") else { throw .malformed }
    var reader = DBusReader(octets.dropFirst(4))
    let body = Int(try reader.uint32())
    _ = try reader.uint32()
    let fields = Int(try reader.uint32())
    guard body <= maximumLength, fields <= maximumLength else { throw .malformed }
    let length = (fixedLength + fields + 7) / 8 * 8 + body
    guard length <= maximumLength else { throw .malformed }
    return octets.count < length ? nil : length
  }

  /// Reads a complete message. Of its body, the values in front of the first one of another type are read.
  init(_ octets: ArraySlice<UInt8>) throws(DBusError) {
    var reader = DBusReader(octets)
    guard octets.count >= Self.fixedLength, try reader.byte() == UInt8(ascii: "l"),
      let kind = Kind(rawValue: try reader.byte())
    else { throw .malformed }
    self.init(kind)
    // The flags, and the major version of the protocol.
    _ = try reader.byte()
    guard try reader.byte() == 1 else { throw .malformed }
    let bodyLength = Int(try reader.uint32())
    serial = try reader.uint32()
    let end = Self.fixedLength + Int(try reader.uint32())
    var signature = ""
    while reader.offset < end {
      reader.align(8)
      let number = try reader.byte()
      let value = try reader.value(try reader.signature())
      switch (number, value) {
      case (Field.path, .path(let text)): path = text
      case (Field.interface, .string(let text)): interface = text
      case (Field.member, .string(let text)): member = text
      case (Field.errorName, .string(let text)): errorName = text
      case (Field.replySerial, .uint32(let number)): replySerial = number
      case (Field.destination, .string(let text)): destination = text
      case (Field.sender, .string(let text)): sender = text
      case (Field.signature, .signature(let text)): signature = text
      default: break
      }
    }
    reader.align(8)
    guard bodyLength <= octets.count - reader.offset else { throw .malformed }
    // The body begins at a multiple of eight octets, so its own alignment is that of the message.
    while !signature.isEmpty {
      let type = signature.hasPrefix("as") ? "as" : String(signature.prefix(1))
      guard ["y", "i", "u", "s", "o", "g", "as"].contains(type) else { return }
      body.append(try reader.value(type))
      signature.removeFirst(type.count)
    }
  }
}

/// The reason why octets are not read.
enum DBusError: Error, Hashable, Sendable { case malformed }

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
