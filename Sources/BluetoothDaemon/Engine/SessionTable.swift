/// The open sessions of one kind and what the service knows of each.
struct SessionTable<Entry> {
  /// The place of a session, given again to another one once it has closed.
  struct Slot: Hashable {
    let index: Int
  }

  private(set) var entries: [Entry?] = []

  /// Puts `entry` in a free place.
  mutating func insert(_ entry: Entry) -> Slot {
    if let index = entries.firstIndex(where: { $0 == nil }) {
      entries[index] = entry
      return Slot(index: index)
    }
    entries.append(entry)
    return Slot(index: entries.count - 1)
  }

  mutating func remove(_ slot: Slot) { entries[slot.index] = nil }

  /// The places, in order, whether they are in use or not.
  var slots: some Sequence<Slot> { entries.indices.lazy.map { Slot(index: $0) } }

  /// For reading on hot paths, `entries[slot.index]` is better: it copies nothing.
  subscript(slot: Slot) -> Entry? {
    get { entries[slot.index] }
    _modify { yield &entries[slot.index] }
  }
}

/// The place of a central manager's session.
typealias CentralSlot = SessionTable<Daemon.Central>.Slot
/// The place of a peripheral manager's session.
typealias PeripheralSlot = SessionTable<PeripheralSession>.Slot
