/// The type and range of a field's value, from which the reader, the JSON Schema and the documentation are derived.
indirect enum FieldShape: Sendable {
  /// `true` or `false`.
  case flag
  case integer(ClosedRange<Int>)
  /// An unsigned integer of 64 bits.
  case seed
  case number(ClosedRange<Double>)
  /// Text whose UTF-8 has this number of octets.
  case text(ClosedRange<Int>)
  /// One of these words.
  case choice([String])
  /// A UUID of 16, 32 or 128 bits, with or without quotes.
  case uuid
  /// A UUID of 128 bits.
  case uuid128
  /// A device address: six octets, the most significant first, with colons.
  case address
  /// A date from 1970 on and a time, such as 2024-02-29T08:30:00.
  case dateTime
  /// Octets of this number, as pairs of hexadecimal digits or as a list of numbers.
  case octets(ClosedRange<Int>)
  /// Octets of this number, as hexadecimal digits only: the form of fault plans.
  case hexadecimal(ClosedRange<Int>)
  /// A protocol number of this many bits: decimal, or hexadecimal such as "0x1B"; or "any".
  case protocolNumber(bits: Int)
  /// A position: [x, y] or [x, y, z] in metres.
  case position
  case list(FieldShape, count: ClosedRange<Int>)
  case object(ObjectShape)
  /// An object of one of several kinds, given by its field `kind`. For a kind without required fields, the name alone
  /// is enough.
  case kinds([ObjectShape])
  /// One of these words, or an object.
  case word([String], or: ObjectShape)
}

/// A field of an object of a world file.
struct WorldField: Sendable {
  let name: String
  let shape: FieldShape
  /// The meaning of the field, with its unit.
  let meaning: String
  /// The default in words; nil for a required field.
  let standard: String?
  /// An example other than the default, as JSON.
  let example: String

  /// Creates an optional field.
  init(_ name: String, _ shape: FieldShape, _ meaning: String, else standard: String, example: String) {
    self.init(name: name, shape: shape, meaning: meaning, standard: standard, example: example)
  }

  /// Creates a required field.
  init(required name: String, _ shape: FieldShape, _ meaning: String, example: String) {
    self.init(name: name, shape: shape, meaning: meaning, standard: nil, example: example)
  }

  private init(name: String, shape: FieldShape, meaning: String, standard: String?, example: String) {
    (self.name, self.shape, self.meaning, self.standard, self.example) = (name, shape, meaning, standard, example)
  }

  var isRequired: Bool { standard == nil }
}

/// An object of a world file.
struct ObjectShape: Sendable {
  /// The name of the object type; for a kind of `FieldShape.kinds`, the value of its field `kind`.
  let name: String
  let meaning: String
  let fields: [WorldField]
  /// Groups of fields of which an object may have at most one.
  let exclusive: [[String]]

  init(_ name: String, _ meaning: String, _ fields: [WorldField], exclusive: [[String]] = []) {
    (self.name, self.meaning, self.fields, self.exclusive) = (name, meaning, fields, exclusive)
  }

  func field(_ name: String) -> WorldField? { fields.first { $0.name == name } }
  var needsNothing: Bool { !fields.contains { $0.isRequired } }
}

extension FieldShape {
  /// The description of the expected value in error messages.
  var expectation: String {
    switch self {
    case .flag: "true or false"
    case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .seed: "a whole number from 0 to \(UInt64.max)"
    case .number(let range): "a number from \(range.lowerBound.short) to \(range.upperBound.short)"
    case .text(let range):
      range.upperBound == .max
        ? "text"
        : "text of \(range.lowerBound) to \(range.upperBound) octets (in quotes if it looks like something else)"
    case .choice(let words): words.alternatives
    case .uuid: "a UUID of 4, 8 or 32 hexadecimal digits"
    case .uuid128: "a UUID of 32 hexadecimal digits with hyphens"
    case .address: "a device address such as \"C0:FF:EE:00:00:01\""
    case .dateTime: "a date from 1970 on and a time, such as \"2024-02-29T08:30:00\""
    case .octets(let range):
      "\(range.lowerBound) to \(range.upperBound) octets, as pairs of hexadecimal digits or as a list of numbers"
    case .hexadecimal(let range): "\(range.lowerBound) to \(range.upperBound) pairs of hexadecimal digits"
    case .protocolNumber(let bits): "a number of \(bits) bits such as 27 or \"0x1B\", or \"any\""
    case .position: "[x, y] or [x, y, z] in metres, each -1000000 to 1000000"
    case .list(_, let count):
      count.lowerBound == count.upperBound ? "a list of \(count.lowerBound) values" : "a list"
    case .object(let shape): "an object: \(shape.meaning)"
    case .kinds(let shapes): shapes.map(\.name).alternatives + ", or an object with the field \"kind\""
    case .word(let words, _): words.alternatives + ", or an object"
    }
  }
}

extension [String] {
  /// The words in quotes, joined as "a", "b" or "c".
  fileprivate var alternatives: String {
    let quoted = map { "\"\($0)\"" }
    guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "" }
    return quoted.dropLast().joined(separator: ", ") + " or " + last
  }
}

extension Double {
  /// The shortest text, without a fraction for a whole number.
  var short: String { self == rounded() && abs(self) < 1e15 ? String(Int64(self)) : "\(self)" }
}
