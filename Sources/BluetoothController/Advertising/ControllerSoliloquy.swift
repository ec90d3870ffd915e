import BluetoothRadio
import BluetoothWire

/// Advertising that expects no answer, while the controller does nothing else: see `UnheardDevices`.
extension Controller {
  /// Whether all that there is to do, from the event on that is due at `now`, is to send the packets of one set, which does
  /// not end by itself; nil: no.
  package mutating func soliloquy(at now: Instant) -> Soliloquy? {
    guard agenda.next <= now, case .free = radioUse, timer == nil, windowOpens == nil, !hasRadioCommand,
      scanner == nil, initiator == nil, connections.isEmpty, resolvingList.isEmpty, output.isEmpty,
      sets.deadline == .distantFuture, syncs.deadline == .distantFuture,
      case .advertising(let index)? = agenda.onlyActivity,
      let soliloquy = sets[index]?.advertiser?.soliloquy
    else { return nil }
    return soliloquy
  }

  /// Passes over all events of the soliloquy that end at `limit` or before; nil: there are none.
  package mutating func skip(until limit: Instant) -> SkippedPackets? {
    guard case .advertising(let index)? = agenda.onlyActivity,
      let skipped = sets[index]?.advertiser?.skip(until: limit, random: &random)
    else { return nil }
    claimAdvertising(index)
    return skipped
  }
}
