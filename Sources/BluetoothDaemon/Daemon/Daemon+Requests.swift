import BluetoothHost
import BluetoothWire

// Requests of clients: each goes to the broker that it concerns.
extension Daemon {
  mutating func handle(_ request: DaemonRequest, at now: Instant) {
    switch request {
    case .openCentral(let session):
      let counters = context.sessions.counters(of: session)
      context.centrals.place(DaemonContext.Central(counters: counters), at: session.key)
      let state = permissions.stateForApps
      if state != .unknown { context.deliver(.stateChanged(state), to: session) }
      permissions.askForApps(at: now, &context)
    case .openPeripheral(let session):
      let counters = context.sessions.counters(of: session)
      context.peripherals.place(DaemonContext.Peripheral(counters: counters), at: session.key)
      let state = permissions.stateForApps
      if state != .unknown { context.deliver(.stateChanged(state), to: session) }
      permissions.askForApps(at: now, &context)
    case .central(let session, let command, let seenStates):
      guard let index = context.centrals.index(of: session.key) else { return }
      let isCurrent = seenStates == context.centrals.values[index]?.reportedStates
      perform(command, for: session, isCurrent: isCurrent, at: now)
    case .peripheral(let session, let command, let seenStates):
      guard let index = context.peripherals.index(of: session.key) else { return }
      let isCurrent = seenStates == context.peripherals.values[index]?.reportedStates
      perform(command, for: session, isCurrent: isCurrent, at: now)
    case .channel(let channel): channels.channelUsed(channel, at: now, &context)
    case .closeCentral(let session): close(session, at: now)
    case .closePeripheral(let session): close(session, at: now)
    }
  }

  // While the adapter is not on or its use is not permitted, the daemon drops every command but `barrier`,
  // `askForPower` and `observeLinks`, as the session's client does: only commands that were in transit when the state
  // changed arrive here. The daemon also drops commands that were in transit when the adapter went off and on again
  // (`isCurrent` is false).

  private mutating func perform(
    _ command: CentralCommand, for session: CentralSessionID, isCurrent: Bool, at now: Instant
  ) {
    if case .barrier(let number) = command { return context.deliver(.barrierReached(number), to: session) }
    if case .askForPower = command { return permissions.askForPower(at: now, &context) }
    if case .observeLinks = command { return context.observeLinks(for: session) }
    guard permissions.stateForApps == .poweredOn, isCurrent else {
      if let peer = command.creditedPeer { _ = context.centralCounters(of: session)?.writeCredits(for: peer).put() }
      return
    }
    centrals.perform(command, for: session, at: now, &channels, &context)
  }

  private mutating func perform(
    _ command: PeripheralCommand, for session: PeripheralSessionID, isCurrent: Bool, at now: Instant
  ) {
    if case .barrier(let number) = command { return context.deliver(.barrierReached(number), to: session) }
    if case .askForPower = command { return permissions.askForPower(at: now, &context) }
    guard permissions.stateForApps == .poweredOn, isCurrent else {
      if case .update = command { _ = context.peripheralCounters(of: session)?.updateCredits.put() }
      return
    }
    if case .unpublishChannel(let psm) = command { return unpublishChannel(psm, by: session, at: now) }
    peripherals.perform(command, for: session, at: now, &channels, &context)
  }

  private mutating func unpublishChannel(_ psm: UInt16, by session: PeripheralSessionID, at now: Instant) {
    guard channels.unpublishChannel(psm, by: session, at: now, &context) else {
      context.deliver(.channelUnpublished(psm: psm, .invalidParameters), to: session)
      return
    }
    // Apps learn of the end of the channels first.
    takeHostEvents(at: now)
    context.deliver(.channelUnpublished(psm: psm, nil), to: session)
  }

  private mutating func close(_ session: CentralSessionID, at now: Instant) {
    guard let counters = context.centralCounters(of: session) else { return }
    context.releaseLinks(heldFor: counters.backlog)
    centrals.close(session, at: now, &context)
    _ = context.centrals.remove(session.key)
    permissions.stopAskingIfUnused(&context)
  }

  private mutating func close(_ session: PeripheralSessionID, at now: Instant) {
    guard let counters = context.peripheralCounters(of: session) else { return }
    context.releaseLinks(heldFor: counters.backlog)
    peripherals.close(session, at: now, &context)
    channels.unpublishChannels(of: session, at: now, &context)
    takeHostEvents(at: now)
    _ = context.peripherals.remove(session.key)
    permissions.stopAskingIfUnused(&context)
  }
}

extension CentralCommand {
  /// The peer for which the sender has taken a credit; nil: the command needs none.
  fileprivate var creditedPeer: PeerHandle? {
    if case .writeWithoutResponse(let peer, _, _) = self { return peer }
    if case .signedWriteWithoutResponse(let peer, _, _) = self { return peer }
    return nil
  }
}
