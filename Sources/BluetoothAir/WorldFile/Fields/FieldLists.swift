/// The lists of fields in Documentation/World-files.md, generated from the field descriptions that the reader uses.
package enum FieldLists {
  /// The text of all lists: a heading and a list for each object.
  ///
  /// A field that several kinds have in common is in a list of its own, and the fields of a client that are those of a
  /// device are in that list only. The fields of faults are on the page about the lab.
  package static var text: String {
    var parts = [section("The file", .world)]
    for object in WorldSchema.definitions {
      switch object.name {
      case "client": parts.append(section(object.name, object, sharing: ObjectShape.device))
      case "fault": parts.append("### fault\n\nA fault of a plan: [Faults](Lab.md#faults) has its fields.\n")
      case "faultTrigger": break
      default: parts.append(section(object.name, object))
      }
      if object.name == "environment" { parts += sections(of: ObjectShape.interferenceKinds, named: "interference") }
      if object.name == "device" { parts += sections(of: ObjectShape.accessoryKinds, named: "accessory") }
    }
    return parts.joined(separator: "\n")
  }

  /// Returns a section with the fields that two or more of `kinds` have, and a section with the other fields of each.
  private static func sections(of kinds: [ObjectShape], named name: String) -> [String] {
    var counts: [String: Int] = [:]
    for row in kinds.flatMap(\.fields).map(entry) { counts[row, default: 0] += 1 }
    var shared: [WorldField] = []
    for field in kinds.flatMap(\.fields) where counts[entry(field), default: 0] > 1 {
      if !shared.contains(where: { entry($0) == entry(field) }) { shared.append(field) }
    }
    let object = ObjectShape("\(name): shared fields", "fields that several kinds have", shared)
    return [section(object.name, object)] + kinds.map { section("\(name): \($0.name)", $0, sharing: object) }
  }

  /// Returns the heading of an object, a reference to its fields that are in the list of `other`, and the list of its
  /// other fields.
  private static func section(_ title: String, _ object: ObjectShape, sharing other: ObjectShape? = nil) -> String {
    let known = Set((other?.fields ?? []).map(entry))
    let shared = object.fields.filter { known.contains(entry($0)) }
    let own = object.fields.filter { !known.contains(entry($0)) }
    var lines = ["### \(title)", "", object.meaning.prefix(1).uppercased() + object.meaning.dropFirst() + ".", ""]
    if let other, !shared.isEmpty {
      let names = shared.map { "`\($0.name)`" }.joined(separator: ", ")
      let anchor = other.name.lowercased().filter { $0 != ":" }.replacing(" ", with: "-")
      lines += wrapped("As in [\(other.name)](#\(anchor)): \(names).") + [""]
    }
    if !own.isEmpty { lines += own.flatMap { wrapped(entry($0), indent: "  ") } + [""] }
    return lines.joined(separator: "\n")
  }

  private static func entry(_ field: WorldField) -> String {
    "- `\(field.name)`: \(field.meaning) (\(value(field.shape)); \(field.standard ?? "*required*"))"
  }

  /// Returns the lines of a paragraph or of an item of a list, of 100 characters at most.
  private static func wrapped(_ text: String, indent: String = "") -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= 100 {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append((lines.isEmpty ? "" : indent) + word)
      }
    }
    return lines
  }

  /// Returns the value in words. The schema has the lengths of texts, lists and octets.
  private static func value(_ shape: FieldShape) -> String {
    switch shape {
    case .flag: "`true`, `false`"
    case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .seed: "unsigned 64-bit integer"
    case .number(let range): "\(range.lowerBound.short) to \(range.upperBound.short)"
    case .text: "text"
    case .choice(let words): words.map { "`\($0)`" }.joined(separator: ", ")
    case .uuid: "UUID"
    case .uuid128: "128-bit UUID"
    case .address: "`C0:FF:EE:00:00:01`"
    case .dateTime: "`2024-02-29T08:30:00`"
    case .octets: "octets"
    case .hexadecimal: "octets"
    case .protocolNumber(let bits): "\(bits) bits"
    case .position: "position"
    case .list(let element, let count):
      count.lowerBound == count.upperBound
        ? "list of \(count.lowerBound): \(value(element))"
        : "list of \(value(element))"
    case .object(let object): link(object)
    case .word(let words, let object): words.map { "`\($0)`" }.joined(separator: ", ") + ", or \(link(object))"
    case .kinds(let kinds): "one of " + kinds.map { "`\($0.name)`" }.joined(separator: ", ")
    }
  }

  private static func link(_ object: ObjectShape) -> String { "[\(object.name)](#\(object.name.lowercased()))" }
}
