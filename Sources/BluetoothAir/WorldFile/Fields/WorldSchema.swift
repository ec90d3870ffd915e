/// The JSON Schema of world files, generated from the field descriptions that the reader uses · JSON Schema 2020-12.
///
/// Only the reader checks rules that the schema can't express: duplicate or unknown names, times out of order, days
/// that a month does not have, invalid combinations of a fault's fields, and advertising payloads that are too long.
package enum WorldSchema {
  /// The text of `Documentation/world.schema.json`.
  package static var text: String {
    var schema: [(String, JSONText)] = [
      ("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
      ("title", .text("A world of swift-corebluetooth")),
    ]
    guard case .object(let root) = json(.world) else { return "" }
    schema += root
    schema.append(("$defs", .object(definitions.map { ($0.name, json($0)) })))
    return JSONText.object(schema).pretty() + "\n"
  }

  /// All object types but the root, in the order in which they are first used. The kinds of `FieldShape.kinds` are
  /// defined inline.
  static var definitions: [ObjectShape] {
    var found: [ObjectShape] = []
    func look(_ shape: FieldShape) {
      switch shape {
      case .list(let element, _): look(element)
      case .word(_, let object), .object(let object):
        guard !found.contains(where: { $0.name == object.name }) else { return }
        found.append(object)
        for field in object.fields { look(field.shape) }
      case .kinds(let kinds):
        for kind in kinds { for field in kind.fields { look(field.shape) } }
      default: break
      }
    }
    for field in ObjectShape.world.fields { look(field.shape) }
    return found
  }

  // MARK: Objects

  private static func json(_ object: ObjectShape, kind: String? = nil) -> JSONText {
    var properties = object.fields.map { ($0.name, json($0)) }
    var required = object.fields.filter(\.isRequired).map(\.name)
    if let kind {
      properties.insert(("kind", .object([("const", .text(kind))])), at: 0)
      required.insert("kind", at: 0)
    }
    var fields: [(String, JSONText)] = [
      ("description", .text(object.meaning)), ("type", .text("object")), ("properties", .object(properties)),
    ]
    if !required.isEmpty { fields.append(("required", .list(required.map(JSONText.text)))) }
    fields.append(("additionalProperties", .flag(false)))
    let pairs = object.exclusive.flatMap { names in
      names.indices.flatMap { first in names.indices.dropFirst(first + 1).map { (names[first], names[$0]) } }
    }
    if !pairs.isEmpty {
      let both = pairs.map { JSONText.object([("required", .list([.text($0.0), .text($0.1)]))]) }
      fields.append(("not", .object([("anyOf", .list(both))])))
    }
    return .object(fields)
  }

  private static func json(_ field: WorldField) -> JSONText {
    let suffix = field.standard.map { ". Default: \($0)" } ?? ""
    var fields: [(String, JSONText)] = [("description", .text(field.meaning + suffix))]
    fields += constraints(field.shape)
    fields.append(("examples", .list([.number(field.example)])))
    return .object(fields)
  }

  // MARK: Values

  private static func constraints(_ shape: FieldShape) -> [(String, JSONText)] {
    switch shape {
    case .flag: return [("type", .text("boolean"))]
    case .integer(let range):
      return [
        ("type", .text("integer")), ("minimum", .number("\(range.lowerBound)")),
        ("maximum", .number("\(range.upperBound)")),
      ]
    case .seed:
      return [("type", .text("integer")), ("minimum", .number("0")), ("maximum", .number("\(UInt64.max)"))]
    case .number(let range):
      return [
        ("type", .text("number")), ("minimum", .number(range.lowerBound.short)),
        ("maximum", .number(range.upperBound.short)),
      ]
    // JSON Schema counts characters, and each character has at least one octet.
    case .text(let range):
      return [
        ("type", .text("string")), ("minLength", .number("\(min(range.lowerBound, 1))")),
        ("maxLength", .number("\(range.upperBound)")),
      ]
    case .choice(let words): return [("enum", .list(words.map(JSONText.text)))]
    case .uuid:
      return digits("^([0-9A-Fa-f]{4}|[0-9A-Fa-f]{8}|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$")
    case .uuid128: return pattern("^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$")
    case .address: return pattern("^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$")
    case .dateTime:
      return pattern(
        "^(19[7-9][0-9]|[2-9][0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
          + "T([01][0-9]|2[0-3])(:[0-5][0-9]){2}$")
    case .octets(let range):
      let numbers = FieldShape.list(.integer(0...255), count: range)
      return [("anyOf", .list([.object(constraints(.hexadecimal(range))), .object(constraints(numbers))]))]
    case .hexadecimal(let range):
      return digits("^ *(([0-9A-Fa-f]{2}) *){\(range.lowerBound),\(range.upperBound)}$")
    case .protocolNumber(let bits):
      let number = constraints(.integer(0...1 << bits - 1))
      return [("anyOf", .list([.object(number), .object(pattern("^(any|[0-9]+|0x[0-9A-Fa-f]+)$"))]))]
    case .position: return constraints(.list(.number(WorldLimits.metres), count: 2...3))
    case .list(let element, let count):
      return [
        ("type", .text("array")), ("items", .object(constraints(element))),
        ("minItems", .number("\(count.lowerBound)")), ("maxItems", .number("\(count.upperBound)")),
      ]
    case .object(let object): return [("$ref", .text("#/$defs/\(object.name)"))]
    case .word(let words, let object):
      return [("anyOf", .list([.object(constraints(.choice(words))), .object(constraints(.object(object)))]))]
    case .kinds(let kinds):
      let names = kinds.filter(\.needsNothing).map(\.name)
      let words: [JSONText] = names.isEmpty ? [] : [.object(constraints(.choice(names)))]
      return [("anyOf", .list(words + kinds.map { json($0, kind: $0.name) }))]
    }
  }

  private static func pattern(_ text: String) -> [(String, JSONText)] {
    [("type", .text("string")), ("pattern", .text(text))]
  }

  /// Returns the constraints of a UUID or of hexadecimal octets. YAML parsers read unquoted decimal digits as a number,
  /// so the schema must allow numbers; the reader uses the digits as written.
  private static func digits(_ text: String) -> [(String, JSONText)] {
    [("type", .list([.text("string"), .text("number")])), ("pattern", .text(text)), ("minimum", .number("0"))]
  }
}
