import BluetoothWire

/// The number of a place where a radio stands. Each time a radio is placed, its place gets the next number.
struct PlaceNumber: Equatable {
  /// 0 (`passing`) stands for places that are not cached, such as those of moving radios and of injected packets.
  fileprivate let number: UInt32

  static let passing = PlaceNumber(number: 0)
}

/// A cache of recent path losses between two places. In a crowd, every receiver needs the loss of every transmission on
/// the air, again and again.
///
/// A radio that is placed elsewhere gets another place number, so only a change of the propagation itself makes entries
/// invalid.
struct LossCache {
  private struct Entry {
    var from = PlaceNumber.passing
    var to = PlaceNumber.passing
    var loss = Decibel(0)
  }

  /// The numbers of consecutive receiver places and of consecutive sender places that don't collide in the cache.
  private static let listeners: UInt32 = 16
  private static let senders: UInt32 = 1_024

  private var lastPlace = PlaceNumber.passing
  /// The entries; empty until the first loss is stored.
  private var entries: ContiguousArray<Entry> = []

  /// Returns the number of a place where a radio has been put.
  mutating func nextPlace() -> PlaceNumber {
    // Once all numbers are used up, new places are not cached.
    if lastPlace.number < .max - 1 { lastPlace = PlaceNumber(number: lastPlace.number + 1) } else { return .passing }
    return lastPlace
  }

  @inline(__always)
  private static func index(_ from: PlaceNumber, _ to: PlaceNumber) -> Int {
    Int(((from.number &* listeners) ^ to.number) & (listeners * senders - 1))
  }

  /// Returns the cached loss; nil if it is not cached.
  @inline(__always)
  func loss(from: PlaceNumber, to: PlaceNumber) -> Decibel? {
    let index = Self.index(from, to)
    guard index < entries.count else { return nil }
    let entry = entries[index]
    return entry.from == from && entry.to == to && from != .passing ? entry.loss : nil
  }

  mutating func set(_ loss: Decibel, from: PlaceNumber, to: PlaceNumber) {
    guard from != .passing, to != .passing else { return }
    if entries.isEmpty { entries = ContiguousArray(repeating: Entry(), count: Int(Self.listeners * Self.senders)) }
    entries[Self.index(from, to)] = Entry(from: from, to: to, loss: loss)
  }

  /// Empties the cache, after the propagation has changed.
  mutating func removeAll() { entries = [] }
}
