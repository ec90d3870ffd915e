import BluetoothRadio
import BluetoothWire

/// Open-loop advertising: a set that expects no answer advertises while the controller does nothing else, so its
/// events can be computed without running the controller. See `CulledTransmitters`.
extension Controller {
  /// Returns the packets of one set if, from its event due at `now` on, the controller does nothing except sending
  /// them, and the set has no limit; nil otherwise.
  package mutating func openLoopAdvertising(at now: Instant) -> OpenLoopAdvertising? {
    guard agenda.next <= now, case .free = radioUse, timer == nil, windowOpens == nil, !hasRadioCommand,
      scanner == nil, initiator == nil, connections.isEmpty, resolvingList.isEmpty, output.isEmpty,
      sets.deadline == .distantFuture, syncs.deadline == .distantFuture,
      case .advertising(let index)? = agenda.onlyActivity,
      let openLoopAdvertising = sets[index]?.advertiser?.openLoopAdvertising
    else { return nil }
    return openLoopAdvertising
  }

  /// Skips all events of the set in `openLoopAdvertising` that end at `limit` or before, and returns their packets; nil: none.
  package mutating func skip(until limit: Instant) -> SkippedPackets? {
    guard case .advertising(let index)? = agenda.onlyActivity,
      let skipped = sets[index]?.advertiser?.skip(until: limit, random: &random)
    else { return nil }
    claimAdvertising(index)
    return skipped
  }
}
