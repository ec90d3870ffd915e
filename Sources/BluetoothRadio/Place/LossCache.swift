import BluetoothWire

/// The key of a radio's position in the loss cache. A radio gets a new key each time its position is set.
struct PlaceNumber: Equatable {
  /// 0 (`passing`) stands for positions that are not cached: those of moving radios and of injected packets.
  fileprivate let number: UInt32

  static let passing = PlaceNumber(number: 0)
}

/// A direct-mapped cache of path losses between two positions. With many radios, every receiver needs the loss of every
/// transmission on the air repeatedly.
///
/// A radio whose position is set gets a new key, so entries become invalid only if the path loss model or a fixed loss
/// changes.
struct LossCache {
  private struct Entry {
    var from = PlaceNumber.passing
    var to = PlaceNumber.passing
    var loss = Decibel(0)
  }

  /// The numbers of receivers with consecutive keys, and of transmitters with consecutive keys, whose entries do not
  /// collide.
  private static let listeners: UInt32 = 16
  private static let senders: UInt32 = 1_024

  private var lastPlace = PlaceNumber.passing
  /// The entries; empty until the first loss is stored.
  private var entries: ContiguousArray<Entry> = []

  /// Returns a new key.
  mutating func nextPlace() -> PlaceNumber {
    // After 2³² − 2 keys, new positions are not cached.
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

  /// Empties the cache. Called after a change of the path loss model or of a fixed loss.
  mutating func removeAll() { entries = [] }
}
