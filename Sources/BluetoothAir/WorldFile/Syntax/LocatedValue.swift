/// A place in a text. Lines and columns count from 1, and a column is a Unicode scalar.
package struct TextLocation: Hashable, Sendable, Comparable {
  package var line: Int
  package var column: Int

  package static func < (left: TextLocation, right: TextLocation) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }
}

/// A value of a YAML or JSON text, with the place where it begins.
package struct LocatedValue: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    /// A scalar without quotes: a number, true, false, null, or text.
    case plain(String)
    /// A scalar in quotes: always text.
    case quoted(String)
    case list([LocatedValue])
    case object([MarkedMember])
  }

  package var content: Content
  package var place: TextLocation
}

/// A field of an object, with the place of its name.
package struct MarkedMember: Hashable, Sendable {
  package var name: String
  package var place: TextLocation
  package var value: LocatedValue
}

// MARK: Scalar types · YAML 1.2.2, 10.3.2, with true and false in lower case only

extension LocatedValue {
  /// The scalar as written, with or without quotes; nil for a list or an object.
  package var raw: String? {
    switch content {
    case .plain(let text), .quoted(let text): text
    case .list, .object: nil
    }
  }

  /// The scalar as written without quotes; nil for anything else.
  private var plain: String? { if case .plain(let text) = content { text } else { nil } }

  var isNothing: Bool {
    guard let plain else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(plain)
  }

  package var flag: Bool? {
    switch plain {
    case "true": true
    case "false": false
    default: nil
    }
  }

  /// The value as a finite number; nil if the value is not a number. Digits with a leading zero are not a number,
  /// because some YAML readers read them as octal.
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

  /// Returns the value as an integer, decimal or hexadecimal such as `0x1B`; nil if it is not an integer or exceeds the
  /// range of `T`.
  func whole<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T? {
    guard let plain else { return nil }
    if let hexadecimal = Self.hexadecimal(plain) { return T(exactly: hexadecimal) }
    return number == nil ? nil : T(plain)
  }

  /// The value as text: a quoted scalar, or a plain scalar that is neither null, a Boolean nor a number; nil otherwise.
  var text: String? {
    switch content {
    case .quoted(let text): text
    case .plain(let text): isNothing || looksLikeFlag || number != nil ? nil : text
    case .list, .object: nil
    }
  }

  /// True for words that some YAML readers read as true or false.
  private var looksLikeFlag: Bool {
    guard let plain else { return false }
    return ["true", "false", "yes", "no", "on", "off"].contains(plain.lowercased())
  }

  private static func hexadecimal(_ text: String) -> UInt64? {
    text.hasPrefix("0x") && text.dropFirst(2).allSatisfy(\.isHexDigit) ? UInt64(text.dropFirst(2), radix: 16) : nil
  }

  /// The description of the actual value in error messages.
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
  /// The text shortened to 40 characters on one line, with terminal control characters escaped.
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
