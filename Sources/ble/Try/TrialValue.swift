import BluetoothAir
import BluetoothDissection
import BluetoothProfiles

/// A value that a step of a trial has read or received.
struct TrialValue: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringInterpolation {
  /// The value in words, with units.
  let description: String
  /// The fields of the value with their numbers; empty if the value has only words.
  let fields: [ValueField]

  init(_ text: String, fields: [ValueField]) { (description, self.fields) = (text, fields) }

  init(_ text: String) { self.init(text, fields: []) }

  init(stringLiteral text: String) { self.init(text, fields: []) }

  /// Creates the value that a client of a profile has returned.
  init(_ value: some Sendable) { self.init("\(value)", fields: Self.fields(of: value)) }

  /// Creates the value of an attribute.
  init(_ text: ValueText) { self.init(text.brief, fields: text.fields) }

  private static func fields(of value: some Sendable) -> [ValueField] {
    if let value = value as? any CharacteristicValue { return value.fields }
    // A number, with or without a unit, has no fields of its own.
    guard let value = value as? any CustomStringConvertible else { return [] }
    let field = ValueField("", value)
    return field.number == nil ? [] : [field]
  }

  /// The value as an element of a record: `text`, and the members of its numbers.
  var json: JSONText { .object([("text", .text(description))] + fields.json) }
}
