import BluetoothWire

/// A JSON value · RFC 8259. This module does not use Foundation, and the texts that it writes are small.
package enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  /// A number without fraction and exponent that fits into 64 bits.
  case integer(Int64)
  /// Any other number.
  case real(Double)
  case string(String)
  case array([JSON])
  /// The members in the order of the text. The last of several members with one name counts.
  case object([Member])

  package struct Member: Hashable, Sendable {
    package var name: String
    package var value: JSON

    package init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// The member with that name; nil: there is none, it is null, or the value is not an object.
  package subscript(name: String) -> JSON? {
    guard case .object(let members) = self, let value = members.last(where: { $0.name == name })?.value, value != .null
    else { return nil }
    return value
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
  package init(stringLiteral value: String) { self = .string(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSON {
  /// Returns an object of the members that have a value.
  package static func members(_ members: KeyValuePairs<String, JSON?>) -> JSON {
    .object(members.compactMap { name, value in value.map { Member(name, $0) } })
  }

  /// The JSON text, indented by two spaces and ending with a line feed: the files are also for human readers.
  package var text: String {
    var text = ""
    write(into: &text, depth: 0)
    return text + "\n"
  }

  private var isSimple: Bool {
    switch self {
    case .array(let items): items.isEmpty
    case .object(let members): members.isEmpty
    default: true
    }
  }

  private func write(into text: inout String, depth: Int) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .real(let value): text += value.isFinite ? String(describing: value) : "null"
    case .string(let value): Self.write(value, into: &text)
    case .array(let items):
      // A list of simple values is written on one line.
      let isFlat = items.allSatisfy(\.isSimple)
      Self.write(items, in: ("[", "]"), isFlat: isFlat, into: &text, depth: depth) { item, text in
        item.write(into: &text, depth: depth + 1)
      }
    case .object(let members):
      let isFlat = depth > 1 && members.allSatisfy(\.value.isSimple)
      Self.write(members, in: ("{", "}"), isFlat: isFlat, into: &text, depth: depth) { member, text in
        Self.write(member.name, into: &text)
        text += ": "
        member.value.write(into: &text, depth: depth + 1)
      }
    }
  }

  private static func write<Item>(
    _ items: [Item], in brackets: (String, String), isFlat: Bool, into text: inout String, depth: Int,
    _ writeItem: (Item, inout String) -> Void
  ) {
    guard !items.isEmpty else {
      text += brackets.0 + brackets.1
      return
    }
    let separator = isFlat ? " " : "\n" + String(repeating: "  ", count: depth + 1)
    text += brackets.0
    for (index, item) in items.enumerated() {
      text += (index == 0 ? "" : ",") + (isFlat && index == 0 ? "" : separator)
      writeItem(item, &text)
    }
    text += (isFlat ? "" : "\n" + String(repeating: "  ", count: depth)) + brackets.1
  }

  /// Writes a string in quotation marks. Quotation marks, backslashes and control characters must be escaped · RFC
  /// 8259, 7.
  private static func write(_ string: String, into text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: text += "\\u" + UInt16(scalar.value).hexadecimal
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
