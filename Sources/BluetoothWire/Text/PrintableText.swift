// Names and paths come from peers and files. They may contain characters that control a terminal or forge a log line.

extension String {
  /// The text on one line: escapes (`\n`, `\u{1B}`) replace control characters, line separators, and characters that
  /// are invisible or change the direction of text.
  package var printable: String {
    if utf8.allSatisfy({ 0x20...0x7E ~= $0 }) { return self }
    var result = ""
    for scalar in unicodeScalars {
      if scalar.isUnprintable { result += scalar.escape } else { result.unicodeScalars.append(scalar) }
    }
    return result
  }

  /// The text as one word of a shell: in single quotes, unless each of its characters stands for itself.
  package var shellWord: String {
    let isPlain = utf8.allSatisfy { octet in
      switch octet {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
      default: "%+,-./:@_".utf8.contains(octet)
      }
    }
    if isPlain, !isEmpty { return self }
    return "'" + replacing("'", with: "'\\''") + "'"
  }
}

extension Unicode.Scalar {
  /// True for characters that control a terminal, begin a line, are invisible, or change the direction of text.
  package var isUnprintable: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    // Joiners and tags are part of emoji and of the correct forms of letters.
    case .format: !(value == 0x200C || value == 0x200D || 0xE0020...0xE007F ~= value)
    default: false
    }
  }

  fileprivate var escape: String {
    switch self {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: "\\u{" + String(value, radix: 16, uppercase: true) + "}"
    }
  }
}
