import Foundation

@testable import BluetoothAir

/// Validates the part of JSON Schema 2020-12 that the schema of world files uses. An unknown keyword is an error.
struct SchemaValidator {
  private let root: LocatedValue

  init(_ text: String) throws { root = try WorldSyntax.read(text) }

  /// Returns the reasons why `value` does not fit, each with its path; empty if `value` fits.
  func complaints(_ value: LocatedValue) -> [String] { check(value, root, "") }

  private func check(_ value: LocatedValue, _ schema: LocatedValue, _ path: String) -> [String] {
    schema.members.flatMap { keyword in check(value, keyword.name, keyword.value, schema, path) }
  }

  private func check(
    _ value: LocatedValue, _ keyword: String, _ rule: LocatedValue, _ schema: LocatedValue, _ path: String
  ) -> [String] {
    func unless(_ fits: Bool, _ reason: String) -> [String] { fits ? [] : ["\(path): \(reason)"] }
    func bound(_ text: String) -> Double { Double(text) ?? .nan }
    switch keyword {
    case "$schema", "title", "description", "examples", "$defs": return []
    case "$ref":
      let parts = (rule.raw ?? "").split(separator: "/").dropFirst().map(String.init)
      guard let target = parts.reduce(root, { $0?[$1] } as (LocatedValue?, String) -> LocatedValue?) else {
        return ["\(path): \(rule.description) leads nowhere"]
      }
      return check(value, target, path)
    case "type":
      let types = rule.elements.isEmpty ? [rule.raw ?? ""] : rule.elements.compactMap(\.raw)
      return unless(types.contains { value.isOfType($0) }, "is no \(types)")
    case "const": return unless(value.text == rule.raw, "is not \(rule.description)")
    case "enum": return unless(rule.elements.contains { $0.raw == value.text }, "is none of the words")
    case "minimum": return unless(value.number.map { $0 >= bound(rule.raw ?? "") } ?? true, "is too small")
    case "maximum": return unless(value.number.map { $0 <= bound(rule.raw ?? "") } ?? true, "is too large")
    case "minLength": return unless(value.text.map { $0.count >= rule.whole() ?? 0 } ?? true, "is too short")
    case "maxLength": return unless(value.text.map { $0.count <= rule.whole() ?? 0 } ?? true, "is too long")
    case "minItems": return unless(value.list.map { $0.count >= rule.whole() ?? 0 } ?? true, "has too few")
    case "maxItems": return unless(value.list.map { $0.count <= rule.whole() ?? 0 } ?? true, "has too many")
    case "pattern":
      guard let text = value.text else { return [] }
      guard let expression = try? Regex(rule.raw ?? "(") else { return ["\(path): the pattern is none"] }
      return unless((try? expression.firstMatch(in: text)) != nil, "does not match")
    case "items":
      return (value.list ?? []).enumerated().flatMap { check($0.element, rule, path + "[\($0.offset)]") }
    case "required":
      guard value.isOfType("object") else { return [] }
      return rule.elements.compactMap(\.raw).flatMap { unless(value[$0] != nil, "has no \($0)") }
    case "properties":
      return value.members.flatMap { member in
        rule[member.name].map { check(member.value, $0, path + ".\(member.name)") } ?? []
      }
    case "additionalProperties":
      return value.members.flatMap { unless(schema["properties"]?[$0.name] != nil, "has \($0.name)") }
    case "anyOf":
      let results = rule.elements.map { check(value, $0, path) }
      if results.contains([]) { return [] }
      return ["\(path): fits none of \(results.count)"]
    case "not": return unless(!check(value, rule, path).isEmpty, "fits what it must not")
    default: return ["\(path): the schema has the keyword \(keyword)"]
    }
  }
}

extension LocatedValue {
  var members: [MarkedMember] { if case .object(let members) = content { members } else { [] } }
  var list: [LocatedValue]? { if case .list(let values) = content { values } else { nil } }
  var elements: [LocatedValue] { list ?? [] }

  subscript(_ name: String) -> LocatedValue? { members.first { $0.name == name }?.value }

  fileprivate func isOfType(_ type: String) -> Bool {
    switch (content, type) {
    case (.object, "object"), (.list, "array"), (.quoted, "string"): true
    case (.plain, "string"): text != nil
    case (.plain, "boolean"): flag != nil
    case (.plain, "number"): number != nil
    case (.plain, "integer"): whole(Int64.self) != nil || whole(UInt64.self) != nil
    default: false
    }
  }
}
