import BluetoothWire

/// The way between a host and its controller, where they do not stand in one process.
package enum TransportStanding: Hashable, Sendable {
  /// Packets pass.
  case ready
  /// It is being looked for, for the first time.
  case connecting
  /// It was there, or may be soon.
  case lost
  /// Somebody has to do something before it can be there.
  case refused
}

extension Host {
  /// Tells the host whether packets pass between it and its controller, which is what it begins with. When they do not any
  /// more, all that it had is gone, as if the controller had failed; when they do again, it begins with a Reset.
  package mutating func setTransport(_ standing: TransportStanding, at now: Instant) {
    transport = standing
    if standing == .ready {
      if case .unreachable = power { start() }
    } else {
      if isOn { endEverything(at: now) }
      // Links that were just being ended.
      forgetLinks()
      commands.removeAll()
      packets.removeAll()
      if wantsPower { becomeUnreachable() } else { power = .off }
    }
    settle(at: now)
  }

  /// Octets from the controller make no packets any more. A host then resets it · Vol 4, Part A, 4.
  package mutating func synchronizationLost(at now: Instant) {
    fail(.synchronizationLost, at: now)
    settle(at: now)
  }

  mutating func becomeUnreachable() {
    power = .unreachable
    switch transport {
    case .ready, .connecting: events.append(.powerChanged(.starting))
    case .lost: events.append(.powerChanged(.unreachable))
    case .refused: events.append(.powerChanged(.unsupported))
    }
  }
}
