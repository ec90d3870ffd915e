/// What the value of a field has to be: the one description that the reader, the JSON Schema and the documentation share.
indirect enum FieldShape: Sendable {
  /// true or false.
  case flag
  case integer(ClosedRange<Int>)
  /// Whatever 64 bits hold.
  case seed
  case number(ClosedRange<Double>)
  /// Text of so many octets of UTF-8.
  case text(ClosedRange<Int>)
  /// One of these words.
  case choice([String])
  /// A UUID of 16, 32 or 128 bits, with quotes or without.
  case uuid
  /// A UUID of 128 bits.
  case uuid128
  /// A device address: six octets, the most significant first, with colons.
  case address
  /// So many octets: pairs of hexadecimal digits, or a list of numbers.
  case octets(ClosedRange<Int>)
  /// Hexadecimal digits only, as faults have them.
  case hexadecimal(ClosedRange<Int>)
  /// A number of a protocol, of so many bits: decimal, or hexadecimal such as "0x1B"; or "any".
  case protocolNumber(bits: Int)
  /// [x, y] or [x, y, z] in metres.
  case position
  case list(FieldShape, count: ClosedRange<Int>)
  case object(ObjectShape)
  /// An object of one of several kinds, which its field `kind` names; where a kind needs nothing more, its name alone does.
  case kinds([ObjectShape])
  /// A word, or an object.
  case word([String], or: ObjectShape)
}

/// A field of an object of a world file.
struct WorldField: Sendable {
  let name: String
  let shape: FieldShape
  /// What it means, with its unit.
  let meaning: String
  /// What stands for it when it is left out, in words; nil: it has to be there.
  let standard: String?
  /// A value other than that, as JSON.
  let example: String

  /// A field that may be left out.
  init(_ name: String, _ shape: FieldShape, _ meaning: String, else standard: String, example: String) {
    self.init(name: name, shape: shape, meaning: meaning, standard: standard, example: example)
  }

  /// A field that has to be there.
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
  /// Its name among all objects, and among `FieldShape.kinds` what `kind` has to say.
  let name: String
  let meaning: String
  let fields: [WorldField]
  /// Fields of which an object has one at most.
  let exclusive: [[String]]

  init(_ name: String, _ meaning: String, _ fields: [WorldField], exclusive: [[String]] = []) {
    (self.name, self.meaning, self.fields, self.exclusive) = (name, meaning, fields, exclusive)
  }

  func field(_ name: String) -> WorldField? { fields.first { $0.name == name } }
  var needsNothing: Bool { !fields.contains { $0.isRequired } }
}

extension FieldShape {
  /// What was expected, for somebody who wrote something else.
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
    case .address: "six octets such as \"C0:FF:EE:00:00:01\""
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
  /// "a", "b" or "c".
  fileprivate var alternatives: String {
    let quoted = map { "\"\($0)\"" }
    guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "" }
    return quoted.dropLast().joined(separator: ", ") + " or " + last
  }
}

extension Double {
  /// Without a fraction where there is none.
  var short: String { self == rounded() && abs(self) < 1e15 ? String(Int64(self)) : "\(self)" }
}
