import Foundation

/// The types of the fields of records, from the table in Documentation/Ble-reference.md.
enum RecordTypes {
  /// A value of JSON, which distinguishes numbers from flags.
  private enum Value: Decodable {
    case null
    case flag
    case number
    case text(String)
    case list([Value])
    case object([String: Value])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if (try? container.decode(Bool.self)) != nil {
        self = .flag
      } else if (try? container.decode(Double.self)) != nil {
        self = .number
      } else if let text = try? container.decode(String.self) {
        self = .text(text)
      } else if let list = try? container.decode([Value].self) {
        self = .list(list)
      } else {
        self = .object(try container.decode([String: Value].self))
      }
    }

    var elements: [Value]? { if case .list(let list) = self { list } else { nil } }
    var members: [String: Value]? { if case .object(let object) = self { object } else { nil } }
  }

  /// The types by the names of the fields; a name with several types is an error of the page.
  static let types: [String: [String]] = {
    let part = PageTests.reference.components(separatedBy: "### Types of the fields\n").last ?? ""
    let table = part.components(separatedBy: "\n## ")[0]
    var types: [String: [String]] = [:]
    for row in table.matches(of: /\n\| ([^|]+) \| [^|]*\| (`[^|]*) \|(?=\n)/) {
      // Words after a semicolon or in a sentence are explanations.
      let names = row.2.replacing(#/ of a value;.*/#, with: "")
      for name in names.matches(of: /`(\w+)`/) { types[String(name.1), default: []].append(String(row.1)) }
    }
    return types
  }()

  /// Returns the fields of a record, also within its objects, whose values have other types than the page says.
  static func problems(of record: String) -> [String] {
    guard let value = try? JSONDecoder().decode(Value.self, from: Data(record.utf8)), var members = value.members else {
      return ["no object"]
    }
    members["version"] = nil
    members["record"] = nil
    return problems(of: members)
  }

  private static func problems(of members: [String: Value]) -> [String] {
    members.flatMap { name, value -> [String] in
      if case .null = value { return [] }
      guard let type = types[name]?.first else { return ["the field \(name) has no type"] }
      let wrong = ["the field \(name) is not of the type \"\(type)\""]
      switch type {
      case "object": return value.members.map { problems(of: $0) } ?? wrong
      case "map of octets": return value.members?.values.allSatisfy { matches($0, "octets") } == true ? [] : wrong
      case "list of objects":
        guard let elements = value.elements else { return wrong }
        return elements.flatMap { $0.members.map { problems(of: $0) } ?? wrong }
      case let list where list.hasPrefix("list of "):
        let element = String(list.dropFirst("list of ".count).dropLast())
        return value.elements?.allSatisfy { matches($0, element) } == true ? [] : wrong
      default: return matches(value, type) ? [] : wrong
      }
    }
  }

  private static func matches(_ value: Value, _ type: String) -> Bool {
    switch (value, type) {
    case (.number, "number"), (.flag, "true or false"), (.text, "text"): return true
    case (.text(let text), "octets"): return text.contains(/^0x(?:[0-9A-F]{2})*$/)
    case (.text(let text), "UUID"):
      return text.contains(/^(?:[0-9A-F]{4}|[0-9A-F]{8}|[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}|<\w+>)$/)
    case (.text(let text), "date"):
      return text.contains(/^(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|<\w+>)$/)
    default: return false
    }
  }
}
