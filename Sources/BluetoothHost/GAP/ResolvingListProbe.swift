// Design: unproven resolving lists
//
// - Until a controller has resolved an address, its ability to do so is unproven. If an attempt that relies on it has
//   no result in 12 s, the host connects by scanning for 12 s, and again after each further 48 s
//   (`ResolvingListProbe`). If the host then receives the peer under an address that the controller has not resolved,
//   one failure is enough; if the controller reports the identity, it is trusted from then on.
// - A bonded peer that the controller would not recognize is found by scanning: the host scans passively by itself, and
//   makes the controller connect for 12 s to the address under which it received the peer; then it scans again. While
//   the host waits for one such peer, it finds all peers this way, because a controller connects for one purpose at a
//   time.

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
