import BluetoothWire

/// A priority queue of timers. Each timer has a slot, which holds one instant or none. The queue is a four-ary heap
/// with an index from slots to heap positions, so setting a slot again moves its entry instead of leaving a stale one.
///
/// Setting and clearing cost O(log n); the earliest entry is found in O(1). Slots that are due at the same instant come
/// in the order of their rank, then of their number, so that a run is reproducible.
///
/// Clearing an entry leaves a gap, which the next entry takes. Usually one slot is cleared and another slot is set soon
/// after, so one pass through the heap serves both.
struct TimerHeap {
  struct Entry: Equatable {
    /// The instant, the rank and the slot in one number, so that one comparison covers all three.
    private let key: Int128

    init(_ instant: Instant, rank: UInt8, slot: Int) {
      key = Int128(instant.nanoseconds) << 64 | Int128(UInt64(rank) << 32 | UInt64(slot))
    }

    private init(key: Int128) { self.key = key }

    var instant: Instant { Instant(nanoseconds: Int64(truncatingIfNeeded: key >> 64)) }
    var slot: Int { Int(UInt32(truncatingIfNeeded: key)) }

    /// The smallest entry after this one.
    var successor: Entry { Entry(key: key + 1) }

    func precedes(_ other: Entry) -> Bool { key < other.key }
  }

  private var heap: ContiguousArray<Entry> = []
  /// The index of the cleared entry that is still in the heap; −1 if there is none.
  private var gap = -1
  /// The heap index of each slot's entry; −1 if the slot has none.
  private var positions: ContiguousArray<Int32> = []
  private var ranks: ContiguousArray<UInt8> = []

  /// Adds a slot. At the same instant, slots of a lower `rank` come first.
  mutating func addSlot(rank: UInt8) -> Int {
    positions.append(-1)
    ranks.append(rank)
    return positions.count - 1
  }

  /// The first entry that is due; nil if there is none. Declared `mutating` because it closes the gap; the content does
  /// not change.
  var earliest: Entry? {
    mutating get {
      closeGap()
      return heap.first
    }
  }

  /// Clears the entry of `slot`, which must have one.
  mutating func clear(_ slot: Int) {
    closeGap()
    gap = Int(positions[slot])
    positions[slot] = -1
  }

  /// Sets the instant at which `slot` is due.
  mutating func set(_ slot: Int, to instant: Instant) {
    let position = Int(positions[slot])
    let entry = Entry(instant, rank: ranks[slot], slot: slot)
    if position >= 0 {
      guard heap[position].instant != instant else { return }
      closeGap()
      move(entry, to: Int(positions[slot]))
    } else if gap >= 0 {
      let vacant = gap
      gap = -1
      move(entry, to: vacant)
    } else {
      heap.append(entry)
      Self.siftUp(entry, from: heap.count - 1, &heap, &positions)
    }
  }

  private mutating func closeGap() {
    guard gap >= 0 else { return }
    let vacant = gap
    gap = -1
    let last = heap.removeLast()
    if vacant < heap.count { move(last, to: vacant) }
  }

  /// Replaces the entry at `position` by another entry, and restores the heap order from there.
  private mutating func move(_ entry: Entry, to position: Int) {
    if position > 0, entry.precedes(heap[(position - 1) / 4]) {
      Self.siftUp(entry, from: position, &heap, &positions)
    } else {
      Self.siftDown(entry, from: position, &heap, &positions)
    }
  }

  private static func siftUp(
    _ entry: Entry, from start: Int, _ heap: inout ContiguousArray<Entry>, _ positions: inout ContiguousArray<Int32>
  ) {
    var heap = heap.mutableSpan
    var positions = positions.mutableSpan
    var position = start
    while position > 0 {
      let parent = (position - 1) / 4
      guard entry.precedes(heap[parent]) else { break }
      heap[position] = heap[parent]
      positions[heap[parent].slot] = Int32(truncatingIfNeeded: position)
      position = parent
    }
    heap[position] = entry
    positions[entry.slot] = Int32(truncatingIfNeeded: position)
  }

  private static func siftDown(
    _ entry: Entry, from start: Int, _ heap: inout ContiguousArray<Entry>, _ positions: inout ContiguousArray<Int32>
  ) {
    var heap = heap.mutableSpan
    var positions = positions.mutableSpan
    var position = start
    while true {
      let firstChild = 4 * position + 1
      guard firstChild < heap.count else { break }
      var best = firstChild
      var earliest = heap[firstChild]
      if firstChild + 3 < heap.count {
        // The minimum of two pairs, and then of the two winners, without branches: they would be mispredicted often.
        let (second, third, fourth) = (heap[firstChild + 1], heap[firstChild + 2], heap[firstChild + 3])
        let (isSecond, isFourth) = (second.precedes(earliest), fourth.precedes(third))
        earliest = isSecond ? second : earliest
        let other = isFourth ? fourth : third
        let isOther = other.precedes(earliest)
        earliest = isOther ? other : earliest
        best += isOther ? (isFourth ? 3 : 2) : (isSecond ? 1 : 0)
      } else {
        for child in firstChild + 1..<heap.count where heap[child].precedes(earliest) {
          (best, earliest) = (child, heap[child])
        }
      }
      guard earliest.precedes(entry) else { break }
      heap[position] = earliest
      positions[earliest.slot] = Int32(truncatingIfNeeded: position)
      position = best
    }
    heap[position] = entry
    positions[entry.slot] = Int32(truncatingIfNeeded: position)
  }
}
