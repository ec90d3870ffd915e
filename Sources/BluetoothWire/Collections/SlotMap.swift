/// A reference to a value in a `SlotMap`. It never identifies a later value in the same slot.
@usableFromInline package struct SlotKey: Hashable, Sendable {
  /// The index of the slot, from 0.
  @usableFromInline package let index: UInt32
  /// The number of values that the slot has had before this one, modulo 2³².
  @usableFromInline package let generation: UInt32

  @inlinable package init(index: UInt32, generation: UInt32) {
    self.index = index
    self.generation = generation
  }

  /// Creates the key from its `rawValue`.
  @inlinable package init(rawValue: UInt64) {
    self.init(index: UInt32(truncatingIfNeeded: rawValue), generation: UInt32(truncatingIfNeeded: rawValue >> 32))
  }

  /// The key as one number: the index in the lower half, the generation in the upper half.
  @inlinable package var rawValue: UInt64 { UInt64(generation) << 32 | UInt64(index) }

  // Both halves at once: keys are parts of dictionary keys on hot paths.
  @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

/// A table of values in numbered slots. An insertion uses the lowest vacant slot, so that the table stays dense and its
/// order depends only on the order of the calls. Each slot has a generation number, which distinguishes the key of a
/// removed value from the key of the next value in the same slot.
///
/// Inlinable, so that each module gets code that is specialized for its values: every GATT request inserts and removes
/// one.
@usableFromInline package struct SlotMap<Value> {
  /// The values by slot; nil if the slot is vacant. Code that runs for each packet reads single properties here, after
  /// `index(of:)`, because the subscript copies the whole value.
  @usableFromInline package internal(set) var values: [Value?] = []
  /// The number of values.
  @usableFromInline package internal(set) var count = 0
  @usableFromInline var generations: [UInt32] = []
  /// The vacant slots, one bit for each slot.
  @usableFromInline var vacancies: [UInt64] = []
  /// The first word of `vacancies` that may have a bit set.
  @usableFromInline var firstVacancy = 0

  @inlinable package init() {}

  @inlinable package var isEmpty: Bool { count == 0 }

  /// Stores `value` in the lowest vacant slot and returns its key.
  @inlinable package mutating func insert(_ value: Value) -> SlotKey {
    let index = takeVacancy()
    values[index] = value
    count += 1
    return SlotKey(index: UInt32(truncatingIfNeeded: index), generation: generations[index])
  }

  /// Stores `value` under a key that another table has assigned, for a table with the same keys as that table. Replaces
  /// the value in the key's slot.
  @inlinable package mutating func place(_ value: Value, at key: SlotKey) {
    let index = Int(key.index)
    while values.count <= index { addSlot() }
    if values[index] == nil { count += 1 }
    values[index] = value
    generations[index] = key.generation
    vacancies[index >> 6] &= ~(1 << UInt64(index & 63))
  }

  /// Returns the slot's index; nil: the value of this key has been removed.
  @inlinable package func index(of key: SlotKey) -> Int? {
    let index = Int(key.index)
    guard index < values.count, generations[index] == key.generation, values[index] != nil else { return nil }
    return index
  }

  /// Returns the key of the value at `index`; nil: the slot is vacant.
  @inlinable package func key(at index: Int) -> SlotKey? {
    guard values[index] != nil else { return nil }
    return SlotKey(index: UInt32(truncatingIfNeeded: index), generation: generations[index])
  }

  /// A copy of the value of `key`; nil: it has been removed.
  @inlinable package subscript(key: SlotKey) -> Value? {
    guard let index = index(of: key) else { return nil }
    return values[index]
  }

  /// Changes the value of `key` in place. Returns nil if it has been removed.
  @discardableResult
  @inlinable package mutating func update<Result>(_ key: SlotKey, _ body: (inout Value) -> Result) -> Result? {
    guard let index = index(of: key), var value = values[index].take() else { return nil }
    defer { values[index] = value }
    return body(&value)
  }

  /// Removes and returns the value of `key`; nil: it has been removed before.
  @inlinable package mutating func remove(_ key: SlotKey) -> Value? {
    guard let index = index(of: key) else { return nil }
    return remove(at: index)
  }

  /// Removes and returns the value at `index`; nil: the slot is vacant.
  @inlinable package mutating func remove(at index: Int) -> Value? {
    guard let value = values[index].take() else { return nil }
    generations[index] &+= 1
    count -= 1
    vacancies[index >> 6] |= 1 << UInt64(index & 63)
    firstVacancy = min(firstVacancy, index >> 6)
    return value
  }

  /// Removes all values. Their keys stay invalid.
  @inlinable package mutating func removeAll() {
    for index in values.indices { _ = remove(at: index) }
  }
  /// Takes the lowest vacant slot out of `vacancies`, or adds a slot, and returns its index.
  @inlinable mutating func takeVacancy() -> Int {
    while firstVacancy < vacancies.count {
      let word = vacancies[firstVacancy]
      if word != 0 {
        vacancies[firstVacancy] = word & (word - 1)
        return (firstVacancy << 6) + word.trailingZeroBitCount
      }
      firstVacancy += 1
    }
    let index = values.count
    addSlot()
    vacancies[index >> 6] &= ~(1 << UInt64(index & 63))
    return index
  }

  /// Adds a vacant slot.
  @inlinable mutating func addSlot() {
    let index = values.count
    values.append(nil)
    generations.append(0)
    if index & 63 == 0 { vacancies.append(0) }
    vacancies[index >> 6] |= 1 << UInt64(index & 63)
  }
}

extension SlotMap: Sendable where Value: Sendable {}
