import BluetoothWire

/// The next instant of each of a growing number of slots, and the earliest of them all: a heap of four branches with an
/// index, so that setting a slot again moves its entry instead of leaving a stale one behind.
///
/// Setting, clearing and taking cost O(log n); the earliest is found in O(1). Slots that are due at the same instant come
/// in the order of their rank, then of their number, so that a run can be repeated exactly.
struct TimerQueue {
  private struct Entry {
    var instant: Instant
    var order: UInt64
    var slot: Int32

    func precedes(_ other: Entry) -> Bool {
      instant == other.instant ? order < other.order : instant < other.instant
    }
  }

  private var heap: [Entry] = []
  /// Where each slot's entry stands in the heap; −1: nowhere.
  private var positions: [Int32] = []
  private var ranks: [UInt8] = []

  /// A new slot; slots of a lower `rank` come first at one instant.
  mutating func addSlot(rank: UInt8) -> Int {
    positions.append(-1)
    ranks.append(rank)
    return positions.count - 1
  }

  var earliest: (instant: Instant, slot: Int)? {
    heap.first.map { ($0.instant, Int($0.slot)) }
  }

  /// When `slot` is due; nil: not at all.
  mutating func set(_ slot: Int, to instant: Instant?) {
    let position = Int(positions[slot])
    guard let instant else {
      if position >= 0 { remove(at: position) }
      return
    }
    let entry = Entry(instant: instant, order: UInt64(ranks[slot]) << 32 | UInt64(slot), slot: Int32(slot))
    if position < 0 {
      heap.append(entry)
      siftUp(entry, from: heap.count - 1)
    } else if heap[position].instant != instant {
      if instant < heap[position].instant { siftUp(entry, from: position) } else { siftDown(entry, from: position) }
    }
  }

  private mutating func remove(at position: Int) {
    positions[Int(heap[position].slot)] = -1
    let last = heap.removeLast()
    guard position < heap.count else { return }
    if position > 0, last.precedes(heap[(position - 1) / 4]) {
      siftUp(last, from: position)
    } else {
      siftDown(last, from: position)
    }
  }

  private mutating func siftUp(_ entry: Entry, from start: Int) {
    var position = start
    while position > 0 {
      let parent = (position - 1) / 4
      guard entry.precedes(heap[parent]) else { break }
      place(heap[parent], at: position)
      position = parent
    }
    place(entry, at: position)
  }

  private mutating func siftDown(_ entry: Entry, from start: Int) {
    var position = start
    while true {
      let firstChild = 4 * position + 1
      guard firstChild < heap.count else { break }
      var best = firstChild
      for child in firstChild..<min(firstChild + 4, heap.count) where heap[child].precedes(heap[best]) { best = child }
      guard heap[best].precedes(entry) else { break }
      place(heap[best], at: position)
      position = best
    }
    place(entry, at: position)
  }

  private mutating func place(_ entry: Entry, at position: Int) {
    heap[position] = entry
    positions[Int(entry.slot)] = Int32(position)
  }
}
