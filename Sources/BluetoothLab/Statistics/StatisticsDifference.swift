extension WorldStatistics {
  /// Returns the activity since `earlier`, an older snapshot of the same world.
  public func since(_ earlier: WorldStatistics) -> WorldStatistics {
    var result = WorldStatistics(time: time - earlier.time, devices: [])
    for (index, device) in devices.enumerated() {
      result.devices.append(
        index < earlier.devices.count ? device.since(earlier.devices[index]) : device)
    }
    return result
  }
}

extension DeviceStatistics {
  /// Returns the activity since `earlier`, an older snapshot of the same device. RSSI values and the list of
  /// connections are those of the later snapshot; the counts of each connection are differences.
  public func since(_ earlier: DeviceStatistics) -> DeviceStatistics {
    var result = self
    result.time -= earlier.time
    result.transmitted.packets -= earlier.transmitted.packets
    result.transmitted.airTime -= earlier.transmitted.airTime
    result.receivedPackets -= earlier.receivedPackets
    result.crcErrors -= earlier.crcErrors
    result.missedPackets -= earlier.missedPackets
    for (purpose, old) in earlier.uses {
      result.uses[purpose, default: Use()].receiving -= old.receiving
      for (power, time) in old.transmitting {
        result.uses[purpose, default: Use()].transmitting[power, default: .zero] -= time
      }
    }
    result.attempts = attempts.map { attempts in
      earlier.attempts.first { $0.peer == attempts.peer }.map { attempts.since($0) } ?? attempts
    }
    result.links = links.map { link in
      earlier.links.first { $0.number == link.number }.map { link.since($0) } ?? link
    }
    return result
  }
}

extension ConnectionAttempts {
  fileprivate func since(_ earlier: ConnectionAttempts) -> ConnectionAttempts {
    var result = self
    result.count -= earlier.count
    result.lostRequests -= earlier.lostRequests
    result.unanswered -= earlier.unanswered
    return result
  }
}

extension LinkStatistics {
  /// Returns the activity since `earlier`, an older snapshot of the same connection.
  public func since(_ earlier: LinkStatistics) -> LinkStatistics {
    var result = self
    result.sent.subtract(earlier.sent)
    result.received.subtract(earlier.received)
    result.retransmissions -= earlier.retransmissions
    result.crcErrors -= earlier.crcErrors
    result.receiveTimeouts -= earlier.receiveTimeouts
    result.attendedEvents -= earlier.attendedEvents
    result.missedEvents -= earlier.missedEvents
    result.time -= earlier.time
    return result
  }
}

extension LinkStatistics.Direction {
  fileprivate mutating func subtract(_ other: Self) {
    packets -= other.packets
    octets -= other.octets
    airTime -= other.airTime
  }
}
