import BluetoothWire

/// A place where a radio stands, by number: each time that one is put somewhere that place gets the next number.
struct PlaceNumber: Equatable {
  /// 0: a place that is nobody's for long, of which nothing is remembered.
  fileprivate let number: UInt32

  static let passing = PlaceNumber(number: 0)
}

/// What was lost lately between two places. In a crowd everybody who listens wants to know it of everything that is on the
/// air, again and again.
///
/// Whoever is put somewhere else has another place, so only a change of the ways themselves makes anything wrong that is in
/// here.
struct LossCache {
  private struct Entry {
    var from = PlaceNumber.passing
    var to = PlaceNumber.passing
    var loss = Decibel(0)
  }

  /// So many places side by side that are listened at, and so many in a row that are sent from, are not in each other's way.
  private static let listeners: UInt32 = 16
  private static let senders: UInt32 = 1_024

  private var lastPlace = PlaceNumber.passing
  /// Nothing at all before anything is known.
  private var entries: ContiguousArray<Entry> = []

  /// The number of a place where somebody has been put.
  mutating func nextPlace() -> PlaceNumber {
    // Who has used up all numbers goes on without.
    if lastPlace.number < .max - 1 { lastPlace = PlaceNumber(number: lastPlace.number + 1) } else { return .passing }
    return lastPlace
  }

  @inline(__always)
  private static func index(_ from: PlaceNumber, _ to: PlaceNumber) -> Int {
    Int(((from.number &* listeners) ^ to.number) & (listeners * senders - 1))
  }

  /// nil: it is to be worked out.
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

  /// What is lost on the ways is something else from now on.
  mutating func removeAll() { entries = [] }
}
