import BluetoothWire

/// Changes at a future connection event: LL_CONNECTION_UPDATE_IND, LL_CHANNEL_MAP_IND, LL_PHY_UPDATE_IND · Vol 6,
/// Part B, 5.1.1, 5.1.2, 5.1.10, 5.5.
extension Connection {
  /// The earliest instant for a central's update: the peripheral must be able to receive it in at least six events
  /// that it attends · 5.1.1. The first of them follows the event in which the update is sent.
  private var firstInstant: Int {
    schedule.next + (ControlProcedures.eventsBeforeInstant + 1) * (Int(values.latency) + 1)
  }

  /// Queues the PDU of `change`. The instant is chosen when the PDU is sent for the first time: encryption that is
  /// being started, or a full queue, may delay the PDU beyond any instant chosen now.
  mutating func announce(_ change: ControlProcedures.Update, anchor: Instant? = nil, in pool: PacketPool) {
    procedures.agree(on: change, at: nil, anchor: anchor, role: role)
    send(change.pdu(instant: 0), meaning: .update, in: pool)
  }

  /// Chooses the instant of a central's update, which is the next PDU: only now are the events known in which the
  /// peripheral may receive it.
  mutating func chooseInstant(in pool: PacketPool) {
    guard let update = procedures.update, update.instant == nil else { return }
    let instant = firstInstant
    var change = update.change
    if case .parameters(var timing, _) = change {
      let offset = schedule.offset(
        to: EventPlacement(interval: timing.interval, anchor: update.anchor), from: instant)
      let unit = LinkParameters.intervalUnit.nanoseconds
      timing.windowOffset = UInt16(clamping: offset.nanoseconds / unit)
      change = .parameters(timing, delay: TimeSpan(nanoseconds: offset.nanoseconds % unit))
    }
    procedures.choose(instant, for: change)
    flow.rewriteNext(change.pdu(instant: UInt16(truncatingIfNeeded: instant)).payload(in: pool))
  }

  /// Queues LL_CONNECTION_UPDATE_IND.
  mutating func announceUpdate(_ parameters: LinkParameters, _ placement: EventPlacement, in pool: PacketPool) {
    let range = parameters.minimumInterval...parameters.maximumInterval
    // The peer may have narrowed the range.
    let interval = range.contains(placement.interval) ? placement.interval : parameters.maximumInterval
    let timing = LL.ConnectionTiming(
      windowSize: 1, windowOffset: 0, interval: interval, latency: parameters.latency,
      timeout: parameters.supervisionTimeout)
    announce(.parameters(timing, delay: .zero), anchor: placement.anchor, in: pool)
  }

  /// Processes the central's update in a peripheral.
  mutating func takeUpdate(
    _ change: ControlProcedures.Update, isValid: Bool, instant: UInt16, at now: Instant,
    into output: inout HCIEventQueue
  ) {
    guard let event = schedule.futureEvent(instant) else {
      ending = .over(.instantPassed)
      return
    }
    guard isValid else {
      begin(.termination(reason: .invalidLLParameters, code: .invalidLLParameters), at: now, into: &output)
      return
    }
    // An update that is not the next step of the central's request can't be rejected.
    if procedures.remote?.transaction != change.transaction,
      let collision = procedures.collision(with: change.transaction, role: role)
    {
      ending = .over(collision.error)
      return
    }
    procedures.agree(on: change, at: event, role: role)
    // If the instant is the event in progress, the central has already sent this packet with the new values.
    guard event == schedule.next else { return }
    planUpdate(isInEvent: true)
    completeUpdate(at: now, into: &output)
  }

  /// Applies the change whose instant is the next event to the schedule. `completeUpdate` reports the change to the
  /// host when that event takes place.
  ///
  /// - Parameter isInEvent: true if the event at the instant is in progress.
  mutating func planUpdate(isInEvent: Bool = false) {
    guard let (change, instant) = procedures.planUpdate(at: schedule.next) else { return }
    var hasEffect = true
    switch change {
    case .channelMap(let map): channels.map = map
    case .parameters(var timing, let delay):
      // The anchor point of an event in progress is known.
      if isInEvent { (timing.windowOffset, timing.windowSize) = (0, 0) }
      hasEffect = apply(timing, delay: delay, instant: instant)
    case .phys(let update): hasEffect = phys.apply(update, role: role)
    }
    procedures.setEffect(hasEffect)
  }

  /// Ends the procedure whose instant is the present event, and reports the new values to the host. A central does this
  /// when it sends the event's first packet. A peripheral does it when it receives that packet, or when the event ends
  /// without one: only then is it certain that the instant has come · 5.1.1, 5.1.10.
  mutating func completeUpdate(at now: Instant, into output: inout HCIEventQueue) {
    guard let update = procedures.takeUpdate() else { return }
    phys.current = (phys.transmit, phys.receive)
    switch update.change {
    case .channelMap: break
    case .parameters:
      // A peripheral's host gets no report of new anchor points alone · Vol 4, Part E, 7.7.65.3.
      if update.isOwn || role == .central || update.hasEffect {
        output.send(.leConnectionUpdateComplete(.success, handle, values))
      }
    case .phys: if update.isOwn || update.hasEffect { output.report(phys, .success, of: handle) }
    }
    if update.isOwn { procedures.finish() }
    updateLengths(into: &output)
    beginNextProcedure(at: now, into: &output)
  }

  /// Applies the new parameters; returns true if they differ from the old ones.
  private mutating func apply(_ timing: LL.ConnectionTiming, delay: TimeSpan, instant: Int) -> Bool {
    let unit = LinkParameters.intervalUnit
    schedule.update(
      at: instant, interval: unit * Int64(timing.interval), offset: unit * Int64(timing.windowOffset) + delay,
      windowSize: unit * Int64(timing.windowSize))
    let before = values
    values = HCI.ConnectionValues(
      interval: timing.interval, latency: timing.latency, supervisionTimeout: timing.timeout)
    // The new timeout counts from the instant.
    supervisionDeadline = schedule.start + supervisionTimeout
    return values != before
  }
}

extension ControlProcedures.Update {
  /// Returns the PDU with which a central announces the update.
  fileprivate func pdu(instant: UInt16) -> LL.ControlPDU {
    switch self {
    case .parameters(let timing, _): .connectionUpdateInd(timing, instant: instant)
    case .channelMap(let map): .channelMapInd(map, instant: instant)
    case .phys(let update): .phyUpdateInd(update, instant: instant)
    }
  }
}
