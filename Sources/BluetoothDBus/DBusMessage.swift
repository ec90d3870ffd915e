// Overview
//
// Services of a Linux desktop and of the system, such as notifications and BlueZ, are objects on a message bus: D-Bus.
// BluetoothDBus is a client of such a bus.
//
// The idea: the few types of values that its callers exchange, written by hand. A library would bring all of D-Bus. A
// type that another service needs is a case of `DBusValue`, with its letter in `DBusWriter` and `DBusReader`.
//
// Callers: BluetoothServer shows alerts and questions on a desktop. The module calls NIO alone.
//
// Invariants:
// - Octets from the bus give a message or `DBusError`, never a trap. A message has a maximum length.
// - A body is read up to the first value of a type that the module does not know.
// - A connection is confined to its event loop, and has no rule of a service.
//
// Where to begin: this file for messages, `DBusCoding.swift` for their octets, `MessageBus.swift` for the address of a
// bus, and `DBusHandler.swift` for a connection.
//
// Specification: D-Bus Specification.

/// A value in a message of D-Bus, of the types that the callers of this module use.
package enum DBusValue: Hashable, Sendable {
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
package struct DBusMessage: Hashable, Sendable {
  package enum Kind: UInt8, Sendable {
    case call = 1
    case reply, error, signal
  }

  package var kind: Kind
  /// The number of the message among those of its sender, from 1.
  package var serial: UInt32 = 0
  /// The serial of the call that a reply or an error answers.
  package var replySerial: UInt32?
  package var path: String?
  package var interface: String?
  package var member: String?
  package var errorName: String?
  package var destination: String?
  package var sender: String?
  package var body: [DBusValue] = []

  package init(_ kind: Kind) { self.kind = kind }

  /// Creates a call of a method.
  package init(
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
  package var octets: [UInt8] {
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
  package static func length(_ octets: ArraySlice<UInt8>) throws(DBusError) -> Int? {
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
  package init(_ octets: ArraySlice<UInt8>) throws(DBusError) {
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
