import BluetoothWire

/// The state of the transport between a host and its controller in another process.
package enum TransportStanding: Hashable, Sendable {
  /// The transport is up.
  case ready
  /// The first connection attempt is in progress.
  case connecting
  /// The transport was up before, or may be up soon.
  case lost
  /// The transport cannot come up without action by the user.
  case refused
}

extension Host {
  /// Tells the host the state of its transport; a new host assumes `ready`. When the transport goes down, the host
  /// loses all links and operations, as after a failure of the controller; when it comes up, the host begins with a
  /// Reset.
  package mutating func setTransport(_ standing: TransportStanding, at now: Instant) {
    transport = standing
    if standing == .ready {
      if case .unreachable = power { start() }
    } else {
      if isOn { endEverything(at: now) }
      // These links were already being disconnected.
      forgetLinks()
      commands.removeAll()
      packets.removeAll()
      if wantsPower { becomeUnreachable() } else { power = .off }
    }
    settle(at: now)
  }

  /// Reports that the octets from the controller no longer form packets. The host then resets the controller
  /// · Vol 4, Part A, 4.
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
