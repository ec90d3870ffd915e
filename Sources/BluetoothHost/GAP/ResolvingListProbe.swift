import BluetoothWire

/// The probe that tests whether a controller's resolving list works; some controllers only claim to have one. While
/// the list is unproven and an attempt that relies on it has no result, the host connects by scanning for a while,
/// and again after a pause.
struct ResolvingListProbe {
  private enum State {
    case none
    case waiting(until: Instant)
    case listening(until: Instant)
  }

  /// The time that an attempt may take before the first probe.
  static let probeDelay = TimeSpan.seconds(12)
  /// The duration of a probe. The longest advertising interval of connectable legacy PDUs is 10.24 s
  /// · Vol 4, Part E, 7.8.5.
  static let listeningTime = TimeSpan.seconds(12)
  /// The pause between probes. The peer may come into range later.
  static let pause = TimeSpan.seconds(48)

  private var state = State.none

  var deadline: Instant? {
    switch state {
    case .none: nil
    case .waiting(let until), .listening(let until): until
    }
  }

  /// True during a probe, when the host connects by scanning.
  var listens: Bool { if case .listening = state { true } else { false } }

  /// Starts or ends probing.
  ///
  /// - Parameter relies: True if an attempt relies on a resolving list that is unproven.
  mutating func update(relies: Bool, at now: Instant) {
    switch state {
    case .none: if relies { state = .waiting(until: now + Self.probeDelay) }
    case .waiting, .listening: if !relies { state = .none }
    }
  }

  /// Handles the timer. Returns true if a probe has begun or ended.
  mutating func timeReached(_ now: Instant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    state = listens ? .waiting(until: now + Self.pause) : .listening(until: now + Self.listeningTime)
    return true
  }
}
