import BluetoothWire

/// Where a central would like the events of a connection to be after an update, or a peripheral asks for them to be.
struct EventPlacement {
  /// Units of 1.25 ms.
  var interval: UInt16
  /// One of the new anchor points, some time; nil: wherever they come to be.
  var anchor: Instant?
}

extension EventSchedule {
  /// How long after the anchor point of `event` the next anchor point of the placement is.
  func offset(to placement: EventPlacement, from event: Int) -> TimeSpan {
    guard let wanted = placement.anchor else { return .zero }
    let interval = ConnectionParameters.intervalUnit.nanoseconds * Int64(placement.interval)
    let distance = (wanted - anchor(of: event)).nanoseconds % interval
    return TimeSpan(nanoseconds: distance < 0 ? distance + interval : distance)
  }
}

extension LL.ConnectionParameterProposal.Offsets {
  private static let notGiven: UInt16 = 0xFFFF

  init(first: UInt16) { self.init(low: UInt64.max << 16 | UInt64(first), high: .max) }

  /// Offset0 to Offset5 · Vol 6, Part B, 2.4.2.16; nil: not given.
  subscript(index: Int) -> UInt16? {
    let value = UInt16(
      truncatingIfNeeded: index < 4 ? low >> UInt64(16 * index) : UInt64(high) >> UInt64(16 * (index - 4)))
    return value == Self.notGiven ? nil : value
  }
}

/// Where connections are placed among each other.
extension Controller {
  /// The placement of a connection that is to have these parameters.
  ///
  /// - Parameter proposal: the peer's request that the update grants: its preferences are heeded.
  mutating func placement(
    of index: Int, for parameters: ConnectionParameters, granting proposal: LL.ConnectionParameterProposal? = nil
  ) -> EventPlacement {
    let interval = interval(of: index, for: parameters, periodicity: proposal?.preferredPeriodicity ?? 0)
    let reference = connections[index].schedule.anchor(of: connections[index].referenceEvent(of: proposal))
    let unit = ConnectionParameters.intervalUnit
    if let offset = proposal?.offsets[0], connections.count == 1 {
      return EventPlacement(interval: interval, anchor: reference + unit * Int64(offset))
    }
    // Nobody is in the way, or nobody has moved.
    guard connections.count > 1, interval != connections[index].values.interval else {
      return EventPlacement(interval: interval)
    }
    let (offset, delay) = placeAnchors(interval: interval, earliest: reference, except: index)
    return EventPlacement(interval: interval, anchor: reference + unit * Int64(offset) + delay)
  }

  /// The longest interval in the range at which the connection keeps its distance to all others, because it is a multiple or a
  /// part of theirs; else the longest of all. Those that are no multiple of `periodicity` come last.
  private mutating func interval(of index: Int, for parameters: ConnectionParameters, periodicity: UInt8) -> UInt16 {
    let range = (parameters.minimumInterval...parameters.maximumInterval).reversed()
    func isPreferred(_ interval: UInt16) -> Bool { periodicity == 0 || interval % UInt16(periodicity) == 0 }
    func fits(_ interval: UInt16) -> Bool {
      for other in connections.indices where other != index {
        let theirs = max(1, connections[other].values.interval)
        if interval % theirs != 0 && theirs % interval != 0 { return false }
      }
      return true
    }
    return range.first { isPreferred($0) && fits($0) } ?? range.first { isPreferred($0) }
      ?? range.first { fits($0) } ?? parameters.maximumInterval
  }
}

extension Connection {
  /// The event that the offsets of a proposal count from.
  func referenceEvent(of proposal: LL.ConnectionParameterProposal?) -> Int {
    guard let proposal else { return schedule.next }
    let distance = proposal.referenceConnectionEventCount &- UInt16(truncatingIfNeeded: schedule.next)
    return schedule.next + Int(Int16(bitPattern: distance))
  }
}
