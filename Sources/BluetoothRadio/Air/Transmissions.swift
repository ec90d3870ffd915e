import BluetoothWire

/// A transmission, current or past: the data that decide which receivers detect it and which it interferes with. The
/// packet itself is in `Radio.packet` or `Medium.injected`.
///
/// The structure holds no references, so that it is read and copied without reference counting.
struct Transmission {
  let number: UInt64
  /// The index of the transmitting radio; −1 for an injected packet.
  let radio: Int32
  let payloadOctets: UInt16
  let channel: RadioChannel
  let modulation: Modulation
  /// The raw value of the modulation's PHY.
  let phyNumber: UInt8
  let accessAddress: UInt32
  /// The transmit power including the sender's antenna gain, dBm.
  let power: Decibel
  let position: GridPosition
  let place: PlaceNumber
  let start: Instant
  var end: Instant
  /// True once the end of the transmission has been processed.
  var isOver = false
  /// True if the transmission was added after its start, when a culled device was resumed: transmissions before it in
  /// the list may have started later.
  var isLate = false
  /// The number of receivers that locked onto the transmission, including receivers that lost the lock.
  var locks: Int32 = 0
}

/// The transmissions on the air, and the past transmissions that overlap one of them in time, in the order of their
/// start (except late ones, see `Transmission.isLate`).
struct Transmissions {
  /// The storage, read in place. Only the elements at `indices` are valid.
  var all: ContiguousArray<Transmission> = []
  /// The index of the first valid element.
  private(set) var startIndex = 0
  /// The index of the first transmission whose end has not been processed.
  private var earliest = 0
  private var lastNumber: UInt64 = 0
  /// The numbers and channels of the transmissions whose end has not been processed, in no particular order.
  private(set) var onAir: ContiguousArray<(number: UInt64, channel: RadioChannel)> = []

  var indices: Range<Int> { startIndex..<all.count }

  var nextNumber: UInt64 { lastNumber + 1 }

  mutating func append(_ transmission: Transmission) {
    lastNumber = transmission.number
    all.append(transmission)
    onAir.append((transmission.number, transmission.channel))
  }

  /// The number of the transmission at index 0, valid or not.
  var firstNumber: UInt64 { lastNumber &+ 1 &- UInt64(all.count) }

  /// Returns the index of the transmission with this number; nil if it has been dropped.
  func index(of number: UInt64) -> Int? {
    guard startIndex < all.count, number >= all[startIndex].number, number <= lastNumber else { return nil }
    return startIndex + Int(number - all[startIndex].number)
  }

  /// Marks the end of a transmission as processed, and drops past transmissions that overlap no transmission on the
  /// air.
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
