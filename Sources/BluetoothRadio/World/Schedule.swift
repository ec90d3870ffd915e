import BluetoothWire

/// What is to be done in a world at given instants; at one instant, in the order in which it was asked for.
struct Schedule {
  private struct Entry {
    var instant: Instant
    var operation: @Sendable (WorldEngine) -> Void
  }

  /// In the order of time.
  private var entries: [Entry] = []

  var next: Instant? { entries.first?.instant }

  mutating func add(at instant: Instant, _ operation: @escaping @Sendable (WorldEngine) -> Void) {
    let place = entries.lastIndex { $0.instant <= instant }.map { $0 + 1 } ?? 0
    entries.insert(Entry(instant: instant, operation: operation), at: place)
  }

  /// The first operation that is due.
  mutating func take(at now: Instant) -> (@Sendable (WorldEngine) -> Void)? {
    guard let first = entries.first, first.instant <= now else { return nil }
    return entries.removeFirst().operation
  }
}
