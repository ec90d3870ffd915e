import BluetoothWire

/// The next instant of each of a growing number of slots, and the earliest of them all.
///
/// What is due soon, such as the end of a packet, stands in a small heap of its own: most of what happens has to do with that
/// one, however many devices wait for their next event in the other.
struct TimerQueue {
  typealias Entry = TimerHeap.Entry

  /// What is due within this time of the latest event is due soon: the longest packet with the pause behind it.
  private static let reach = TimeSpan.milliseconds(3)

  private enum Place: UInt8 {
    case nowhere, soon, later
  }

  private var soon = TimerHeap()
  private var later = TimerHeap()
  /// Where each slot is: one heap need not be asked for what the other one has.
  private var places: ContiguousArray<Place> = []
  private var horizon = Instant.zero + reach

  /// A new slot; slots of a lower `rank` come first at one instant.
  mutating func addSlot(rank: UInt8) -> Int {
    _ = soon.addSlot(rank: rank)
    places.append(.nowhere)
    return later.addSlot(rank: rank)
  }

  /// What is due first; nil: nothing is. It changes nothing that can be seen: `mutating` has it close gaps.
  var earliest: Entry? {
    mutating get {
      guard let first = soon.earliest else { return note(later.earliest) }
      guard let other = later.earliest, other.precedes(first) else { return note(first) }
      return note(other)
    }
  }

  private mutating func note(_ entry: Entry?) -> Entry? {
    if let entry { horizon = max(horizon, entry.instant + Self.reach) }
    return entry
  }

  /// When `slot` is due; nil: not at all.
  mutating func set(_ slot: Int, to instant: Instant?) {
    let place = places[slot]
    guard let instant else {
      if place != .nowhere { clear(slot, in: place) }
      return
    }
    let newPlace = instant <= horizon ? Place.soon : .later
    if place != newPlace {
      if place != .nowhere { clear(slot, in: place) }
      places[slot] = newPlace
    }
    if newPlace == .soon { soon.set(slot, to: instant) } else { later.set(slot, to: instant) }
  }

  private mutating func clear(_ slot: Int, in place: Place) {
    if place == .soon { soon.clear(slot) } else { later.clear(slot) }
    places[slot] = .nowhere
  }
}
