import BluetoothWire

/// The next instant of each of a growing number of slots, and the earliest of them all: a heap of four branches with an
/// index, so that setting a slot again moves its entry instead of leaving a stale one behind.
///
/// Setting, clearing and taking cost O(log n); the earliest is found in O(1). Slots that are due at the same instant come
/// in the order of their rank, then of their number, so that a run can be repeated exactly.
///
/// What was cleared leaves a gap that the next entry takes: mostly something was due, and now something else is due soon, so
/// one way through the heap is enough for both.
struct TimerHeap {
  struct Entry: Equatable {
    /// The instant, then the rank, then the slot: one comparison of all three.
    private let key: Int128

    init(_ instant: Instant, rank: UInt8, slot: Int) {
      key = Int128(instant.nanoseconds) << 64 | Int128(UInt64(rank) << 32 | UInt64(slot))
    }

    private init(key: Int128) { self.key = key }

    var instant: Instant { Instant(nanoseconds: Int64(truncatingIfNeeded: key >> 64)) }
    var slot: Int { Int(UInt32(truncatingIfNeeded: key)) }

    /// What comes after this and before everything that comes later.
    var successor: Entry { Entry(key: key + 1) }

    func precedes(_ other: Entry) -> Bool { key < other.key }
  }

  private var heap: ContiguousArray<Entry> = []
  /// Where the entry is that was cleared and is still in the heap; −1: nowhere.
  private var gap = -1
  /// Where each slot's entry stands in the heap; −1: nowhere.
  private var positions: ContiguousArray<Int32> = []
  private var ranks: ContiguousArray<UInt8> = []

  /// A new slot; slots of a lower `rank` come first at one instant.
  mutating func addSlot(rank: UInt8) -> Int {
    positions.append(-1)
    ranks.append(rank)
    return positions.count - 1
  }

  /// What is due first; nil: nothing is. It changes nothing that can be seen: `mutating` has it close the gap.
  var earliest: Entry? {
    mutating get {
      closeGap()
      return heap.first
    }
  }

  /// The slot, which has an entry, is not due any more.
  mutating func clear(_ slot: Int) {
    closeGap()
    gap = Int(positions[slot])
    positions[slot] = -1
  }

  /// When `slot` is due.
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

  /// Puts an entry in the place of another one, and from there where it belongs.
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
        // Two pairs, and then the better ones of them: nothing to guess for the processor.
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
