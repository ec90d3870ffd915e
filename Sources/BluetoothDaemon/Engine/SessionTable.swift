/// The open sessions of one kind, with the daemon's state of each.
struct SessionTable<Slot: SessionSlot, Entry> {
  private(set) var entries: [Entry?] = []

  /// Stores `entry` in a free slot and returns the slot.
  mutating func insert(_ entry: Entry) -> Slot {
    if let index = entries.firstIndex(where: { $0 == nil }) {
      entries[index] = entry
      return Slot(index: index)
    }
    entries.append(entry)
    return Slot(index: entries.count - 1)
  }

  mutating func remove(_ slot: Slot) { entries[slot.index] = nil }

  /// All slots in order, occupied or free.
  var slots: some Sequence<Slot> { entries.indices.lazy.map { Slot(index: $0) } }

  /// The entry in `slot`. On hot paths read `entries[slot.index]` instead, which copies nothing.
  subscript(slot: Slot) -> Entry? {
    get { entries[slot.index] }
    _modify { yield &entries[slot.index] }
  }
}
