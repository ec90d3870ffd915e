import BluetoothWire

/// The interval and anchor points that a central prefers for a connection after an update, or that a peripheral
/// requests.
struct EventPlacement {
  /// The interval, in units of 1.25 ms.
  var interval: UInt16
  /// Any one of the new anchor points; nil: no preference.
  var anchor: Instant?
}

extension EventSchedule {
  /// Returns the time from the anchor point of `event` to the next anchor point of the placement.
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

  /// Returns Offset0 to Offset5 · Vol 6, Part B, 2.4.2.16; nil: not given.
  subscript(index: Int) -> UInt16? {
    let value = UInt16(
      truncatingIfNeeded: index < 4 ? low >> UInt64(16 * index) : UInt64(high) >> UInt64(16 * (index - 4)))
    return value == Self.notGiven ? nil : value
  }
}

/// The placement of connections relative to each other.
extension Controller {
  /// Returns the placement of a connection with these parameters.
  ///
  /// - Parameter proposal: the peer's request that the update grants; its preferences are respected.
  mutating func placement(
    of index: Int, for parameters: ConnectionParameters, granting proposal: LL.ConnectionParameterProposal? = nil
  ) -> EventPlacement {
    let interval = interval(of: index, for: parameters, periodicity: proposal?.preferredPeriodicity ?? 0)
    let reference = connections[index].schedule.anchor(of: connections[index].referenceEvent(of: proposal))
    let unit = ConnectionParameters.intervalUnit
    if let offset = proposal?.offsets[0], connections.count == 1 {
      return EventPlacement(interval: interval, anchor: reference + unit * Int64(offset))
    }
    // No other connection is in the way, or the interval stays the same.
    guard connections.count > 1, interval != connections[index].values.interval else {
      return EventPlacement(interval: interval)
    }
    let (offset, delay) = placeAnchors(interval: interval, earliest: reference, except: index)
    return EventPlacement(interval: interval, anchor: reference + unit * Int64(offset) + delay)
  }

  /// Returns the longest interval in the range that is a multiple or a divisor of all other connections' intervals,
  /// so that the connection keeps its distance to them; else the longest of all. Intervals that are no multiple of
  /// `periodicity` come last.
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
  /// Returns the event from which the offsets of a proposal count.
  func referenceEvent(of proposal: LL.ConnectionParameterProposal?) -> Int {
    guard let proposal else { return schedule.next }
    let distance = proposal.referenceConnectionEventCount &- UInt16(truncatingIfNeeded: schedule.next)
    return schedule.next + Int(Int16(bitPattern: distance))
  }
}
