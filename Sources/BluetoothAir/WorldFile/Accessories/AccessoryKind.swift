import BluetoothLab
import BluetoothProfiles

/// A kind of accessory in world files: its fields, and the accessory that an object with such fields describes.
struct AccessoryKind: Sendable {
  let shape: ObjectShape
  /// Returns the accessory of an object that `FieldChecker` has checked.
  let read: @Sendable (ObjectReader, inout AccessoryReader) -> any Accessory

  /// Creates a kind whose object is read as a whole.
  init(_ shape: ObjectShape, read: @escaping @Sendable (ObjectReader, inout AccessoryReader) -> any Accessory) {
    (self.shape, self.read) = (shape, read)
  }

  /// Creates a kind with a local name and further fields.
  ///
  /// - Parameters:
  ///   - make: returns the accessory with this local name.
  ///   - fields: the fields, in the order in which they are read.
  init<A: Accessory>(
    _ name: String, _ meaning: String, _ make: @escaping @Sendable (String, ObjectReader) -> A,
    _ fields: [AccessoryField<A>]
  ) {
    let localName = WorldField(
      "localName", .text(WorldLimits.name), "The local name in advertising", else: "`gapName` or `name`",
      example: #""Acme""#)
    shape = ObjectShape(name, meaning, [localName] + fields.map(\.field))
    read = { object, reader in
      var accessory = make(reader.localName(object), object)
      for field in fields { field.read(&accessory, object, &reader) }
      return accessory
    }
  }
}

/// A field of a kind of accessory, and its effect on the accessory.
struct AccessoryField<A: Accessory>: Sendable {
  typealias Reading = @Sendable (inout A, ObjectReader, inout AccessoryReader) -> Void

  let field: WorldField
  /// Reads the field, if the object has it.
  let read: Reading
}

// The property or the function that takes the value of a field.
extension WorldField {
  func set<A>(_ read: @escaping AccessoryField<A>.Reading) -> AccessoryField<A> {
    AccessoryField(field: self, read: read)
  }

  /// The function that makes the accessory reads the field.
  func atCreation<A>() -> AccessoryField<A> { set { _, _, _ in } }

  func flag<A>(_ property: WritableKeyPath<A, Bool> & Sendable) -> AccessoryField<A> {
    set { [name] accessory, object, _ in if let value = object.flag(name) { accessory[keyPath: property] = value } }
  }

  func whole<A, Value: FixedWidthInteger & Sendable>(
    _ property: WritableKeyPath<A, Value> & Sendable
  ) -> AccessoryField<A> {
    set { [name] accessory, object, _ in
      if let value: Value = object.whole(name) { accessory[keyPath: property] = value }
    }
  }

  func number<A>(_ property: WritableKeyPath<A, Double> & Sendable) -> AccessoryField<A> {
    set { [name] accessory, object, _ in if let value = object.number(name) { accessory[keyPath: property] = value } }
  }

  /// The property takes a time in seconds.
  func time<A>(_ property: WritableKeyPath<A, Duration> & Sendable) -> AccessoryField<A> {
    set { [name] accessory, object, _ in if let value = object.time(name) { accessory[keyPath: property] = value } }
  }

  func text<A>(_ property: WritableKeyPath<A, String> & Sendable) -> AccessoryField<A> {
    set { [name] accessory, object, _ in if let value = object.text(name) { accessory[keyPath: property] = value } }
  }

  func date<A>(_ property: WritableKeyPath<A, DateTime?> & Sendable) -> AccessoryField<A> {
    set { [name] accessory, object, _ in
      if let value = object.dateTime(name) { accessory[keyPath: property] = value }
    }
  }

  /// The property takes the meaning of a word.
  func word<A, Value: Sendable>(
    _ property: WritableKeyPath<A, Value> & Sendable, _ meanings: [String: Value]
  ) -> AccessoryField<A> {
    set { [name] accessory, object, _ in
      if let value = object.word(name, meanings) { accessory[keyPath: property] = value }
    }
  }
}
