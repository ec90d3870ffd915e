import BluetoothWire

/// Values that have a row each: the messages of a group, or the cases of an enumeration.
protocol RowGroup: Sendable {
  static var table: RowTable<Self> { get }
  /// Writes the number of a row.
  static func begin(_ number: UInt16, _ writer: inout MessageWriter)
}

/// A row: number, name and meaning of a message, or of a case of an enumeration, the function that makes it of its
/// fields, and the names of the fields. The types of the fields are those of the function's parameters.
///
/// Encoder, decoder and page read nothing else. The number is part of the protocol: it never changes.
struct MessageRow<Value: RowGroup, Fields>: TypedRow {
  let number: UInt16
  private let definition: RowDefinition<Value>
  var anyDefinition: AnyObject { definition }

  private init(_ definition: RowDefinition<Value>) {
    number = definition.number
    self.definition = definition
  }
}

/// The parts of a row that do not depend on the types of its fields.
final class RowDefinition<Value: Sendable>: Sendable {
  let number: UInt16
  let name: StaticString
  let meaning: StaticString
  /// Reads the fields.
  let decode: @Sendable (inout MessageReader) throws(DecodingError) -> Value
  private let fields: @Sendable (inout TypeList) -> [FieldWords]

  init(
    _ number: UInt16, _ name: StaticString, _ meaning: StaticString,
    decode: @escaping @Sendable (inout MessageReader) throws(DecodingError) -> Value,
    fields: @escaping @Sendable (inout TypeList) -> [FieldWords]
  ) {
    self.number = number
    self.name = name
    self.meaning = meaning
    self.decode = decode
    self.fields = fields
  }

  /// The row in words.
  func words(_ types: inout TypeList) -> NumberedWords {
    NumberedWords(number: number, name: "\(name)", meaning: "\(meaning)", fields: fields(&types))
  }
}

/// A row, whatever its fields are.
protocol TypedRow {
  /// The `RowDefinition`.
  var anyDefinition: AnyObject { get }
}

/// The rows of a group by number.
struct RowTable<Value: Sendable>: Sendable {
  /// The rows in the order of the source.
  let rows: [RowDefinition<Value>]
  private let first: Int
  /// The rows by number, from the first one on.
  private let places: [RowDefinition<Value>?]

  /// Creates the table of the rows that are the properties of `list`.
  init(of list: Any) {
    rows = Mirror(reflecting: list).children.compactMap { child in
      (child.value as? any TypedRow)?.anyDefinition as? RowDefinition<Value>
    }
    let numbers = rows.map { Int($0.number) }
    first = numbers.min() ?? 0
    var places = [RowDefinition<Value>?](repeating: nil, count: (numbers.max() ?? 0) - first + 1)
    for row in rows {
      precondition(places[Int(row.number) - first] == nil, "two rows have the number \(row.number)")
      places[Int(row.number) - first] = row
    }
    self.places = places
  }

  subscript(number: UInt16) -> RowDefinition<Value>? {
    let place = Int(number) - first
    return places.indices.contains(place) ? places[place] : nil
  }
}

// MARK: Rows by their number of fields

// Functions for each number of fields in place of one with a parameter pack: the compiler does not specialize the fields
// of a pack.

extension MessageRow where Fields == Void {
  init(_ number: UInt16, _ name: StaticString, _ meaning: StaticString, _ value: Value) {
    self.init(RowDefinition(number, name, meaning, decode: { _ in value }, fields: { _ in [] }))
  }

  @inline(__always) func encode(into writer: inout MessageWriter) { Value.begin(number, &writer) }
}

extension MessageRow where Fields: MessageField {
  @inline(__always)
  init(
    _ number: UInt16, _ name: StaticString, _ meaning: StaticString, _ make: @escaping @Sendable (Fields) -> Value,
    _ field: StaticString
  ) {
    self.init(
      RowDefinition(number, name, meaning) { reader throws(DecodingError) in
        make(try Fields(from: &reader))
      } fields: {
        [FieldWords(name: "\(field)", type: Fields.words(&$0))]
      })
  }

  @inline(__always)
  func encode(_ field: Fields, into writer: inout MessageWriter) {
    Value.begin(number, &writer)
    field.encode(into: &writer)
  }
}

extension MessageRow {

  @inline(__always)
  init<A: MessageField, B: MessageField>(
    _ number: UInt16, _ name: StaticString, _ meaning: StaticString, _ make: @escaping @Sendable (A, B) -> Value,
    _ a: StaticString, _ b: StaticString
  ) where Fields == (A, B) {
    self.init(
      RowDefinition(number, name, meaning) { reader throws(DecodingError) in
        let a = try A(from: &reader)
        return make(a, try B(from: &reader))
      } fields: {
        [FieldWords(name: "\(a)", type: A.words(&$0)), FieldWords(name: "\(b)", type: B.words(&$0))]
      })
  }

  @inline(__always)
  func encode<A: MessageField, B: MessageField>(
    _ a: A, _ b: B, into writer: inout MessageWriter
  ) where Fields == (A, B) {
    Value.begin(number, &writer)
    a.encode(into: &writer)
    b.encode(into: &writer)
  }

  @inline(__always)
  init<A: MessageField, B: MessageField, C: MessageField>(
    _ number: UInt16, _ name: StaticString, _ meaning: StaticString, _ make: @escaping @Sendable (A, B, C) -> Value,
    _ a: StaticString, _ b: StaticString, _ c: StaticString
  ) where Fields == (A, B, C) {
    self.init(
      RowDefinition(number, name, meaning) { reader throws(DecodingError) in
        let a = try A(from: &reader)
        let b = try B(from: &reader)
        return make(a, b, try C(from: &reader))
      } fields: {
        [
          FieldWords(name: "\(a)", type: A.words(&$0)), FieldWords(name: "\(b)", type: B.words(&$0)),
          FieldWords(name: "\(c)", type: C.words(&$0)),
        ]
      })
  }

  @inline(__always)
  func encode<A: MessageField, B: MessageField, C: MessageField>(
    _ a: A, _ b: B, _ c: C, into writer: inout MessageWriter
  ) where Fields == (A, B, C) {
    Value.begin(number, &writer)
    a.encode(into: &writer)
    b.encode(into: &writer)
    c.encode(into: &writer)
  }

  @inline(__always)
  init<A: MessageField, B: MessageField, C: MessageField, D: MessageField>(
    _ number: UInt16, _ name: StaticString, _ meaning: StaticString, _ make: @escaping @Sendable (A, B, C, D) -> Value,
    _ a: StaticString, _ b: StaticString, _ c: StaticString, _ d: StaticString
  ) where Fields == (A, B, C, D) {
    self.init(
      RowDefinition(number, name, meaning) { reader throws(DecodingError) in
        let a = try A(from: &reader)
        let b = try B(from: &reader)
        let c = try C(from: &reader)
        return make(a, b, c, try D(from: &reader))
      } fields: {
        [
          FieldWords(name: "\(a)", type: A.words(&$0)), FieldWords(name: "\(b)", type: B.words(&$0)),
          FieldWords(name: "\(c)", type: C.words(&$0)), FieldWords(name: "\(d)", type: D.words(&$0)),
        ]
      })
  }

  @inline(__always)
  func encode<A: MessageField, B: MessageField, C: MessageField, D: MessageField>(
    _ a: A, _ b: B, _ c: C, _ d: D, into writer: inout MessageWriter
  ) where Fields == (A, B, C, D) {
    Value.begin(number, &writer)
    a.encode(into: &writer)
    b.encode(into: &writer)
    c.encode(into: &writer)
    d.encode(into: &writer)
  }
}
