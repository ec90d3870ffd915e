import BluetoothWire

/// Whether a controller that is to connect by its resolving list knows anybody on it: some only claim a list. As long as it
/// has shown nothing, and an attempt that relies on it stays without result, the host finds out for itself: it connects by
/// ear for a while, and again after a pause.
struct ListDoubt {
  private enum State {
    case none
    case waiting(until: Instant)
    case listening(until: Instant)
  }

  /// How long an attempt may take before anybody doubts.
  static let patience = TimeSpan.seconds(12)
  /// The longest advertising interval of connectable legacy PDUs is 10.24 s · Vol 4, Part E, 7.8.5.
  static let listeningTime = TimeSpan.seconds(12)
  /// The peer may come later.
  static let pause = TimeSpan.seconds(48)

  private var state = State.none

  var deadline: Instant? {
    switch state {
    case .none: nil
    case .waiting(let until), .listening(let until): until
    }
  }

  /// Devices are connected to by ear.
  var listens: Bool { if case .listening = state { true } else { false } }

  /// Whether an attempt relies on the list of a controller that has not shown anything.
  mutating func update(relies: Bool, at now: Instant) {
    switch state {
    case .none: if relies { state = .waiting(until: now + Self.patience) }
    case .waiting, .listening: if !relies { state = .none }
    }
  }

  /// The result says whether anything is otherwise now.
  mutating func timeReached(_ now: Instant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    state = listens ? .waiting(until: now + Self.pause) : .listening(until: now + Self.listeningTime)
    return true
  }
}
