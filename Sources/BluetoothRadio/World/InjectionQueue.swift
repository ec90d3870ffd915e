import BluetoothWire

/// Packets of no device that are still to begin or to end, in order of time, and at one instant in the order of coming.
struct InjectionQueue {
  enum Event {
    case begins(Injection)
    /// The burst of this number.
    case ends(UInt64)
  }

  private var events: [(instant: Instant, event: Event)] = []

  var next: Instant? { events.first?.instant }

  mutating func add(_ injection: Injection, at instant: Instant) { insert(.begins(injection), at: instant) }

  mutating func addEnd(of number: UInt64, at instant: Instant) { insert(.ends(number), at: instant) }

  /// Takes the next event that is due.
  mutating func take(at now: Instant) -> Event? {
    guard let first = events.first, first.instant <= now else { return nil }
    return events.removeFirst().event
  }

  private mutating func insert(_ event: Event, at instant: Instant) {
    let index = events.lastIndex { $0.instant <= instant }.map { $0 + 1 } ?? 0
    events.insert((instant, event), at: index)
  }
}
