import BluetoothWire

/// The next instant of each of a growing number of slots, and the earliest of them all.
///
/// What is due soon, such as the end of a packet, stands in a small heap of its own: most of what happens has to do with that
/// one, however many devices wait for their next event in the other.
struct TimerQueue {
  typealias Entry = TimerHeap.Entry

  /// What is due within this time of the latest event is due soon: the longest packet with the pause behind it.
  private static let reach = TimeSpan.milliseconds(3)

  private var soon = TimerHeap()
  private var later = TimerHeap()
  private var horizon = Instant.zero + reach

  /// A new slot; slots of a lower `rank` come first at one instant.
  mutating func addSlot(rank: UInt8) -> Int {
    _ = soon.addSlot(rank: rank)
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
    if let instant, instant <= horizon {
      later.set(slot, to: nil)
      soon.set(slot, to: instant)
    } else {
      soon.set(slot, to: nil)
      later.set(slot, to: instant)
    }
  }
}
