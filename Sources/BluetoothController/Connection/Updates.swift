import BluetoothWire

/// What changes at a connection event to come: LL_CONNECTION_UPDATE_IND, LL_CHANNEL_MAP_IND, LL_PHY_UPDATE_IND ·
/// Vol 6, Part B, 5.1.1, 5.1.2, 5.1.10, 5.5.
extension Connection {
  /// Of a central's news: the peripheral shall have the chance to hear of it in six events at least that it attends · 5.1.1.
  /// The first of them is after the event in which the news goes out.
  private var firstInstant: Int {
    schedule.next + (ControlProcedures.eventsBeforeInstant + 1) * (Int(values.latency) + 1)
  }

  /// Queues the news of `change`. The event is chosen when the PDU is sent for the first time: encryption that is being
  /// started, or a full queue, may hold it back for longer than any instant lies ahead.
  mutating func announce(_ change: ControlProcedures.Update, anchor: Instant? = nil, in pool: PacketPool) {
    procedures.agree(on: change, at: nil, anchor: anchor)
    send(change.pdu(instant: 0), meaning: .update, in: pool)
  }

  /// The news of a central's update is the next PDU: now it is known in which events the peripheral may hear of it.
  mutating func chooseInstant(in pool: PacketPool) {
    guard let update = procedures.update, update.instant == nil else { return }
    let instant = firstInstant
    var change = update.change
    if case .parameters(var timing, _) = change {
      let offset = schedule.offset(
        to: EventPlacement(interval: timing.interval, anchor: update.anchor), from: instant)
      let unit = ConnectionParameters.intervalUnit.nanoseconds
      timing.windowOffset = UInt16(clamping: offset.nanoseconds / unit)
      change = .parameters(timing, delay: TimeSpan(nanoseconds: offset.nanoseconds % unit))
    }
    procedures.choose(instant, for: change)
    flow.rewriteNext(change.pdu(instant: UInt16(truncatingIfNeeded: instant)).payload(in: pool))
  }

  /// LL_CONNECTION_UPDATE_IND.
  mutating func announceUpdate(_ parameters: ConnectionParameters, _ placement: EventPlacement, in pool: PacketPool) {
    let range = parameters.minimumInterval...parameters.maximumInterval
    // The peer may have narrowed the range.
    let interval = range.contains(placement.interval) ? placement.interval : parameters.maximumInterval
    let timing = LL.ConnectionTiming(
      windowSize: 1, windowOffset: 0, interval: interval, latency: parameters.latency,
      timeout: parameters.supervisionTimeout)
    announce(.parameters(timing, delay: .zero), anchor: placement.anchor, in: pool)
  }

  /// LL_CHANNEL_MAP_IND; false: the channels are those that are wanted.
  mutating func announceChannelMap(in pool: PacketPool) -> Bool {
    let map = channels.wanted(on: phys)
    guard map != channels.map else { return false }
    announce(.channelMap(map), in: pool)
    return true
  }

  /// A peripheral hears what the central has decided.
  mutating func takeUpdate(
    _ change: ControlProcedures.Update, isValid: Bool, instant: UInt16, at now: Instant,
    into output: inout HostOutput
  ) {
    guard let event = futureEvent(instant) else { return }
    guard isValid else {
      begin(.termination(reason: .invalidLLParameters, code: .invalidLLParameters), at: now, into: &output)
      return
    }
    guard procedures.update == nil, procedures.remote.map({ $0.transaction == change.transaction }) ?? true else {
      // The central has begun one procedure in the middle of another · 5.3.
      ending = .over(.differentTransactionCollision)
      return
    }
    procedures.agree(on: change, at: event)
    // An update at this very event: the packet that brought the news was already sent as it says.
    guard event == schedule.next else { return }
    planUpdate(isInEvent: true)
    completeUpdate(at: now, into: &output)
  }

  /// The number of the event that a PDU's Instant means. One that has passed, which is one that lies 32,767 events ahead or
  /// more, ends the connection at once · 5.5.
  private mutating func futureEvent(_ instant: UInt16) -> Int? {
    let distance = Int(instant &- UInt16(truncatingIfNeeded: schedule.next))
    guard distance < 32_767 else {
      ending = .over(.instantPassed)
      return nil
    }
    return schedule.next + distance
  }

  /// Plans the next event with the change whose instant it is. The host is told when that event takes place.
  ///
  /// - Parameter isInEvent: true if the event at the instant goes on.
  mutating func planUpdate(isInEvent: Bool = false) {
    guard let (change, instant) = procedures.planUpdate(at: schedule.next) else { return }
    var hasEffect = true
    switch change {
    case .channelMap(let map): channels.map = map
    case .parameters(var timing, let delay):
      // The anchor point of an event that goes on is known.
      if isInEvent { (timing.windowOffset, timing.windowSize) = (0, 0) }
      hasEffect = apply(timing, delay: delay, instant: instant)
    case .phys(let update): hasEffect = phys.apply(update, role: role)
    }
    procedures.setEffect(hasEffect)
  }

  /// Ends the procedure whose instant is the event that takes place now, and tells the host what is in force. A central
  /// does this when it sends the event's first packet. A peripheral does it when it receives that packet, or when the event
  /// ends without one: only then the instant has surely come · 5.1.1, 5.1.10.
  mutating func completeUpdate(at now: Instant, into output: inout HostOutput) {
    guard let update = procedures.takeUpdate() else { return }
    phys.current = (phys.transmit, phys.receive)
    switch update.change {
    case .channelMap: break
    case .parameters:
      // A peripheral's host is not told of new anchor points alone · Vol 4, Part E, 7.7.65.3.
      if update.isOwn || role == .central || update.hasEffect {
        output.send(.leConnectionUpdateComplete(.success, handle, values))
      }
    case .phys: if update.isOwn || update.hasEffect { reportPHYs(.success, into: &output) }
    }
    if update.isOwn { procedures.finish() }
    updateLengths(into: &output)
    beginNextProcedure(at: now, into: &output)
  }

  /// Takes the new parameters; returns true if they differ from the old ones.
  private mutating func apply(_ timing: LL.ConnectionTiming, delay: TimeSpan, instant: Int) -> Bool {
    let unit = ConnectionParameters.intervalUnit
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
  /// What a central tells of it.
  fileprivate func pdu(instant: UInt16) -> LL.ControlPDU {
    switch self {
    case .parameters(let timing, _): .connectionUpdateInd(timing, instant: instant)
    case .channelMap(let map): .channelMapInd(map, instant: instant)
    case .phys(let update): .phyUpdateInd(update, instant: instant)
    }
  }
}
