import BluetoothWire

/// The identity of a scheduled operation, for `WorldEngine.cancel`.
package struct ScheduledOperation: Hashable, Sendable {
  fileprivate let number: UInt64
}

/// The operations scheduled in a world, in order of time; at the same instant, in the order of scheduling.
struct Schedule {
  private struct Entry {
    var instant: Instant
    var number: UInt64
    var operation: @Sendable (WorldEngine) -> Void
  }

  /// The entries in order of time.
  private var entries: [Entry] = []
  private var nextNumber: UInt64 = 0

  var next: Instant? { entries.first?.instant }

  mutating func add(
    at instant: Instant, _ operation: @escaping @Sendable (WorldEngine) -> Void
  ) -> ScheduledOperation {
    let number = nextNumber
    nextNumber += 1
    let place = entries.lastIndex { $0.instant <= instant }.map { $0 + 1 } ?? 0
    entries.insert(Entry(instant: instant, number: number, operation: operation), at: place)
    return ScheduledOperation(number: number)
  }

  /// Removes an operation that has not been taken.
  mutating func remove(_ operation: ScheduledOperation) {
    if let index = entries.firstIndex(where: { $0.number == operation.number }) { entries.remove(at: index) }
  }

  /// Removes and returns the first operation that is due at `now`; nil if there is none.
  mutating func take(at now: Instant) -> (@Sendable (WorldEngine) -> Void)? {
    guard let first = entries.first, first.instant <= now else { return nil }
    return entries.removeFirst().operation
  }
}
