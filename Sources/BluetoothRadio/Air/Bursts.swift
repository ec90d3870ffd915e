import BluetoothWire

/// A packet's energy on the air, now or a while ago: what decides who hears it and whom it disturbs.
///
/// Without any reference, so that it is looked at in place and copied for nothing.
struct Burst {
  let number: UInt64
  /// −1: injected.
  let radio: Int32
  let payloadOctets: UInt16
  let channel: RadioChannel
  let modulation: Modulation
  /// The raw value of the modulation's PHY.
  let phyNumber: UInt8
  let accessAddress: UInt32
  /// With the sender's antenna gain.
  let power: Decibel
  let position: GridPosition
  let place: PlaceNumber
  let start: Instant
  var end: Instant
  /// Its end has been dealt with.
  var isOver = false
  /// It has been entered after it had begun: those before it may have begun later.
  var isLate = false
  /// How many receivers have locked onto it, or had.
  var locks: Int32 = 0
}

/// What is on the air, and what was while something that is still there had begun, in the order in which it began.
struct Bursts {
  /// Looked at in place: only those at `indices` count.
  var all: ContiguousArray<Burst> = []
  /// Those before it are forgotten.
  private(set) var startIndex = 0
  /// The first one whose end has not been dealt with.
  private var earliest = 0
  private var lastNumber: UInt64 = 0
  /// The numbers of those whose end has not been dealt with, in no order, and their channels.
  private(set) var onAir: ContiguousArray<(number: UInt64, channel: RadioChannel)> = []

  var indices: Range<Int> { startIndex..<all.count }

  var nextNumber: UInt64 { lastNumber + 1 }

  mutating func append(_ burst: Burst) {
    lastNumber = burst.number
    all.append(burst)
    onAir.append((burst.number, burst.channel))
  }

  /// The number that a burst at 0 would have.
  var firstNumber: UInt64 { lastNumber &+ 1 &- UInt64(all.count) }

  /// Where the burst of this number is; nil: it is forgotten.
  func index(of number: UInt64) -> Int? {
    guard startIndex < all.count, number >= all[startIndex].number, number <= lastNumber else { return nil }
    return startIndex + Int(number - all[startIndex].number)
  }

  /// The burst's end has been dealt with. Drops what nothing on the air has met.
  mutating func isOver(_ index: Int) {
    all[index].isOver = true
    let number = all[index].number
    if let place = onAir.firstIndex(where: { $0.number == number }) {
      let last = onAir.removeLast()
      if place < onAir.count { onAir[place] = last }
    }
    while earliest < all.count, all[earliest].isOver { earliest += 1 }
    let limit = earliest < all.count ? all[earliest].start : .distantFuture
    while startIndex < earliest, all[startIndex].end <= limit { startIndex += 1 }
    if startIndex == all.count {
      all.removeAll(keepingCapacity: true)
      startIndex = 0
      earliest = 0
    } else if startIndex > 64, startIndex > all.count / 2 {
      all.removeSubrange(..<startIndex)
      earliest -= startIndex
      startIndex = 0
    }
  }
}
