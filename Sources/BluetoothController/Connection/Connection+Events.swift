// Design: the events of a connection
//
// A `Connection` is one value. Its `EventSchedule` determines when it needs the radio, `LinkARQ` what it sends next,
// and `ControlProcedures` which procedures are in progress. A connection event passes through these functions:
// - The schedule's next event becomes a `TimeslotRequest` in the `RadioScheduler`. If the radio is not granted
//   before `latestStart`, `missEvent` counts a loss, and the event ends.
// - `beginEvent` chooses the channel. The event's limit is the start of the next claim, or the next anchor point -
//   T_IFS. A central transmits. A peripheral listens until the end of its window.
// - `transmit` chooses the PDU at that instant. The sender then listens for the answer, T_IFS after its packet. A
//   peripheral without more data, or without time, ends the event instead.
// - `received` sets the anchor point, takes the acknowledgement, and passes a new PDU to ACL data or to a control
//   procedure. The event ends if nothing is received, after a second CRC error in a row, and when the link ends.
// - Whether the event continues: a peripheral answers the first packet always and later ones if time is left. A
//   central goes on if MD is set on either side, or if a PDU is not acknowledged, and if time is left.
// - `endEvent` starts the next procedure, assesses the channel, applies the latency, and plans the next event with
//   the update that is due then. The next event is claimed.
//
// A peripheral answers the first packet even if that packet was so long that other activities must wait. An ended
// link makes no further claim.

import BluetoothRadio
import BluetoothWire

/// The connection events · Vol 6, Part B, 4.5.1, 4.5.6, 4.5.7.
extension Connection {
  /// The earliest time at which the next event can end.
  var minimumEnd: Instant {
    mutating get { schedule.minimumEnd(transmit: nextAirTime, receive: answerTime(octets: 0)) }
  }

  /// The time at which the next event ends if the peer's packet has maximum length.
  var longestEnd: Instant {
    mutating get {
      schedule.minimumEnd(transmit: nextAirTime, receive: answerTime(octets: lengths.maximumReceiveOctets))
    }
  }

  private var nextAirTime: TimeSpan {
    mutating get {
      phys.modulation.airTime(
        payloadOctets: flow.nextLength(maximum: lengths.maximumTransmitOctets, session: encryption.session))
    }
  }

  /// Returns the maximum duration of a packet of the peer with `octets` of data.
  private mutating func answerTime(octets: Int) -> TimeSpan {
    let length = octets > 0 ? octets + encryption.receivedCodeLength : 0
    let time = phys.slowestReceiveModulation.airTime(payloadOctets: length)
    // On LE Coded the maximum time is the limit, with either coding of the peer.
    return octets > 0 && phys.receive == .leCoded ? min(time, .microseconds(Int64(lengths.receive.time))) : time
  }

  /// Begins an event, which has the radio until `limit`.
  mutating func beginEvent(limit: Instant, at now: Instant, into output: inout HCIEventQueue) -> RadioStep {
    event = ConnectionEventState()
    event.channel = selection.channel(event: schedule.next, map: channelMap).radioChannel
    event.limit = min(limit, schedule.anchor(of: schedule.next + 1) - LL.interFrameSpace)
    // An event that begins in the middle of the window may have missed the packet, so it counts as missed as well.
    missed = now <= schedule.start + RadioTiming.anchorJitter ? 0 : missed + 1
    statistics.attendedEvents += 1
    switch role {
    case .central:
      schedule.anchored(at: now)
      if procedures.isUpdateDue { completeUpdate(at: now, into: &output) }
      return transmit(in: output.pool)
    case .peripheral:
      return listen(until: schedule.listeningEnds)
    }
  }

  /// Sends the next packet. Its content is chosen now, without processing time, so it includes data that the host sent
  /// during the interframe space.
  mutating func transmit(in pool: PacketPool) -> RadioStep {
    if flow.beginsUpdate { chooseInstant(in: pool) }
    let modulation = phys.modulation
    let isAgain = flow.isRetransmitting
    let (pdu, header) = flow.next(
      maximum: lengths.maximumTransmitOctets, longest: event.longestPayload(modulation), session: &encryption.session)
    event.sentMoreData = header.moreData
    statistics.sent(
      octets: (pdu.plaintext ?? pdu.payload).count, for: modulation.airTime(payloadOctets: pdu.payload.count),
      isAgain: isAgain)
    var packet = AirPacket(
      accessAddress: accessAddress, crcInit: crcInit, header: header.rawValue, payload: pdu.payload)
    packet.plainPayload = pdu.plaintext
    return .command(.transmit(packet, on: event.channel, modulation: modulation, power: transmitPower))
  }

  private mutating func listen(until: Instant) -> RadioStep {
    .command(
      .receive(on: event.channel, phy: phys.receive, accessAddress: accessAddress, crcInit: crcInit, until: until))
  }

  mutating func transmitted(at now: Instant) -> RadioStep {
    if case .afterAnswer(let reason)? = ending {
      ending = .over(reason)
      return .done
    }
    switch role {
    case .central: return listen(until: RadioTiming.answerTimeout(after: now))
    case .peripheral:
      let goesOn = event.receivedMoreData || event.sentMoreData || event.corruptPackets > 0
      let end = now + LL.interFrameSpace + answerTime(octets: 0)
      return goesOn && end <= event.limit ? listen(until: RadioTiming.answerTimeout(after: now)) : .done
    }
  }

  /// Handles the absence of a packet of the peer.
  mutating func nothingReceived() -> RadioStep {
    statistics.receiveTimeouts += 1
    // Silence counts as a loss only if the peer had to send: a peripheral may skip the event (latency), and a central
    // without more data may end the event.
    switch role {
    case .central:
      if isEstablished, !event.isFirstPacket || values.latency == 0 {
        channels.record(event.channel, isIntact: false)
      }
    case .peripheral: if isEstablished, event.isFirstPacket { channels.record(event.channel, isIntact: false) }
    }
    return .done
  }

  /// Processes a packet that has ended. If the event continues, this device sends its next packet after the interframe
  /// space.
  mutating func received(
    _ packet: AirPacket, _ modulation: Modulation, start: Instant, level: Decibel, isIntact: Bool, at now: Instant,
    into output: inout HCIEventQueue
  ) -> RadioStep {
    if role == .peripheral && event.isFirstPacket {
      schedule.anchored(at: start)
      if procedures.isUpdateDue { completeUpdate(at: now, into: &output) }
    }
    event.isFirstPacket = false
    missed = 0
    let header = LL.DataHeader(rawValue: packet.header)
    // A packet longer than negotiated counts as a wrong CRC.
    if isIntact, packet.payload.count == Int(header.length),
      lengths.accepts(packet.payload.count - encryption.receivedCodeLength, header.llid, modulation)
    {
      event.corruptPackets = 0
      event.heardPeer = true
      event.receivedMoreData = header.moreData
      statistics.received(level: level, for: now - start, until: now)
      if isEstablished { channels.record(event.channel, isIntact: true) }
      take(header, packet, at: now, into: &output)
    } else {
      event.corruptPackets += 1
      event.receivedMoreData = true
      statistics.crcErrors += 1
      if isEstablished { channels.record(event.channel, isIntact: false) }
    }
    return answer(after: now)
  }

  private mutating func answer(after now: Instant) -> RadioStep {
    if reasonForEnd != nil || event.corruptPackets >= 2 { return .done }
    let next = now + LL.interFrameSpace
    switch role {
    case .peripheral:
      // The peripheral answers the first packet even if that packet was so long that other activities must wait:
      // otherwise the central would repeat it endlessly without progress. Later answers are limited to the time left.
      if event.hasAnswered {
        let shortest = phys.modulation.airTime(payloadOctets: flow.shortestNextLength)
        guard next + shortest <= event.limit else { return .done }
        event.room = event.limit - next
      }
      event.hasAnswered = true
      return .wait(until: next)
    case .central:
      let isUnheard = flow.pending.map { !$0.isEmpty } ?? false
      // The peer would only repeat data for which this device has no room.
      let expectsData = event.receivedMoreData && !event.hasRefusedData
      guard event.sentMoreData || expectsData || isUnheard else { return .done }
      // A peripheral that has sent MD = 0 is unlikely to send a long packet.
      let answer = answerTime(octets: event.receivedMoreData ? lengths.maximumReceiveOctets : 0)
      return next + nextAirTime + LL.interFrameSpace + answer <= event.limit ? .wait(until: next) : .done
    }
  }

  /// Ends an event that is complete or that did not get the radio.
  mutating func endEvent(at now: Instant, into output: inout HCIEventQueue) {
    if procedures.isUpdateDue { completeUpdate(at: now, into: &output) }
    if role == .peripheral && isEstablished {
      exchangeLengths(at: now, into: &output)
      beginNextProcedure(at: now, into: &output)
    }
    assessChannels(at: now, into: &output)
    let isFree =
      role == .peripheral && event.heardPeer && isEstablished && !flow.hasWork && procedures.isIdle
      && encryption.isIdle
    schedule.advance(skipping: isFree ? schedule.skippable(latency: Int(values.latency)) : 0)
    planUpdate()
  }

  /// Handles an event that did not get the radio.
  mutating func missEvent(at now: Instant, into output: inout HCIEventQueue) {
    missed += 1
    statistics.missedEvents += 1
    event = ConnectionEventState()
    endEvent(at: now, into: &output)
  }

  // MARK: Intact packets

  private mutating func take(
    _ header: LL.DataHeader, _ packet: AirPacket, at now: Instant, into output: inout HCIEventQueue
  ) {
    isEstablished = true
    supervisionDeadline = now + supervisionTimeout
    let hasRoom = output.hasRoom(for: handle)
    event.hasRefusedData = !hasRoom && header.llid != .control && header.length > 0
    let (acknowledged, isNew) = flow.receive(header, hasRoom: hasRoom)
    if let acknowledged { takeAcknowledgement(of: acknowledged, at: now, into: &output) }
    guard isNew, reasonForEnd == nil else { return }
    guard let payload = encryption.plaintext(of: packet, at: now) else {
      ending = .over(.connectionTerminatedMICFailure)
      return
    }
    statistics.received.octets += payload.count
    switch header.llid {
    case .control: receiveControl(payload, at: now, into: &output)
    case .start, .continuation:
      guard !payload.isEmpty else { return }
      guard encryption.admitsData else {
        ending = .over(.connectionTerminatedMICFailure)
        return
      }
      let boundary: HCI.ACLData.Boundary = header.llid == .start ? .firstFlushable : .continuing
      output.send(HCI.ACLData(handle: handle, boundary: boundary, payload: payload))
    case .reserved: break
    }
  }

  private mutating func takeAcknowledgement(
    of pdu: OutgoingPDU, at now: Instant, into output: inout HCIEventQueue
  ) {
    switch pdu.meaning {
    case .none, .update: break
    case .encryptionStart: encryption.session?.decrypts = true
    case .encryptionPause: encryption.session?.decrypts = false
    case .endOfPacket:
      output.send(.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 1, in: output.pool)))
    case .endOfProcedure: finishProcedure(at: now, into: &output)
    case .termination:
      if case .termination(let reason, _)? = procedures.active { ending = .over(reason) }
    }
  }
}
