import BluetoothRadio
import BluetoothWire

/// What has happened in the connection event that has the radio.
struct EventProgress {
  /// One event stays on one channel, even when the channel map changes in it.
  var channel = RadioChannel(0)
  /// No packet may last beyond this.
  var limit = Instant.distantFuture
  var isFirstPacket = true
  /// The MD bits that were sent and received last. A PDU that was not intact says nothing, so the event goes on.
  var sentMoreData = false
  var receivedMoreData = false
  /// Packets in a row with a wrong CRC · Vol 6, Part B, 4.5.1: two close the event.
  var corruptPackets = 0
  var heardPeer = false
  var hasAnswered = false
}

/// Connection events · Vol 6, Part B, 4.5.1, 4.5.6, 4.5.7.
extension Connection {
  /// Until when the next event needs the radio at least.
  var minimumEnd: Instant {
    let empty = LL.airTime(dataOctets: 0)
    return schedule.minimumEnd(transmit: nextAirTime, receive: empty)
  }

  /// Until when it may need it if the peer's packet is as long as it may be.
  var longestEnd: Instant {
    schedule.minimumEnd(transmit: nextAirTime, receive: LL.airTime(dataOctets: lengths.maximumReceiveOctets))
  }

  private var nextAirTime: TimeSpan {
    LL.airTime(dataOctets: flow.nextLength(maximum: lengths.maximumTransmitOctets))
  }

  /// The connection has the radio until `limit`.
  mutating func beginEvent(limit: Instant, at now: Instant) -> RadioStep {
    event = EventProgress()
    event.channel = selection.channel(event: schedule.next, map: channelMap).radioChannel
    event.limit = min(limit, schedule.anchor(of: schedule.next + 1) - LL.interFrameSpace)
    // Who begins in the middle of the window has had half a chance.
    missed = now <= schedule.start + RadioTiming.anchorJitter ? 0 : missed + 1
    switch role {
    case .central:
      schedule.anchored(at: now)
      return transmit()
    case .peripheral:
      return listen(until: schedule.listeningEnds)
    }
  }

  /// What is sent is decided now: what the host said within the interframe space goes along. A shortcut that no observer
  /// can tell: the controller answers in no time.
  mutating func transmit() -> RadioStep {
    let (pdu, header) = flow.next(maximum: lengths.maximumTransmitOctets)
    event.sentMoreData = header.moreData
    let packet = AirPacket(
      accessAddress: accessAddress, crcInit: crcInit, header: header.rawValue, payload: pdu.payload)
    return .command(.transmit(packet, on: event.channel, modulation: .le1M, power: transmitPower))
  }

  private func listen(until: Instant) -> RadioStep {
    .command(.receive(on: event.channel, phy: .le1M, accessAddress: accessAddress, crcInit: crcInit, until: until))
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
      let end = now + LL.interFrameSpace + LL.airTime(dataOctets: 0)
      return goesOn && end <= event.limit ? listen(until: RadioTiming.answerTimeout(after: now)) : .done
    }
  }

  /// A packet has ended. The peer's answer, or one for it, follows after the interframe space.
  mutating func received(
    _ packet: AirPacket, start: Instant, level: Decibel, isIntact: Bool, at now: Instant,
    into output: inout HostOutput
  ) -> RadioStep {
    if role == .peripheral && event.isFirstPacket { schedule.anchored(at: start) }
    event.isFirstPacket = false
    missed = 0
    let header = LL.DataHeader(rawValue: packet.header)
    // Too long for what was agreed is as good as a wrong CRC.
    if isIntact, packet.payload.count == Int(header.length), packet.payload.count <= lengths.acceptedOctets {
      event.corruptPackets = 0
      event.heardPeer = true
      event.receivedMoreData = header.moreData
      self.level = level
      take(header, packet.payload, at: now, into: &output)
    } else {
      event.corruptPackets += 1
      event.receivedMoreData = true
    }
    return answer(after: now)
  }

  private mutating func answer(after now: Instant) -> RadioStep {
    if reasonForEnd != nil || event.corruptPackets >= 2 { return .done }
    let next = now + LL.interFrameSpace
    switch role {
    case .peripheral:
      // The first packet is answered even if it was so long that others have to wait: the central would send it again and
      // again, and nobody would ever get on.
      guard !event.hasAnswered || next + nextAirTime <= event.limit else { return .done }
      event.hasAnswered = true
      return .wait(until: next)
    case .central:
      let isUnheard = flow.pending.map { !$0.isEmpty } ?? false
      guard event.sentMoreData || event.receivedMoreData || isUnheard else { return .done }
      let answer = LL.airTime(dataOctets: lengths.maximumReceiveOctets)
      return next + nextAirTime + LL.interFrameSpace + answer <= event.limit ? .wait(until: next) : .done
    }
  }

  /// The event does not have the radio any more, or did not get it.
  mutating func endEvent(at now: Instant, into output: inout HostOutput) {
    if role == .peripheral && isEstablished { exchangeLengths(at: now, into: &output) }
    let isFree = role == .peripheral && event.heardPeer && isEstablished && !flow.hasWork && procedures.isIdle
    schedule.advance(skipping: isFree ? Int(values.latency) : 0)
    applyUpdates(at: now, into: &output)
  }

  /// Another activity has the radio.
  mutating func missEvent(at now: Instant, into output: inout HostOutput) {
    missed += 1
    event = EventProgress()
    endEvent(at: now, into: &output)
  }

  // MARK: An intact packet

  private mutating func take(
    _ header: LL.DataHeader, _ payload: ByteSlice, at now: Instant, into output: inout HostOutput
  ) {
    isEstablished = true
    supervisionDeadline = now + supervisionTimeout
    let (acknowledged, isNew) = flow.receive(header)
    if let acknowledged { takeAcknowledgement(of: acknowledged, into: &output) }
    guard isNew, reasonForEnd == nil else { return }
    switch header.llid {
    case .control: receiveControl(payload, at: now, into: &output)
    case .start, .continuation:
      guard !payload.isEmpty else { return }
      let boundary: HCI.ACLData.Boundary = header.llid == .start ? .firstFlushable : .continuing
      output.send(HCI.ACLData(handle: handle, boundary: boundary, payload: payload))
    case .reserved: break
    }
  }

  private mutating func takeAcknowledgement(of pdu: OutgoingPDU, into output: inout HostOutput) {
    switch pdu.meaning {
    case .none: break
    case .endOfPacket:
      output.send(.numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 1, in: output.pool)))
    case .termination:
      if case .termination(let reason, _)? = procedures.active { ending = .over(reason) }
    }
  }
}

extension LL {
  /// How long a data PDU without MIC lasts on LE 1M: preamble, access address, header and CRC are 10 octets.
  static func airTime(dataOctets: Int) -> TimeSpan { .microseconds(Int64(8 * (dataOctets + 10))) }
}
