import BluetoothWire

/// The placement of connections relative to each other.
extension ConnectionTable {
  /// Returns the placement of a connection with these parameters.
  ///
  /// - Parameter proposal: the peer's request that the update grants; its preferences are respected.
  mutating func placement(
    of index: Int, for parameters: LinkParameters, granting proposal: LL.ConnectionParameterProposal? = nil
  ) -> EventPlacement {
    let interval = interval(of: index, for: parameters, periodicity: proposal?.preferredPeriodicity ?? 0)
    let reference = self[index].schedule.anchor(of: self[index].schedule.referenceEvent(of: proposal))
    let unit = LinkParameters.intervalUnit
    if let offset = proposal?.offsets[0], count == 1 {
      return EventPlacement(interval: interval, anchor: reference + unit * Int64(offset))
    }
    // No other connection is in the way, or the interval stays the same.
    guard count > 1, interval != self[index].values.interval else {
      return EventPlacement(interval: interval)
    }
    let (offset, delay) = placeAnchors(interval: interval, earliest: reference, except: index)
    return EventPlacement(interval: interval, anchor: reference + unit * Int64(offset) + delay)
  }

  /// Returns the longest interval in the range that is a multiple or a divisor of all other connections' intervals, so
  /// that the connection keeps its distance to them; else the longest of all. Multiples of `periodicity` have priority.
  private mutating func interval(of index: Int, for parameters: LinkParameters, periodicity: UInt8) -> UInt16 {
    let range = (parameters.minimumInterval...parameters.maximumInterval).reversed()
    func isPreferred(_ interval: UInt16) -> Bool { periodicity == 0 || interval % UInt16(periodicity) == 0 }
    func fits(_ interval: UInt16) -> Bool {
      for other in indices where other != index {
        let theirs = max(1, self[other].values.interval)
        if interval % theirs != 0 && theirs % interval != 0 { return false }
      }
      return true
    }
    return range.first { isPreferred($0) && fits($0) } ?? range.first { isPreferred($0) }
      ?? range.first { fits($0) } ?? parameters.maximumInterval
  }

  /// Returns the anchor points of a connection whose transmit window begins at `earliest` at the earliest: a new
  /// connection as central, or the existing connection with index `own`, which gets new anchor points.
  mutating func placeAnchors(
    interval: UInt16, earliest: Instant, except own: Int? = nil
  ) -> (windowOffset: UInt16, delay: TimeSpan) {
    var grid: Instant?
    for index in indices where grid == nil && index != own && self[index].role == .central {
      grid = self[index].schedule.start
    }
    var placement = AnchorPointPlanner(interval: interval, earliest: earliest, grid: grid)
    for index in indices where index != own {
      placement.occupy(from: self[index].schedule.start, interval: self[index].values.interval)
    }
    return placement.best()
  }
}
