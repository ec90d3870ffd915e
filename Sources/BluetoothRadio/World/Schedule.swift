import BluetoothWire

/// The operations scheduled in a world, in order of time; at the same instant, in the order of scheduling.
struct Schedule {
  private struct Entry {
    var instant: Instant
    var operation: @Sendable (WorldEngine) -> Void
  }

  /// The entries in order of time.
  private var entries: [Entry] = []

  var next: Instant? { entries.first?.instant }

  mutating func add(at instant: Instant, _ operation: @escaping @Sendable (WorldEngine) -> Void) {
    let place = entries.lastIndex { $0.instant <= instant }.map { $0 + 1 } ?? 0
    entries.insert(Entry(instant: instant, operation: operation), at: place)
  }

  /// Removes and returns the first operation that is due at `now`; nil if there is none.
  mutating func take(at now: Instant) -> (@Sendable (WorldEngine) -> Void)? {
    guard let first = entries.first, first.instant <= now else { return nil }
    return entries.removeFirst().operation
  }
}
