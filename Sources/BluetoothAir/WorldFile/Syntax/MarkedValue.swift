/// A place in a text: lines and columns begin with 1, and a column is a Unicode scalar.
package struct TextPlace: Hashable, Sendable, Comparable {
  package var line: Int
  package var column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package static func < (left: TextPlace, right: TextPlace) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }
}

/// A value of a YAML or JSON text, and where it begins.
struct MarkedValue: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    /// Without quotes: a number, true, false, nothing at all, or text.
    case plain(String)
    /// Text, whatever it looks like.
    case quoted(String)
    case list([MarkedValue])
    case object([MarkedMember])
  }

  var content: Content
  var place: TextPlace
}

/// A field of an object, and where its name stands.
struct MarkedMember: Hashable, Sendable {
  var name: String
  var place: TextPlace
  var value: MarkedValue
}

// MARK: What a value is · YAML 1.2.2, 10.3.2, with true and false in small letters only

extension MarkedValue {
  /// What stands there, with or without quotes; nil: a list or an object.
  var raw: String? {
    switch content {
    case .plain(let text), .quoted(let text): text
    case .list, .object: nil
    }
  }

  /// Without quotes.
  private var plain: String? { if case .plain(let text) = content { text } else { nil } }

  var isNothing: Bool {
    guard let plain else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(plain)
  }

  var flag: Bool? {
    switch plain {
    case "true": true
    case "false": false
    default: nil
    }
  }

  /// A number that is finite. Digits that begin with a zero are none: some readers of YAML take them for octal ones.
  var number: Double? {
    guard let plain, !plain.isEmpty else { return nil }
    if let hexadecimal = Self.hexadecimal(plain) { return Double(hexadecimal) }
    let unsigned = plain.first == "-" || plain.first == "+" ? plain.dropFirst() : Substring(plain)
    let digits = unsigned.prefix { $0.isASCII && $0.isNumber }
    guard digits.count < 2 || digits.first != "0",
      unsigned.allSatisfy({ $0.isASCII && ($0.isNumber || ".eE+-".contains($0)) }),
      let first = unsigned.first, first == "." || first.isNumber, let value = Double(plain), value.isFinite
    else { return nil }
    return value
  }

  /// A whole number that `T` holds: decimal, or hexadecimal such as `0x1B`.
  func whole<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T? {
    guard let plain else { return nil }
    if let hexadecimal = Self.hexadecimal(plain) { return T(exactly: hexadecimal) }
    return number == nil ? nil : T(plain)
  }

  /// Text: in quotes, or what is nothing else without them.
  var text: String? {
    switch content {
    case .quoted(let text): text
    case .plain(let text): isNothing || looksLikeFlag || number != nil ? nil : text
    case .list, .object: nil
    }
  }

  /// Words that some readers of YAML take for true or false, too.
  private var looksLikeFlag: Bool {
    guard let plain else { return false }
    return ["true", "false", "yes", "no", "on", "off"].contains(plain.lowercased())
  }

  private static func hexadecimal(_ text: String) -> UInt64? {
    text.hasPrefix("0x") && text.dropFirst(2).allSatisfy(\.isHexDigit) ? UInt64(text.dropFirst(2), radix: 16) : nil
  }

  /// What it is, for somebody who expected something else.
  var description: String {
    switch content {
    case .list: return "a list"
    case .object: return "an object"
    case .quoted(let text): return "\"\(text.shortened)\""
    case .plain(let text):
      if isNothing { return "nothing" }
      return self.text == nil ? text.shortened : "\"\(text.shortened)\""
    }
  }
}

extension String {
  /// On one line, without what a terminal obeys, and not longer than somebody wants to read.
  var shortened: String {
    var result = ""
    for scalar in unicodeScalars.prefix(40) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate:
        result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return unicodeScalars.dropFirst(40).isEmpty ? result : result + "…"
  }
}
