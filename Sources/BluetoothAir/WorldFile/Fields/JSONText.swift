/// A JSON value whose objects keep the order of their fields.
indirect enum JSONText: Sendable {
  case text(String)
  /// A number in its textual form.
  case number(String)
  case flag(Bool)
  case list([JSONText])
  case object([(String, JSONText)])

  /// The JSON text on one line.
  var description: String {
    switch self {
    case .list(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
    case .object(let fields):
      "{" + fields.map { Self.quoted($0.0) + ": " + $0.1.description }.joined(separator: ", ") + "}"
    case .text(let text): Self.quoted(text)
    case .number(let number): number
    case .flag(let flag): flag ? "true" : "false"
    }
  }

  /// Returns the JSON text with line breaks where a line would be longer than 100 characters.
  func pretty(indent: String = "") -> String {
    let line = description
    if indent.count + line.count <= 100 { return line }
    let inner = indent + "  "
    func lines(_ open: String, _ parts: [String], _ close: String) -> String {
      open + "\n" + parts.map { inner + $0 }.joined(separator: ",\n") + "\n" + indent + close
    }
    switch self {
    case .list(let values): return lines("[", values.map { $0.pretty(indent: inner) }, "]")
    case .object(let fields):
      return lines("{", fields.map { Self.quoted($0.0) + ": " + $0.1.pretty(indent: inner) }, "}")
    case .text, .number, .flag: return line
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
