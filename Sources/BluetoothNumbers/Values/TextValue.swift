/// What tells characteristics of one layout from each other.
public protocol ValueKind: Sendable {
  /// The characteristic's or descriptor's UUID.
  static var uuid: UInt16 { get }
}

/// A value that is text in UTF-8 · GATT Specification Supplement. Octets that are no UTF-8 become U+FFFD when they are
/// read, and zeros at the end, which some devices send, are left out.
public struct TextValue<Kind: ValueKind>: CharacteristicValue, ExpressibleByStringLiteral {
  /// The text.
  public let text: String

  /// A value that says `text`.
  public init(_ text: String) { self.init(utf8: Array(text.utf8)) }

  /// A value that says `value`.
  public init(stringLiteral value: String) { self.init(value) }

  public static var uuid: UInt16 { Kind.uuid }

  public init(from reader: inout ValueReader) throws(ValueError) { self.init(utf8: reader.rest()) }

  private init(utf8 octets: [UInt8]) {
    let end = octets.lastIndex { $0 != 0 } ?? -1
    text = String(decoding: octets[...end], as: UTF8.self)
  }

  public func write(to writer: inout ValueWriter) { writer.text(text) }

  public var fields: [ValueField] { [ValueField("", text)] }

  // Strings that look alike are equal whatever their octets; values are equal when their octets are.
  public static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

  public func hash(into hasher: inout Hasher) {
    for octet in text.utf8 { hasher.combine(octet) }
  }
}

/// A value whose octets have no meaning here.
public struct OpaqueValue<Kind: ValueKind>: CharacteristicValue {
  /// The octets.
  public let content: [UInt8]

  /// A value of these octets.
  public init(content: [UInt8]) { self.content = content }

  public static var uuid: UInt16 { Kind.uuid }

  public init(from reader: inout ValueReader) throws(ValueError) { content = reader.rest() }

  public func write(to writer: inout ValueWriter) { writer.append(content) }

  public var fields: [ValueField] { [ValueField("", content.hexadecimal)] }
}
