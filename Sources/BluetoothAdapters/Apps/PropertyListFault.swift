/// The first fault in the text of a property list in XML, for a message: its place and the reason.
///
/// The system's decoder decides whether a text is a property list. It does not tell the place of a fault, so the text of a
/// refused file is looked through again, for tags that do not fit together.
struct PropertyListFault: Hashable {
  /// The line, counted from 1.
  let line: Int
  /// The content of the last `<key>` before the fault; nil: there is none.
  let key: String?
  let reason: String

  /// Finds the first fault; nil: there is none that this type knows.
  ///
  /// - Parameter octets: the text of the file, in ASCII or UTF-8.
  init?(in octets: [UInt8]) {
    var scanner = PropertyListScanner(octets)
    guard let fault = scanner.fault() else { return nil }
    self = fault
  }

  fileprivate init(line: Int, key: String?, reason: String) {
    (self.line, self.key, self.reason) = (line, key, reason)
  }
}

/// Reads the tags of a property list in XML one after the other.
private struct PropertyListScanner {
  /// An element whose end tag has not come.
  private struct Element {
    let name: String
    let line: Int
    /// The offset of the first octet behind the start tag.
    let content: Int
    /// True between a key and its value, in a dictionary.
    var awaitsValue = false
  }

  private enum Tag {
    case start(String, isEmpty: Bool)
    case end(String)
    /// A comment, a declaration, a processing instruction, or CDATA.
    case other
  }

  private static let names: Set<String> = [
    "plist", "dict", "array", "key", "string", "data", "date", "integer", "real", "true", "false",
  ]
  /// The maximum length of names and keys in messages, in characters.
  private static let maximumShown = 100

  private let octets: [UInt8]
  private var offset = 0
  private var line = 1
  private var open: [Element] = []
  private var key: String?

  init(_ octets: [UInt8]) { self.octets = octets }

  mutating func fault() -> PropertyListFault? {
    // A text in UTF-16 or UTF-32 has no tags for this scanner.
    guard !octets.contains(0), octets.contains(UInt8(ascii: "<")) else { return nil }
    while true {
      if let fault = skipText() { return fault }
      guard offset < octets.count else { break }
      let start = line
      guard let tag = takeTag() else {
        let reason = "the file ends in the tag that begins in line \(start)"
        return PropertyListFault(line: start, key: key, reason: reason)
      }
      let reason: String? =
        switch tag {
        case .start(let name, let isEmpty): begin(name, isEmpty: isEmpty, in: start)
        case .end(let name): end(name)
        case .other: nil
        }
      if let reason { return PropertyListFault(line: start, key: key, reason: reason) }
    }
    guard let last = open.last else { return nil }
    return PropertyListFault(
      line: line, key: key, reason: "the file ends before </\(last.name)>; <\(last.name)> is in line \(last.line)")
  }

  // MARK: Structure

  /// Takes in a start tag. Returns the reason why it does not fit.
  private mutating func begin(_ name: String, isEmpty: Bool, in line: Int) -> String? {
    guard Self.names.contains(name) else { return "<\(name)> is not a tag of property lists" }
    if let parent = open.last {
      switch parent.name {
      case "plist", "array": if name == "key" { return "<key> is not in a <dict>" }
      case "dict":
        if name == "key", parent.awaitsValue { return "the key has no value" }
        if name != "key", !parent.awaitsValue { return "<\(name)> has no <key> before it" }
        open[open.count - 1].awaitsValue = name == "key"
      default: return "<\(name)> is in <\(parent.name)> of line \(parent.line), which contains text only"
      }
    }
    if isEmpty {
      if name == "key" { key = "" }
    } else {
      open.append(Element(name: name, line: line, content: offset))
    }
    return nil
  }

  /// Takes in an end tag. Returns the reason why it does not fit.
  private mutating func end(_ name: String) -> String? {
    guard let last = open.last else { return "</\(name)> has no <\(name)> before it" }
    guard last.name == name else { return "</\(name)> is not the end of <\(last.name)> of line \(last.line)" }
    if last.awaitsValue { return "the key has no value" }
    open.removeLast()
    let content = String(decoding: octets[last.content..<contentEnd], as: UTF8.self)
    switch name {
    case "key": key = String(content.prefix(Self.maximumShown))
    case "integer": if !Self.isInteger(content) { return "<integer> contains no number" }
    case "real": if Double(content.trimmed) == nil { return "<real> contains no number" }
    default: break
    }
    return nil
  }

  /// The offset of the end tag that has been taken last: the end of the content of its element.
  private var contentEnd: Int { octets[..<offset].lastIndex(of: UInt8(ascii: "<")) ?? offset }

  private static func isInteger(_ text: String) -> Bool {
    var digits = Substring(text.trimmed)
    if let sign = digits.first, "+-".contains(sign) { digits.removeFirst() }
    let isHexadecimal = digits.lowercased().hasPrefix("0x")
    if isHexadecimal { digits.removeFirst(2) }
    return !digits.isEmpty && digits.allSatisfy { isHexadecimal ? $0.isHexDigit : "0"..."9" ~= $0 }
  }

  // MARK: Text

  /// Goes to the next tag. Returns a fault if the text before it has a wrong reference to a character.
  private mutating func skipText() -> PropertyListFault? {
    while offset < octets.count, octets[offset] != UInt8(ascii: "<") {
      if octets[offset] == UInt8(ascii: "&"), !isReference(at: offset) {
        return PropertyListFault(line: line, key: key, reason: "& is not part of a reference such as &amp;")
      }
      advance()
    }
    return nil
  }

  /// True if a reference to a character begins at an ampersand.
  private func isReference(at start: Int) -> Bool {
    let rest = octets[(start + 1)...].prefix(12)
    guard let semicolon = rest.firstIndex(of: UInt8(ascii: ";")) else { return false }
    let name = String(decoding: rest[..<semicolon], as: UTF8.self)
    if name.hasPrefix("#x") { return UInt32(name.dropFirst(2), radix: 16) != nil }
    if name.hasPrefix("#") { return UInt32(name.dropFirst()) != nil }
    return ["amp", "lt", "gt", "apos", "quot"].contains(name)
  }

  /// Takes a tag; nil: the file ends before its end.
  private mutating func takeTag() -> Tag? {
    if starts(with: "<!--") { return skip(behind: "-->") }
    if starts(with: "<![CDATA[") { return skip(behind: "]]>") }
    if starts(with: "<?") { return skip(behind: "?>") }
    if starts(with: "<!") { return skipDeclaration() }
    let start = offset
    // A new tag is no part of this one.
    repeat {
      advance()
      if offset < octets.count, octets[offset] == UInt8(ascii: "<") { return nil }
    } while offset < octets.count && octets[offset] != UInt8(ascii: ">")
    guard offset < octets.count else { return nil }
    advance()
    let text = String(decoding: octets[(start + 1)..<(offset - 1)], as: UTF8.self)
    let isEnd = text.hasPrefix("/")
    let name = text.dropFirst(isEnd ? 1 : 0).prefix { !$0.isWhitespace && $0 != "/" }.prefix(Self.maximumShown)
    return isEnd ? .end(String(name)) : .start(String(name), isEmpty: text.hasSuffix("/"))
  }

  /// Skips a declaration, which may contain others in brackets.
  private mutating func skipDeclaration() -> Tag? {
    var isInBrackets = false
    while offset < octets.count {
      let octet = octets[offset]
      advance()
      switch octet {
      case UInt8(ascii: "["): isInBrackets = true
      case UInt8(ascii: "]"): isInBrackets = false
      case UInt8(ascii: ">") where !isInBrackets: return .other
      default: break
      }
    }
    return nil
  }

  /// Skips everything up to the end of `mark`.
  private mutating func skip(behind mark: String) -> Tag? {
    while offset < octets.count {
      if starts(with: mark) {
        for _ in mark.utf8 { advance() }
        return .other
      }
      advance()
    }
    return nil
  }

  private func starts(with text: String) -> Bool { octets[offset...].starts(with: text.utf8) }

  private mutating func advance() {
    if octets[offset] == 0x0A { line += 1 }
    offset += 1
  }
}

extension String {
  /// The text without white space at both ends.
  fileprivate var trimmed: String {
    var text = Substring(self)
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
