import BluetoothLab
import BluetoothProfiles

/// A reader for the fields of an object that `FieldChecker` has checked. A value that does not fit is nil here; the
/// checker has reported it.
struct ObjectReader {
  let shape: ObjectShape
  let place: TextLocation
  let path: FieldPath
  private let members: [MarkedMember]

  /// Creates a reader; nil if the value is no object.
  init?(_ value: LocatedValue?, _ shape: ObjectShape, at path: FieldPath) {
    guard let value, case .object(let members) = value.content else { return nil }
    (self.shape, place, self.path, self.members) = (shape, value.place, path, members)
  }

  /// Creates a reader for an object of one of several kinds, or for the name of a kind; nil if the value is neither.
  init?(_ value: LocatedValue?, kinds: [ObjectShape], at path: FieldPath) {
    guard let value else { return nil }
    var (name, members) = (value.text, [MarkedMember]())
    if case .object(let all) = value.content {
      name = all.first { $0.name == "kind" }?.value.text
      members = all
    }
    guard let shape = kinds.first(where: { $0.name == name }) else { return nil }
    (self.shape, place, self.path, self.members) = (shape, value.place, path, members)
  }

  /// The value of a field, with its place; nil if the field is missing.
  subscript(_ name: String) -> LocatedValue? {
    // Reading a field that the shape does not have is a programming error: the result would always be nil.
    guard shape.field(name) != nil else { fatalError("\(shape.name) has no field \(name)") }
    return members.first { $0.name == name }?.value
  }

  /// The names of the fields present, in the order of the text.
  var names: [String] { members.map(\.name) }
  func has(_ name: String) -> Bool { self[name] != nil }
  func path(_ name: String) -> FieldPath { .field(path, name) }
  func place(_ name: String) -> TextLocation { self[name]?.place ?? place }

  func flag(_ name: String) -> Bool? { self[name]?.flag }
  func number(_ name: String) -> Double? { self[name]?.number }
  func whole<T: FixedWidthInteger>(_ name: String, _ type: T.Type = T.self) -> T? { self[name]?.whole(type) }
  func text(_ name: String) -> String? { self[name]?.text }
  func dateTime(_ name: String) -> DateTime? { self[name]?.dateTime }
  func octets(_ name: String) -> [UInt8]? { self[name]?.octets }
  func uuid(_ name: String) -> BluetoothUUID? { self[name]?.uuid }
  func position(_ name: String) -> Position? { self[name]?.position }
  func word<T>(_ name: String, _ meanings: [String: T]) -> T? { text(name).flatMap { meanings[$0] } }

  /// Returns the meanings of a list of words; nil if the field is missing.
  func words<T>(_ name: String, _ meanings: [String: T]) -> [T]? {
    has(name) ? list(name).compactMap { $0.value.text.flatMap { meanings[$0] } } : nil
  }

  /// Returns the value of a field as a duration, from a number of seconds within the limits.
  func time(_ name: String) -> Duration? {
    number(name).flatMap { WorldLimits.seconds.contains($0) ? .seconds($0) : nil }
  }

  func object(_ name: String, _ shape: ObjectShape) -> ObjectReader? {
    ObjectReader(self[name], shape, at: path(name))
  }

  /// Returns the elements of a list, without those beyond the maximum count.
  func list(_ name: String) -> [(value: LocatedValue, path: FieldPath)] {
    guard case .list(let values)? = self[name]?.content, case .list(_, let count)? = shape.field(name)?.shape else {
      return []
    }
    let path = path(name)
    return values.prefix(count.upperBound).enumerated().map { ($0.element, .element(path, $0.offset)) }
  }

  func objects(_ name: String, _ shape: ObjectShape) -> [ObjectReader] {
    list(name).compactMap { ObjectReader($0.value, shape, at: $0.path) }
  }
}
