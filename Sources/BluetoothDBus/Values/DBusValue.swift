/// A value of any type of D-Bus · D-Bus Specification, "Type System".
package indirect enum DBusValue: Hashable, Sendable {
  case byte(UInt8)
  case bool(Bool)
  case int16(Int16)
  case uint16(UInt16)
  case int32(Int32)
  case uint32(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  case path(String)
  case signature(String)
  case fileDescriptor(DBusFileDescriptor)
  /// An array of octets (`ay`). Values that are read never have `.array(_, of: "y")` instead.
  case bytes([UInt8])
  /// An array of values with one signature.
  case array([DBusValue], of: String)
  /// A dictionary, with the signatures of its keys and values.
  case dictionary([DBusValue: DBusValue], key: String, value: String)
  case structure([DBusValue])
  case variant(DBusValue)

  /// The signature of the value, such as `a{sv}`.
  package var signature: String {
    switch self {
    case .byte: "y"
    case .bool: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .path: "o"
    case .signature: "g"
    case .fileDescriptor: "h"
    case .bytes: "ay"
    case .array(_, let element): "a" + element
    case .dictionary(_, let key, let value): "a{\(key)\(value)}"
    case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
    case .variant: "v"
    }
  }

  // MARK: Making values

  /// An array of texts (`as`).
  package static func strings(_ texts: [String]) -> DBusValue { .array(texts.map { .string($0) }, of: "s") }

  /// An array of object paths (`ao`).
  package static func paths(_ paths: [String]) -> DBusValue { .array(paths.map { .path($0) }, of: "o") }

  /// A dictionary from texts to variants (`a{sv}`). Each value is wrapped in a variant.
  package static func properties(_ values: [String: DBusValue]) -> DBusValue {
    var entries: [DBusValue: DBusValue] = [:]
    entries.reserveCapacity(values.count)
    for (name, value) in values { entries[.string(name)] = .variant(value) }
    return .dictionary(entries, key: "s", value: "v")
  }

  // MARK: Reading values. Each reader looks through variants, and gives nil for a value of another type.

  /// The value without the variants around it.
  package var content: DBusValue {
    var value = self
    while case .variant(let inner) = value { value = inner }
    return value
  }

  /// The text of `s`.
  package var string: String? { if case .string(let text) = content { text } else { nil } }

  /// The path of `o`.
  package var path: String? { if case .path(let path) = content { path } else { nil } }

  package var bool: Bool? { if case .bool(let flag) = content { flag } else { nil } }

  /// The number of `y`, `n`, `q`, `i`, `u`, `x` and `t`; nil: another type, or a number that `Int` can't hold.
  package var integer: Int? {
    switch content {
    case .byte(let number): Int(number)
    case .int16(let number): Int(number)
    case .uint16(let number): Int(number)
    case .int32(let number): Int(number)
    case .uint32(let number): Int(exactly: number)
    case .int64(let number): Int(exactly: number)
    case .uint64(let number): Int(exactly: number)
    default: nil
    }
  }

  /// The octets of `ay`.
  package var octets: [UInt8]? { if case .bytes(let octets) = content { octets } else { nil } }

  /// The texts of `as`.
  package var texts: [String]? {
    if case .array(let elements, of: "s") = content { elements.compactMap(\.string) } else { nil }
  }

  /// The paths of `ao`.
  package var pathList: [String]? {
    if case .array(let elements, of: "o") = content { elements.compactMap(\.path) } else { nil }
  }

  /// The elements of an array or a structure.
  package var elements: [DBusValue]? {
    switch content {
    case .array(let elements, of: _), .structure(let elements): elements
    default: nil
    }
  }

  /// The entries of any dictionary, without variants around the values.
  package var entries: [DBusValue: DBusValue]? {
    if case .dictionary(let entries, key: _, value: _) = content { entries.mapValues(\.content) } else { nil }
  }

  /// The entries of a dictionary from texts, such as `a{sv}`, without variants around the values.
  package var options: [String: DBusValue]? {
    guard case .dictionary(let entries, key: "s", value: _) = content else { return nil }
    var result: [String: DBusValue] = [:]
    result.reserveCapacity(entries.count)
    for (key, value) in entries { if let name = key.string { result[name] = value.content } }
    return result
  }

  /// The file descriptor of `h`.
  package var descriptor: DBusFileDescriptor? {
    if case .fileDescriptor(let descriptor) = content { descriptor } else { nil }
  }
}
