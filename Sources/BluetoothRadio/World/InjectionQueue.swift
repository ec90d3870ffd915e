import BluetoothWire

/// The injected packets whose start or end is pending, in order of time; at the same instant, in the order of
/// insertion.
struct InjectionQueue {
  enum Event {
    case begins(Injection)
    /// The end of the transmission with this number.
    case ends(UInt64)
  }

  private var events: [(instant: Instant, event: Event)] = []

  var next: Instant? { events.first?.instant }

  mutating func add(_ injection: Injection, at instant: Instant) { insert(.begins(injection), at: instant) }

  mutating func addEnd(of number: UInt64, at instant: Instant) { insert(.ends(number), at: instant) }

  /// Removes and returns the next event that is due at `now`; nil if there is none.
  mutating func take(at now: Instant) -> Event? {
    guard let first = events.first, first.instant <= now else { return nil }
    return events.removeFirst().event
  }

  private mutating func insert(_ event: Event, at instant: Instant) {
    let index = events.lastIndex { $0.instant <= instant }.map { $0 + 1 } ?? 0
    events.insert((instant, event), at: index)
  }
}
