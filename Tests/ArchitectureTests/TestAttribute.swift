/// A `@Test` or `@Suite` attribute of a source file.
struct TestAttribute: Equatable {
  var name: String
  /// The display name as spelled in the source, with its escapes; nil if there is none.
  var title: String?
  /// The code between the parentheses, without strings and comments.
  var traits: String
  /// The strings of the traits `requirement` and `symbol`.
  var shows: [String: [String]] = [:]

  /// False if a trait disables the test or makes it conditional.
  var isEnabled: Bool { !traits.contains(".disabled") && !traits.contains(".enabled") }
}

/// Reads the attributes of Swift source. Comments and string literals contain no attributes. A regular expression
/// literal with a quotation mark hides the rest of its line.
struct TestAttributeReader {
  private let code: [UInt8]
  private var position = 0
  private var found: [TestAttribute] = []

  static func attributes(in text: String) -> [TestAttribute] {
    var reader = TestAttributeReader(code: Array(text.utf8))
    reader.readAll()
    return reader.found
  }

  private init(code: [UInt8]) { self.code = code }

  private mutating func readAll() {
    while position < code.count {
      switch code[position] {
      case UInt8(ascii: "/"): skipSlash()
      case UInt8(ascii: "\""), UInt8(ascii: "#"): _ = readString()
      case UInt8(ascii: "@"): readAttribute()
      default: position += 1
      }
    }
  }

  private func starts(with text: StaticString) -> Bool {
    text.withUTF8Buffer { code[position...].starts(with: $0) }
  }

  /// Skips a comment, or the single slash of an operator or a regular expression.
  private mutating func skipSlash() {
    if starts(with: "//") {
      position = code[position...].firstIndex(of: UInt8(ascii: "\n")) ?? code.count
    } else if starts(with: "/*") {
      skipBlockComment()
    } else {
      position += 1
    }
  }

  /// Skips a block comment with its nested comments.
  private mutating func skipBlockComment() {
    var depth = 0
    repeat {
      if starts(with: "/*") {
        (depth, position) = (depth + 1, position + 2)
      } else if starts(with: "*/") {
        (depth, position) = (depth - 1, position + 2)
      } else {
        position += 1
      }
    } while depth > 0 && position < code.count
  }

  /// Reads a string literal of any kind and returns its content; advances by one octet if no literal begins here.
  private mutating func readString() -> String? {
    let start = position
    while position < code.count, code[position] == UInt8(ascii: "#") { position += 1 }
    let hashes = position - start
    guard position < code.count, code[position] == UInt8(ascii: "\"") else {
      position = start + 1
      return nil
    }
    let isMultiline = starts(with: "\"\"\"")
    position += isMultiline ? 3 : 1
    return readContent(hashes: hashes, isMultiline: isMultiline)
  }

  private mutating func readContent(hashes: Int, isMultiline: Bool) -> String {
    let end = [UInt8](repeating: UInt8(ascii: "\""), count: isMultiline ? 3 : 1) + marks(hashes)
    let escape = [UInt8(ascii: "\\")] + marks(hashes)
    let start = position
    while position < code.count {
      if code[position...].starts(with: end) {
        defer { position += end.count }
        return String(decoding: code[start..<position], as: UTF8.self)
      } else if code[position...].starts(with: escape) {
        position += escape.count
        skipEscape()
      } else if code[position] == UInt8(ascii: "\n"), !isMultiline {
        break
      } else {
        position += 1
      }
    }
    return String(decoding: code[start..<position], as: UTF8.self)
  }

  private func marks(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "#"), count: count) }

  /// Skips the character after a backslash, or an interpolation.
  private mutating func skipEscape() {
    guard position < code.count else { return }
    if code[position] == UInt8(ascii: "(") { _ = readParentheses() } else { position += 1 }
  }

  /// Reads up to the matching parenthesis. Returns the code inside, the first string if no code precedes it, and the
  /// strings of the traits that name what a test shows.
  private mutating func readParentheses() -> (code: String, first: String?, shows: [String: [String]]) {
    var inside: [UInt8] = []
    var first: String?
    var shows: [String: [String]] = [:]
    var depth = 0
    repeat {
      let octet = code[position]
      switch octet {
      case UInt8(ascii: "/"):
        let start = position
        skipSlash()
        if position == start + 1 { inside.append(octet) }
      case UInt8(ascii: "\""), UInt8(ascii: "#"):
        let isFirst = inside.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        let text = readString()
        if isFirst { first = text }
        if depth == 2, let text, let trait = lastTrait(of: inside) { shows[trait, default: []].append(text) }
        if text == nil { inside.append(octet) }
      default:
        if octet == UInt8(ascii: "(") { depth += 1 }
        if octet == UInt8(ascii: ")") { depth -= 1 }
        position += 1
        let isOuter = depth == 0 || (depth == 1 && octet == UInt8(ascii: "("))
        if !isOuter { inside.append(octet) }
      }
    } while depth > 0 && position < code.count
    return (String(decoding: inside, as: UTF8.self), first, shows)
  }

  /// Returns the name before the last opening parenthesis of `code`, if it is a trait that names what a test shows.
  private func lastTrait(of code: [UInt8]) -> String? {
    guard let parenthesis = code.lastIndex(of: UInt8(ascii: "(")) else { return nil }
    let before = code[..<parenthesis]
    return ["requirement", "symbol"].first { name in
      before.suffix(name.utf8.count + 1).elementsEqual(".\(name)".utf8)
    }
  }

  private mutating func readAttribute() {
    position += 1
    let start = position
    while position < code.count, isLetter(code[position]) { position += 1 }
    let name = String(decoding: code[start..<position], as: UTF8.self)
    guard name == "Test" || name == "Suite" else { return }
    guard position < code.count, code[position] == UInt8(ascii: "(") else {
      return found.append(TestAttribute(name: name, title: nil, traits: ""))
    }
    let (traits, title, shows) = readParentheses()
    found.append(TestAttribute(name: name, title: title, traits: traits, shows: shows))
  }

  private func isLetter(_ octet: UInt8) -> Bool {
    octet | 0x20 >= UInt8(ascii: "a") && octet | 0x20 <= UInt8(ascii: "z")
  }
}
