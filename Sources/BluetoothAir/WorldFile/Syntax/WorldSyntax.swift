import Yams

/// The reason why a text is not valid YAML, or uses YAML features that are not supported.
struct SyntaxProblem: Error, Hashable {
  /// The place of the problem; nil: the whole text.
  var place: TextLocation?
  var reason: String
}

/// Reads YAML, and therefore JSON, which is a subset of YAML.
///
/// Anchors, aliases and tags are rejected: ten lines of nested aliases can stand for billions of values. Yams has no
/// option to reject them, and expands them while it compares the keys of an object, so it must not see any. Therefore
/// all `&` and `*` are masked before parsing, by characters without a meaning that the text does not contain.
/// If a mask begins a plain scalar, the scalar was an anchor or an alias. Elsewhere (in quotes, within a text, in
/// comments) it was an ordinary character, and is restored.
struct WorldSyntax {
  /// The largest nesting depth of lists and objects.
  static let maximumDepth = 32

  /// The characters that stand for `&` and `*`.
  private struct Masks {
    let anchor: Unicode.Scalar
    let alias: Unicode.Scalar

    func masked(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
      switch scalar {
      case "&": anchor
      case "*": alias
      default: scalar
      }
    }

    /// Returns the character that a mask stands for; nil: the character is no mask.
    func unmasked(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
      switch scalar {
      case anchor: "&"
      case alias: "*"
      default: nil
      }
    }
  }

  /// The text with masks for `&` and `*`.
  private let masked: String
  /// Nil: the text has neither character.
  private let masks: Masks?

  /// Reads a text.
  ///
  /// - Parameter format: the name of the format in messages: "YAML" or "JSON".
  static func read(_ text: String, format: String = "YAML") throws(SyntaxProblem) -> LocatedValue {
    guard let root = try WorldSyntax(text).compose(format) else { throw SyntaxProblem(reason: "the file is empty") }
    return root
  }

  private init(_ text: String) throws(SyntaxProblem) {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "*") }) else {
      (masked, masks) = (text, nil)
      return
    }
    let used = Self.privateCharacters(in: text)
    let unused = Array(Self.privateUse.joined().lazy.filter { !used.contains($0) }.prefix(2))
    let free = unused.compactMap { Unicode.Scalar($0) }
    guard free.count == 2 else { throw SyntaxProblem(reason: "the file has all characters for private use") }
    let masks = Masks(anchor: free[0], alias: free[1])
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { result.append(masks.masked(scalar)) }
    (masked, self.masks) = (String(result), masks)
  }

  /// The characters for private use.
  private static let privateUse: [ClosedRange<UInt32>] = [0xE000...0xF8FF, 0xF0000...0xFFFFD, 0x100000...0x10FFFD]

  /// Returns the characters for private use that a text contains, also by escapes such as `\uE000`, and perhaps others.
  private static func privateCharacters(in text: String) -> Set<UInt32> {
    var used = Set(text.unicodeScalars.lazy.map(\.value).filter { $0 >= 0xE000 })
    for parts in text.utf8.split(separator: UInt8(ascii: "\\")) {
      let length = parts.first == UInt8(ascii: "u") ? 4 : parts.first == UInt8(ascii: "U") ? 8 : 0
      if let value = UInt32(String(decoding: parts.dropFirst().prefix(length), as: UTF8.self), radix: 16) {
        used.insert(value)
      }
    }
    return used
  }

  private func compose(_ format: String) throws(SyntaxProblem) -> LocatedValue? {
    let root: Node?
    do {
      // The parser has no resolver rules, because the fields determine which scalars are numbers.
      root = try Parser(yaml: masked, resolver: .basic, encoding: .utf8).singleRoot()
    } catch let error as YamlError {
      throw SyntaxProblem(error, format, unmask)
    } catch {
      throw SyntaxProblem(reason: "\(error)")
    }
    guard let root else { return nil }
    return try convert(root, depth: 1)
  }

  private func unmask(_ text: String) -> String {
    guard let masks else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { result.append(masks.unmasked(scalar) ?? scalar) }
    return String(result)
  }

  // MARK: Nodes

  private func convert(_ node: Node, depth: Int) throws(SyntaxProblem) -> LocatedValue {
    let place = TextLocation(node.mark)
    guard depth <= Self.maximumDepth else {
      throw SyntaxProblem(place: place, reason: "lists and objects are nested deeper than \(Self.maximumDepth) levels")
    }
    switch node {
    case .scalar(let scalar): return LocatedValue(content: try content(of: scalar, at: place), place: place)
    case .sequence(let sequence):
      try refuseTag(sequence.tag, at: place)
      var values: [LocatedValue] = []
      values.reserveCapacity(sequence.count)
      for element in sequence { values.append(try convert(element, depth: depth + 1)) }
      return LocatedValue(content: .list(values), place: place)
    case .mapping(let mapping):
      try refuseTag(mapping.tag, at: place)
      var members: [MarkedMember] = []
      members.reserveCapacity(mapping.count)
      for (key, value) in mapping {
        let keyPlace = TextLocation(key.mark)
        guard case .scalar(let scalar) = key,
          let name = LocatedValue(
            content: try content(of: scalar, at: keyPlace), place: keyPlace
          ).raw
        else {
          throw SyntaxProblem(place: keyPlace, reason: "expected text as the name of a field, got a list or an object")
        }
        members.append(MarkedMember(name: name, place: keyPlace, value: try convert(value, depth: depth + 1)))
      }
      return LocatedValue(content: .object(members), place: place)
    case .alias: throw Self.alias(at: place)
    }
  }

  private func content(of scalar: Node.Scalar, at place: TextLocation) throws(SyntaxProblem) -> LocatedValue.Content {
    switch scalar.style {
    case .any, .plain:
      if let masks, let first = scalar.string.unicodeScalars.first, masks.unmasked(first) != nil {
        throw Self.alias(at: place)
      }
      try refuseTag(scalar.tag, at: place)
      return .plain(unmask(scalar.string))
    case .singleQuoted, .doubleQuoted, .literal, .folded:
      try refuseTag(scalar.tag, at: place)
      return .quoted(unmask(scalar.string))
    }
  }

  private static func alias(at place: TextLocation) -> SyntaxProblem {
    SyntaxProblem(
      place: place, reason: "anchors (&) and aliases (*) are not supported; quote text that begins with & or *")
  }

  /// Rejects tags that the file contains. Implicit tags are allowed: Yams tags quoted scalars, and keys that it has
  /// compared, as text.
  private func refuseTag(_ tag: Tag, at place: TextLocation) throws(SyntaxProblem) {
    guard tag.description != Tag.Name.implicit.rawValue, tag.description != Tag.Name.str.rawValue else { return }
    throw SyntaxProblem(place: place, reason: "tags (!) are not supported; quote text that begins with !")
  }
}

extension TextLocation {
  fileprivate init(_ mark: Mark?) { self.init(line: mark?.line ?? 1, column: mark?.column ?? 1) }
}

extension SyntaxProblem {
  /// - Parameter format: the name of the format in messages.
  fileprivate init(_ error: YamlError, _ format: String, _ unmask: (String) -> String) {
    switch error {
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      let origin = context.map { " (\(unmask($0.text).trimmed) at line \($0.mark.line))" } ?? ""
      self.init(place: TextLocation(mark), reason: "invalid \(format): \(problem.trimmed)\(origin)")
    case .reader(let problem, let offset, _, let yaml):
      self.init(
        place: offset.map { TextLocation(ofCharacter: $0, in: yaml) }, reason: "invalid \(format): \(problem.trimmed)")
    case .duplicatedKeysInMapping(let names, let context):
      let names = names.map { "\"\(unmask($0).shortened)\"" }.joined(separator: ", ")
      self.init(place: TextLocation(context.mark), reason: "duplicate field \(names)")
    case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
      self.init(reason: "invalid \(format): \(error)")
    }
  }
}

extension TextLocation {
  fileprivate init(ofCharacter offset: Int, in text: String) {
    var (line, column) = (1, 1)
    for character in text.prefix(offset) {
      if character.isNewline { (line, column) = (line + 1, 1) } else { column += character.unicodeScalars.count }
    }
    self.init(line: line, column: column)
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = Substring(self)
    while text.last?.isWhitespace ?? false { text.removeLast() }
    return String(text)
  }
}
