import BluetoothWire

/// A priority queue of timers in two heaps (see `TimerHeap`): `soon` for instants in the near future, such as the end
/// of a packet, and `later` for all others. Most operations concern the small heap `soon` only, however many devices
/// wait in `later` for their next event.
struct TimerQueue {
  typealias Entry = TimerHeap.Entry

  /// The length of the near future after the latest event: longer than the longest packet on LE 1M (2.12 ms) and the
  /// inter frame space after it. The end of a longer packet on LE Coded waits in `later`.
  private static let reach = TimeSpan.milliseconds(3)

  private enum Location: UInt8 {
    case none, soon, later
  }

  private var soon = TimerHeap()
  private var later = TimerHeap()
  /// The heap of each slot, so that only that heap is searched.
  private var locations: ContiguousArray<Location> = []
  /// The end of the near future. It never moves back, so an entry need not move from `soon` to `later`.
  private var horizon = Instant.zero + reach

  /// Adds a slot. At the same instant, slots of a lower `rank` come first.
  mutating func addSlot(rank: UInt8) -> Int {
    _ = soon.addSlot(rank: rank)
    locations.append(.none)
    return later.addSlot(rank: rank)
  }

  /// The first entry that is due; nil if there is none. Declared `mutating` because it closes gaps; the content does
  /// not change.
  var earliest: Entry? {
    mutating get {
      guard let first = soon.earliest else { return note(later.earliest) }
      guard let other = later.earliest, other.precedes(first) else { return note(first) }
      return note(other)
    }
  }

  /// Moves the horizon to `reach` after `entry`, and returns `entry`.
  private mutating func note(_ entry: Entry?) -> Entry? {
    if let entry { horizon = max(horizon, entry.instant + Self.reach) }
    return entry
  }

  /// Sets the instant at which `slot` is due; nil clears it.
  mutating func set(_ slot: Int, to instant: Instant?) {
    let location = locations[slot]
    guard let instant else {
      if location != .none { clear(slot, in: location) }
      return
    }
    let newLocation = instant <= horizon ? Location.soon : .later
    if location != newLocation {
      if location != .none { clear(slot, in: location) }
      locations[slot] = newLocation
    }
    if newLocation == .soon { soon.set(slot, to: instant) } else { later.set(slot, to: instant) }
  }

  private mutating func clear(_ slot: Int, in location: Location) {
    if location == .soon { soon.clear(slot) } else { later.clear(slot) }
    locations[slot] = .none
  }
}
