/// The tables of Documentation/World-files.md, generated from the field descriptions that the reader uses.
package enum FieldTables {
  /// The text of all tables: a heading and a table for each object.
  package static var text: String {
    var parts = [section("The file", .world)]
    for object in WorldSchema.definitions {
      parts.append(section(object.name, object))
      if object.name == "environment" { parts += ObjectShape.interferenceKinds.map { section($0, of: "interference") } }
      if object.name == "device" { parts += ObjectShape.accessoryKinds.map { section($0, of: "accessory") } }
    }
    return parts.joined(separator: "\n")
  }

  private static func section(_ kind: ObjectShape, of field: String) -> String {
    section("\(field): \(kind.name)", kind)
  }

  private static func section(_ title: String, _ object: ObjectShape) -> String {
    var lines = [
      "### \(title)", "", object.meaning.prefix(1).uppercased() + object.meaning.dropFirst() + ".", "",
      "| field | value | default | meaning |", "| --- | --- | --- | --- |",
    ]
    for field in object.fields {
      let cells = ["`\(field.name)`", value(field.shape), field.standard ?? "*required*", field.meaning]
      lines.append("| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func value(_ shape: FieldShape) -> String {
    switch shape {
    case .flag: "`true`, `false`"
    case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .seed: "unsigned 64-bit integer"
    case .number(let range): "\(range.lowerBound.short) to \(range.upperBound.short)"
    case .text(let range): "text, \(range.lowerBound) to \(range.upperBound) octets"
    case .choice(let words): words.map { "`\($0)`" }.joined(separator: ", ")
    case .uuid: "UUID"
    case .uuid128: "128-bit UUID"
    case .address: "`C0:FF:EE:00:00:01`"
    case .dateTime: "`2024-02-29T08:30:00`"
    case .octets(let range): "\(range.lowerBound) to \(range.upperBound) octets: `\"0E 48\"`, or `[14, 72]`"
    case .hexadecimal(let range): "\(range.lowerBound) to \(range.upperBound) octets: `\"0E48\"`"
    case .protocolNumber(let bits): "\(bits) bits: `27`, `\"0x1B\"`, or `any`"
    case .position: "`[x, y]`, `[x, y, z]`"
    case .list(let element, let count):
      count.lowerBound == count.upperBound
        ? "list of \(count.lowerBound): \(value(element))"
        : "list of \(count.lowerBound) to \(count.upperBound): \(value(element))"
    case .object(let object): link(object)
    case .word(let words, let object): words.map { "`\($0)`" }.joined(separator: ", ") + ", or \(link(object))"
    case .kinds(let kinds): "one of " + kinds.map { "`\($0.name)`" }.joined(separator: ", ")
    }
  }

  private static func link(_ object: ObjectShape) -> String { "[\(object.name)](#\(object.name.lowercased()))" }
}
