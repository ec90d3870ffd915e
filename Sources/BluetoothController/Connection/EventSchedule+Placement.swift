import BluetoothWire

/// The anchor points of a connection after an update.
extension EventSchedule {
  /// Returns the event from which the offsets of a proposal count.
  func referenceEvent(of proposal: LL.ConnectionParameterProposal?) -> Int {
    guard let proposal else { return next }
    let distance = proposal.referenceConnectionEventCount &- UInt16(truncatingIfNeeded: next)
    return next + Int(Int16(bitPattern: distance))
  }

  /// Returns LL_CONNECTION_PARAM_REQ or LL_CONNECTION_PARAM_RSP for these parameters, with the preferred anchor
  /// points.
  func proposal(
    of parameters: LinkParameters, _ placement: EventPlacement
  ) -> LL.ConnectionParameterProposal {
    let offset: UInt16? =
      placement.anchor == nil
      ? nil
      : UInt16(
        clamping: self.offset(to: placement, from: next).nanoseconds
          / LinkParameters.intervalUnit.nanoseconds)
    return LL.ConnectionParameterProposal(
      parameters: parameters, referenceConnectionEventCount: UInt16(truncatingIfNeeded: next),
      offsets: offset.map { .init(first: $0) } ?? .none)
  }

  /// Returns the time from the anchor point of `event` to the next anchor point of the placement.
  func offset(to placement: EventPlacement, from event: Int) -> TimeSpan {
    guard let preferred = placement.anchor else { return .zero }
    let interval = LinkParameters.intervalUnit.nanoseconds * Int64(placement.interval)
    let distance = (preferred - anchor(of: event)).nanoseconds % interval
    return TimeSpan(nanoseconds: distance < 0 ? distance + interval : distance)
  }
}
