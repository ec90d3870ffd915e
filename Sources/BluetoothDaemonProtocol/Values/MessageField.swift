import BluetoothWire

/// A type of the fields of messages: its coding, and the words for it in Documentation/Server-protocol.md.
///
/// The coders call these functions with the concrete type, so that the compiler specializes them: a field costs no
/// existential and no closure.
protocol MessageField: SendableMetatype {
  func encode(into writer: inout MessageWriter)
  init(from reader: inout MessageReader) throws(DecodingError)
  /// Returns the words for the type, and adds it to the list if it has a description of its own.
  static func words(_ types: inout TypeList) -> String
}

/// A structure, whose fields follow one another. `visit` describes it for the writer, the reader and the page.
protocol MessageStructure: MessageField {
  /// A value to which the reader assigns the fields.
  static var blank: Self { get }
  /// Visits the fields in their order.
  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure)
}

extension MessageStructure {
  @inline(__always) func encode(into writer: inout MessageWriter) {
    // The writer changes no field.
    var copy = self
    copy.visit(&writer)
  }

  @inline(__always) init(from reader: inout MessageReader) throws(DecodingError) {
    self = Self.blank
    try visit(&reader)
  }

  static func words(_ types: inout TypeList) -> String {
    types.add(Self.self) { types in
      var list = FieldList(types: types)
      var value = blank
      value.visit(&list)
      types = list.types
      return .structure(list.fields)
    }
  }
}

/// A visitor of the fields of a structure.
protocol FieldVisitor {
  associatedtype Failure: Error
  mutating func field<Field: MessageField>(_ name: StaticString, _ value: inout Field) throws(Failure)
  /// Visits octets with a limit.
  mutating func field<Octets: LimitedOctets>(
    _ name: StaticString, _ value: inout ByteSlice, as type: Octets.Type
  ) throws(Failure)
  /// Refuses a structure whose fields do not fit together.
  mutating func check(_ isValid: Bool, _ field: DecodingError.StaticName) throws(Failure)
}

extension FieldVisitor {
  @inline(__always)
  mutating func field<Octets: LimitedOctets>(
    _ name: StaticString, _ value: inout ByteSlice, as type: Octets.Type
  ) throws(Failure) {
    var limited = Octets(octets: value)
    try field(name, &limited)
    value = limited.octets
  }

  /// Visits the list of a command, which has a limit.
  @inline(__always)
  mutating func limited<Element: MessageField>(_ name: StaticString, _ values: inout [Element]) throws(Failure) {
    var list = CommandList(values)
    try field(name, &list)
    values = list.values
  }

  /// Visits the optional list of a command.
  @inline(__always)
  mutating func limited<Element: MessageField>(_ name: StaticString, _ values: inout [Element]?) throws(Failure) {
    var list = values.map { CommandList($0) }
    try field(name, &list)
    values = list?.values
  }
}

extension MessageWriter: FieldVisitor {
  @inline(__always) mutating func field<Field: MessageField>(_ name: StaticString, _ value: inout Field) {
    value.encode(into: &self)
  }

  @inline(__always)
  mutating func field<Octets: LimitedOctets>(
    _ name: StaticString, _ value: inout ByteSlice, as type: Octets.Type
  ) {
    Octets(octets: value).encode(into: &self)
  }

  @inline(__always) mutating func check(_ isValid: Bool, _ field: DecodingError.StaticName) {}
}

extension MessageReader: FieldVisitor {
  @inline(__always)
  mutating func field<Field: MessageField>(_ name: StaticString, _ value: inout Field) throws(DecodingError) {
    value = try Field(from: &self)
  }

  @inline(__always) mutating func check(_ isValid: Bool, _ field: DecodingError.StaticName) throws(DecodingError) {
    guard isValid else { throw .invalid(field: field) }
  }
}

/// An enumeration without fields, in one octet.
protocol MessageEnumeration: MessageField, Equatable {
  static var cases: [Self] { get }
  /// The number of the case, which never changes. A new case does not compile without one.
  var number: UInt8 { get }
}

extension MessageEnumeration {
  func encode(into writer: inout MessageWriter) { writer.append(number) }

  init(from reader: inout MessageReader) throws(DecodingError) {
    let number = try reader.uint8()
    guard let value = Self.cases.first(where: { $0.number == number }) else { throw .invalid(field: "enumeration") }
    self = value
  }

  static func words(_ types: inout TypeList) -> String {
    types.add(Self.self) { _ in
      .enumeration(cases.map { NumberedWords(number: UInt16($0.number), name: "\($0)", meaning: "", fields: []) })
    }
  }
}

extension MessageEnumeration where Self: RawRepresentable<UInt8> {
  var number: UInt8 { rawValue }
}

/// An enumeration whose cases can have fields: the number of the case in one octet, then its fields. Each case is a row.
protocol MessageChoice: MessageField, RowGroup {}

extension MessageChoice {
  static func begin(_ number: UInt16, _ writer: inout MessageWriter) {
    writer.append(UInt8(truncatingIfNeeded: number))
  }

  init(from reader: inout MessageReader) throws(DecodingError) {
    guard let row = Self.table[UInt16(try reader.uint8())] else { throw .invalid(field: "enumeration") }
    self = try row.decode(&reader)
  }

  static func words(_ types: inout TypeList) -> String {
    types.add(Self.self) { types in .enumeration(table.rows.map { $0.words(&types) }) }
  }
}

// MARK: The words of the page

/// The name of a field, and the words for its type.
struct FieldWords: Hashable {
  let name: String
  let type: String
}

/// A message, or the case of an enumeration, in words.
struct NumberedWords: Hashable {
  let number: UInt16
  let name: String
  let meaning: String
  let fields: [FieldWords]
}

/// The structures and enumerations to which fields refer, in words.
struct TypeList {
  enum Description {
    case structure([FieldWords])
    case enumeration([NumberedWords])
  }

  private(set) var types: [String: Description] = [:]

  /// Returns the name of a type, and adds the type unless the list has it.
  mutating func add(_ type: Any.Type, _ description: (inout TypeList) -> Description) -> String {
    let name = String(reflecting: type).replacing(/\bBluetooth\w+\.|\bSwift\./, with: "")
    if types[name] == nil {
      // A type that refers to itself would have no end.
      types[name] = .structure([])
      types[name] = description(&self)
    }
    return "`\(name)`"
  }
}

/// A visitor that lists the fields in words.
struct FieldList: FieldVisitor {
  var types: TypeList
  private(set) var fields: [FieldWords] = []

  init(types: TypeList) { self.types = types }

  mutating func field<Field: MessageField>(_ name: StaticString, _ value: inout Field) {
    fields.append(FieldWords(name: "\(name)", type: Field.words(&types)))
  }

  mutating func check(_ isValid: Bool, _ field: DecodingError.StaticName) {}
}
