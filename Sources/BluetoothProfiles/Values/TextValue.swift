import BluetoothTypes

/// The kind of a value, which distinguishes characteristics of the same format.
public protocol ValueKind: Sendable {
  /// The UUID of the characteristic or descriptor.
  static var uuid: UInt16 { get }
}

/// A value that is text in UTF-8 · GATT Specification Supplement. The text ends before the first zero, because some
/// devices pad it with zeros, and without an incomplete character at its end. Other invalid UTF-8 is decoded as U+FFFD.
public struct TextValue<Kind: ValueKind>: CharacteristicValue, ExpressibleByStringLiteral {
  /// The text.
  public let text: String

  /// Creates a value from `text`.
  public init(_ text: String) { self.init(utf8: Array(text.utf8)) }

  /// Creates a value from a string literal.
  public init(stringLiteral value: String) { self.init(value) }

  public static var uuid: UInt16 { Kind.uuid }

  public init(from reader: inout ValueReader) throws(ValueError) { self.init(utf8: reader.rest()) }

  private init(utf8 octets: [UInt8]) {
    text = String(received: octets)
  }

  public func write(to writer: inout ValueWriter) { writer.text(text) }

  public var fields: [ValueField] { [ValueField("", text)] }

  // Swift strings are equal if they are canonically equivalent; these values are equal only if their octets are.
  public static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

  public func hash(into hasher: inout Hasher) {
    for octet in text.utf8 { hasher.combine(octet) }
  }
}

/// A value whose octets are not decoded.
public struct OpaqueValue<Kind: ValueKind>: CharacteristicValue {
  /// The octets.
  public let content: [UInt8]

  /// Creates a value from these octets.
  public init(content: [UInt8]) { self.content = content }

  public static var uuid: UInt16 { Kind.uuid }

  public init(from reader: inout ValueReader) throws(ValueError) { content = reader.rest() }

  public func write(to writer: inout ValueWriter) { writer.append(content) }

  public var fields: [ValueField] { [ValueField("", content.hexadecimal)] }
}
