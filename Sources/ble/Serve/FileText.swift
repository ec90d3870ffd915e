import BluetoothAir
import BluetoothTypes

/// The text of a file that people read and change.
enum FileText {
  /// The longest line on which a list or an object stands as a whole.
  private static let width = 100
  /// The fields whose values have lines of their own in each file, so that files of similar devices are similar.
  private static let tall: Set<String> = ["", "devices", "accessory", "advertising", "services", "characteristics"]

  // MARK: YAML

  /// Returns a value in YAML. Fields with the name `uuid` get their assigned name as a comment.
  static func yaml(_ value: JSONText) -> String { block(value, "", 0).map { $0 + "\n" }.joined() }

  /// Returns the lines of a value.
  ///
  /// - Parameter name: the name of the field that has the value.
  private static func block(_ value: JSONText, _ name: String, _ indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    switch value {
    case .object(let fields):
      return fields.flatMap { name, value -> [String] in
        if isFlat(value, name, indent) { return [margin + name + ": " + flow(value) + comment(name, value)] }
        return [margin + name + ":"] + block(value, name, indent + 2)
      }
    case .list(let values):
      return values.flatMap { value -> [String] in
        // An element begins on the line of its hyphen.
        var lines = block(value, name, indent + 2)
        lines[0] = margin + "- " + lines[0].dropFirst(indent + 2)
        return lines
      }
    default: return [margin + flow(value)]
    }
  }

  private static func isFlat(_ value: JSONText, _ name: String, _ indent: Int) -> Bool {
    switch value {
    case .list(let values) where values.isEmpty: true
    case .object(let fields) where fields.isEmpty: true
    case .list, .object: !tall.contains(name) && indent + name.count + 2 + flow(value).count <= width
    default: true
    }
  }

  /// Returns the value on one line.
  private static func flow(_ value: JSONText) -> String {
    switch value {
    case .list(let values): "[" + values.map(flow).joined(separator: ", ") + "]"
    case .object(let fields): "{" + fields.map { $0.0 + ": " + flow($0.1) }.joined(separator: ", ") + "}"
    case .text(let text): isPlain(text) ? text : value.line
    default: value.line
    }
  }

  /// Returns true if YAML takes the text for text without quotes.
  private static func isPlain(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, first.properties.isAlphabetic, text.last != " " else { return false }
    let words = ["true", "false", "yes", "no", "on", "off", "null"]
    return !words.contains(text.lowercased())
      && text.utf8.allSatisfy { octet in
        let letter = Unicode.Scalar(octet)
        return letter.isASCII && (letter.properties.isAlphabetic || " -_.'&0123456789".unicodeScalars.contains(letter))
      }
  }

  private static func comment(_ name: String, _ value: JSONText) -> String {
    guard name == "uuid", case .text(let text) = value, let uuid = BluetoothUUID(text),
      let title = KnownNames.name(of: uuid)
    else { return "" }
    return "  # " + title
  }

  // MARK: JSON

  /// Returns a value in JSON, with a line for each field that does not fit on one with others.
  static func json(_ value: JSONText, indent: String = "") -> String {
    let line = value.line
    let inner = indent + "  "
    switch value {
    case .object(let fields) where indent.count + line.count > width:
      let lines = fields.map { inner + JSONText.text($0.0).line + ": " + json($0.1, indent: inner) }
      return "{\n" + lines.joined(separator: ",\n") + "\n" + indent + "}"
    case .list(let values) where indent.count + line.count > width:
      return "[\n" + values.map { inner + json($0, indent: inner) }.joined(separator: ",\n") + "\n" + indent + "]"
    default: return line
    }
  }
}
