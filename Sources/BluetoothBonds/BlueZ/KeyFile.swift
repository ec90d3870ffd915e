/// A file of groups of keys and values, which BlueZ reads and writes with GLib: `[Group]`, `Key=value`, `#` before a
/// comment.
struct KeyFile: Hashable, Sendable {
  struct Group: Hashable, Sendable {
    var name: String
    var entries: [Entry] = []
  }

  struct Entry: Hashable, Sendable {
    var key: String
    /// The value as written in the file, with its escapes.
    var value: String
  }

  private(set) var groups: [Group] = []

  init() {}

  /// Parses a text. Groups with the same name are merged, and the later of two values for one key counts, as in GLib.
  init(_ text: String) throws(BlueZError) {
    var current: Int?
    // Swift treats a carriage return followed by a line feed as one character.
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, line) in lines.enumerated() {
      let line = line.trimmingBlanks
      if line.isEmpty || line.hasPrefix("#") { continue }
      if line.hasPrefix("[") {
        guard line.hasSuffix("]"), line.count > 2 else { throw .malformed(line: index + 1) }
        current = self.index(of: String(line.dropFirst().dropLast()))
        continue
      }
      guard let current, let equals = line.firstIndex(of: "="), equals != line.startIndex else {
        throw .malformed(line: index + 1)
      }
      let entry = Entry(
        key: String(line[..<equals].trimmingBlanks), value: String(line[line.index(after: equals)...].trimmingBlanks))
      groups[current].entries.removeAll { $0.key == entry.key }
      groups[current].entries.append(entry)
    }
  }

  private mutating func index(of name: String) -> Int {
    if let index = groups.firstIndex(where: { $0.name == name }) { return index }
    groups.append(Group(name: name))
    return groups.count - 1
  }

  func has(_ group: String) -> Bool { groups.contains { $0.name == group } }

  /// The value as written in the file.
  subscript(group: String, key: String) -> String? {
    get { groups.first { $0.name == group }?.entries.first { $0.key == key }?.value }
    set {
      let index = index(of: group)
      let position = groups[index].entries.firstIndex { $0.key == key }
      switch (position, newValue) {
      case (let position?, let value?): groups[index].entries[position].value = value
      case (let position?, nil): groups[index].entries.remove(at: position)
      case (nil, let value?): groups[index].entries.append(Entry(key: key, value: value))
      case (nil, nil): break
      }
    }
  }

  /// The text of the file, with an empty line between groups.
  var text: String {
    groups.map { group in
      "[\(group.name)]\n" + group.entries.map { "\($0.key)=\($0.value)\n" }.joined()
    }.joined(separator: "\n")
  }

  // MARK: Escapes

  /// Returns a text as a value: line ends, backslashes and leading blanks are escaped.
  static func escaped(_ text: String) -> String {
    var result = ""
    var isLeading = true
    for character in text.unicodeScalars {
      switch character {
      case " " where isLeading: result += "\\s"
      case "\t" where isLeading: result += "\\t"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\\": result += "\\\\"
      default: result.unicodeScalars.append(character)
      }
      if character != " ", character != "\t" { isLeading = false }
    }
    return result
  }

  /// Returns the text that a value stands for; an invalid escape stays as it is.
  static func unescaped(_ value: String) -> String {
    var result = String.UnicodeScalarView()
    var rest = value.unicodeScalars[...]
    while let character = rest.popFirst() {
      guard character == "\\", let escaped = rest.popFirst() else {
        result.append(character)
        continue
      }
      switch escaped {
      case "s": result.append(" ")
      case "n": result.append("\n")
      case "t": result.append("\t")
      case "r": result.append("\r")
      case "\\": result.append("\\")
      default:
        result.append(character)
        result.append(escaped)
      }
    }
    return String(result)
  }
}

extension Substring {
  /// The text without blanks, tabs and carriage returns at either end.
  fileprivate var trimmingBlanks: Substring {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
    var result = drop(while: isBlank)
    while let last = result.last, isBlank(last) { result.removeLast() }
    return result
  }
}
