/// Checks each value of a file against the shape of its field, and reports the values that do not fit.
struct FieldChecker {
  var problems = ProblemList()

  mutating func check(_ value: LocatedValue, _ shape: FieldShape, at path: FieldPath) {
    if value.isNothing { return refuse(value, shape, at: path) }
    switch shape {
    case .list(let element, let count): checkList(value, element, count, shape, at: path)
    case .object(let object): checkObject(value, object, shape, at: path)
    case .kinds(let kinds): checkKinds(value, kinds, shape, at: path)
    case .word(let words, let object):
      if case .object = value.content {
        checkObject(value, object, shape, at: path)
      } else if !words.contains(value.text ?? "") {
        refuse(value, shape, at: path)
      }
    default:
      if !value.fits(shape) { refuse(value, shape, at: path) }
    }
  }

  private mutating func refuse(_ value: LocatedValue, _ shape: FieldShape, at path: FieldPath) {
    var hint = ""
    if problems.wantsSuggestions, let text = value.text {
      hint = SpellingSuggestion.suggestion(for: text, among: shape.words)
    }
    problems.add(value.place, path, "expected \(shape.expectation), got \(value.description)" + hint)
  }

  // MARK: Lists

  private mutating func checkList(
    _ value: LocatedValue, _ element: FieldShape, _ count: ClosedRange<Int>, _ shape: FieldShape, at path: FieldPath
  ) {
    guard case .list(let values) = value.content else { return refuse(value, shape, at: path) }
    if !count.contains(values.count) {
      let wanted =
        count.lowerBound == count.upperBound ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
      problems.add(value.place, path, "expected \(wanted) values, got \(values.count)")
    }
    for (index, value) in values.prefix(count.upperBound).enumerated() {
      check(value, element, at: .element(path, index))
    }
  }

  // MARK: Objects

  private mutating func checkObject(
    _ value: LocatedValue, _ object: ObjectShape, _ shape: FieldShape, at path: FieldPath
  ) {
    guard case .object(let members) = value.content else { return refuse(value, shape, at: path) }
    check(members, of: object, at: path, value.place)
  }

  private mutating func check(
    _ members: [MarkedMember], of object: ObjectShape, at path: FieldPath, _ place: TextLocation, kind: String? = nil
  ) {
    /// The names that the object lacks; nil: no unknown field has needed them yet.
    var missing: [String]?
    for member in members where member.name != kind {
      if let field = object.field(member.name) {
        check(member.value, field.shape, at: .field(path, member.name))
        continue
      }
      var hint = ""
      if problems.wantsSuggestions {
        // Computed once for all unknown fields, because an object may have hundreds of thousands of them.
        let names = missing ?? Self.missingNames(of: object, in: members)
        missing = names
        hint = SpellingSuggestion.suggestion(for: member.name, among: names)
      }
      problems.add(member.place, .field(path, member.name), "unknown field" + hint)
    }
    for field in object.fields where field.isRequired && !members.contains(where: { $0.name == field.name }) {
      problems.add(place, path, "\"\(field.name)\" is missing: expected \(field.shape.expectation)")
    }
    for names in object.exclusive {
      let given = members.filter { names.contains($0.name) }
      if given.count > 1 {
        problems.add(
          given[1].place, .field(path, given[1].name),
          "conflicts with \"\(given[0].name)\": expected only one of them")
      }
    }
  }

  private static func missingNames(of object: ObjectShape, in members: [MarkedMember]) -> [String] {
    let given = Set(members.lazy.map(\.name))
    return object.fields.map(\.name).filter { !given.contains($0) }
  }

  private mutating func checkKinds(
    _ value: LocatedValue, _ kinds: [ObjectShape], _ shape: FieldShape, at path: FieldPath
  ) {
    guard case .object(let members) = value.content else {
      guard let kind = kinds.first(where: { $0.name == value.text }) else { return refuse(value, shape, at: path) }
      let missing = kind.fields.filter(\.isRequired).map { "\"\($0.name)\"" }
      if !missing.isEmpty {
        problems.add(
          value.place, path, "\"\(kind.name)\" requires \(missing.joined(separator: " and ")): expected an object")
      }
      return
    }
    guard let named = members.first(where: { $0.name == "kind" }) else {
      return problems.add(
        value.place, path, "\"kind\" is missing: expected \(FieldShape.choice(kinds.map(\.name)).expectation)")
    }
    guard let kind = kinds.first(where: { $0.name == named.value.text }) else {
      return refuse(named.value, .choice(kinds.map(\.name)), at: .field(path, "kind"))
    }
    check(members, of: kind, at: path, value.place, kind: "kind")
  }
}

extension FieldShape {
  /// The words that the shape allows.
  fileprivate var words: [String] {
    switch self {
    case .choice(let words), .word(let words, _): words
    case .kinds(let kinds): kinds.map(\.name)
    default: []
    }
  }
}

extension LocatedValue {
  /// Returns true if the value fits this shape; false for the shapes of lists of arbitrary values and of objects.
  fileprivate func fits(_ shape: FieldShape) -> Bool {
    switch shape {
    case .flag: flag != nil
    case .integer(let range): whole(Int.self).map(range.contains) ?? false
    case .seed: whole(UInt64.self) != nil
    case .number(let range): number.map(range.contains) ?? false
    case .text(let range): text.map { range.contains($0.utf8.count) } ?? false
    case .choice(let words): text.map(words.contains) ?? false
    case .uuid: uuid != nil
    case .uuid128: raw?.utf8.count == 36 && uuid != nil
    case .address: address != nil
    case .dateTime: dateTime != nil
    case .octets(let range): octets.map { range.contains($0.count) } ?? false
    case .hexadecimal(let range): raw?.hexadecimalOctets.map { range.contains($0.count) } ?? false
    case .protocolNumber(let bits): protocolNumber.map { $0 == nil || $0 ?? 0 < 1 << bits } ?? false
    case .position: position != nil
    case .list, .object, .kinds, .word: false
    }
  }
}
