import BluetoothWire
import Foundation

/// A JSON value whose objects keep the order of their fields.
package indirect enum JSONText: Sendable {
  case null
  case text(String)
  /// A number in its textual form.
  case number(String)
  case flag(Bool)
  case list([JSONText])
  case object([(String, JSONText)])
  /// A value in its textual form.
  case encoded(String)

  /// The JSON text on one line, without spaces.
  package var line: String { joined(comma: ",", colon: ":") }

  private func joined(comma: String, colon: String) -> String {
    switch self {
    case .list(let values):
      "[" + values.map { $0.joined(comma: comma, colon: colon) }.joined(separator: comma) + "]"
    case .object(let fields):
      "{"
        + fields.map { Self.quoted($0.0) + colon + $0.1.joined(comma: comma, colon: colon) }.joined(separator: comma)
        + "}"
    case .null: "null"
    case .text(let text): Self.quoted(text)
    case .number(let number), .encoded(let number): number
    case .flag(let flag): flag ? "true" : "false"
    }
  }

  /// Returns the JSON text with line breaks where a line would be longer than 100 characters.
  func pretty(indent: String = "") -> String {
    let line = joined(comma: ", ", colon: ": ")
    if indent.count + line.count <= 100 { return line }
    let inner = indent + "  "
    func lines(_ open: String, _ parts: [String], _ close: String) -> String {
      open + "\n" + parts.map { inner + $0 }.joined(separator: ",\n") + "\n" + indent + close
    }
    switch self {
    case .list(let values): return lines("[", values.map { $0.pretty(indent: inner) }, "]")
    case .object(let fields):
      return lines("{", fields.map { Self.quoted($0.0) + ": " + $0.1.pretty(indent: inner) }, "}")
    case .null, .text, .number, .flag, .encoded: return line
    }
  }

  /// Returns the text in quotation marks. Characters that control a terminal, break a line or change the direction of
  /// text are escaped, and so are those that no YAML text may contain. Invisible characters above U+FFFF stay as they
  /// are, because JSON and YAML have no escape for them in common.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case _ where scalar.value <= 0xFFFF && (scalar.isUnprintable || scalar.value >= 0xFFFE):
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

extension JSONText {
  /// The JSON text that an encoder has made.
  init(encoding value: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Encoding can't fail: the values of messages hold only numbers and strings.
    self = (try? encoder.encode(value)).map { .encoded(String(decoding: $0, as: UTF8.self)) } ?? .null
  }
}
