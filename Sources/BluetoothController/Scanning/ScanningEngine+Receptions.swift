import BluetoothRadio
import BluetoothWire

/// The reception of auxiliary packets that ADV_EXT_IND announces, for the scanner, the initiator and periodic
/// advertising · Vol 6, Part B, 4.4.3, 4.4.4.
extension ScanningEngine {
  /// The payload length of AUX_SCAN_REQ, octets.
  private static let scanRequestOctets = 12

  /// The result of an auxiliary packet.
  enum Outcome {
    case step(RadioStep)
    /// The initiator may answer AUX_ADV_IND of this advertiser, which has just ended on the channel and PHY.
    case connect(DeviceAddress, on: RadioChannel, RadioPHY)
    /// The advertiser has accepted the connection.
    case connected(ConnectExchange)
    /// The advertiser has not accepted the connection.
    case refused
  }

  // MARK: Start of an event

  /// Processes an ADV_EXT_IND that began at `start` and has ended.
  mutating func heard(
    _ payload: LL.ExtendedAdvertisingPayload, _ modulation: Modulation, from start: Instant, level: Decibel,
    initiating: inout InitiatingEngine, syncs: inout PeriodicSyncs, device: inout LocalDevice,
    radio: inout RadioControl, at now: Instant
  ) {
    var event = ExtendedEvent(payload, modulation)
    guard let pointer = payload.auxiliary else {
      // Without AuxPtr the packet is the whole event, and it must name the advertiser.
      guard event.mode == .nonConnectable, event.advertiser != nil, wants(event, device: &device) else { return }
      _ = report(&event, payload.data, level, isLast: true, isFollowed: false, device: &device)
      return
    }
    guard isOfInterest(event, initiating: &initiating, syncs: &syncs, device: &device),
      let window = device.window(pointer, from: start, at: now)
    else { return }
    receptions.add(AuxiliaryReception(event, in: window), scheduler: &radio.scheduler)
  }

  /// True if the scanner, the initiator or a synchronization may need the event, as far as ADV_EXT_IND shows.
  private mutating func isOfInterest(
    _ event: ExtendedEvent, initiating: inout InitiatingEngine, syncs: inout PeriodicSyncs, device: inout LocalDevice
  ) -> Bool {
    if initiating.wants(event, device: &device) { return true }
    if wantsSync(event, syncs: &syncs, device: &device) { return true }
    guard let scanner, scanner.isExtended, scanner.isScanning(event.primaryPHY),
      mayBeForScanner(event, device: &device)
    else { return false }
    // AUX_ADV_IND may carry the advertiser's address.
    guard event.advertiser != nil else { return true }
    return accepts(event.advertiser, device: &device)
      && (!scanner.isDuplicate(key(of: event, device: &device)) || asksForResponse(event, device: &device))
  }

  private mutating func asksForResponse(_ event: ExtendedEvent, device: inout LocalDevice) -> Bool {
    guard event.mode == .scannable, let scanner else { return false }
    return scanner.isActive(on: event.primaryPHY) && !scanner.isDuplicate(responseKey(of: event, device: &device))
  }

  /// True if a requested synchronization may be to the train of this event. Synchronization takes place only while
  /// the host scans for extended advertising.
  private mutating func wantsSync(
    _ event: ExtendedEvent, syncs: inout PeriodicSyncs, device: inout LocalDevice
  ) -> Bool {
    guard event.mode == .nonConnectable, scanner?.isExtended == true, scanner?.isScanning(event.primaryPHY) == true
    else { return false }
    return syncs.wants(event, device: &device)
  }

  /// Drops the receptions that only the scanner or the initiator needed. Called after scanning or initiating has ended.
  mutating func dropReceptions(initiating: inout InitiatingEngine, radio: inout RadioControl) {
    let isScanning = scanner?.isExtended == true && scanner?.isPausing == false
    for index in receptions.indices {
      guard let reception = receptions[index] else { continue }
      let isWanted: Bool
      switch reception.phase {
      case .connecting, .awaitingConnectResponse, .beforeConnectRequest: isWanted = initiating.initiator != nil
      case .chain, .beforeScanRequest, .requesting, .awaitingScanResponse: isWanted = isScanning
      case .advertisement: isWanted = isScanning || initiating.initiator?.isExtended == true
      }
      guard !isWanted else { continue }
      radio.abandon(.auxiliaryReception(index))
      receptions.remove(index, scheduler: &radio.scheduler)
    }
  }

  // MARK: Events

  /// Listens for the next announced packet. Called when the radio is available.
  mutating func beginReception(_ index: Int) -> RadioStep {
    guard let window = receptions[index]?.window else { return .done }
    receptions[index]?.isExpecting = false
    return .command(window.command())
  }

  /// Handles an announced packet for which the radio was not free in time.
  mutating func loseReception(_ index: Int, device: inout LocalDevice, radio: inout RadioControl) {
    receptions.losses += 1
    _ = giveUp(index, device: &device)
    receptions.remove(index, scheduler: &radio.scheduler)
  }

  /// Requests the timeslot of the next announced packet, or removes the reception if there is none. Called when the
  /// reception has released the radio.
  mutating func endReception(_ index: Int, radio: inout RadioControl) {
    guard let reception = receptions[index], let activityID = receptions.activityID(index) else { return }
    if reception.isExpecting {
      radio.scheduler[activityID] = reception.window.timeslot(losses: receptions.losses)
    } else {
      receptions.remove(index, scheduler: &radio.scheduler)
    }
  }

  /// Returns the next step when the interframe space before a request has elapsed.
  mutating func receptionTimeReached(
    _ index: Int, initiating: inout InitiatingEngine, device: inout LocalDevice, at now: Instant
  ) -> RadioStep {
    guard let reception = receptions[index] else { return .done }
    switch reception.phase {
    case .beforeScanRequest:
      guard let peer = reception.event.advertiser, let own = ownAddress(to: peer, device: &device, at: now) else {
        return .done
      }
      receptions[index]?.phase = .requesting
      let packet = LL.AdvertisingPDU.scanReq(scanner: own, advertiser: peer).packet(in: device.pool)
      return .command(
        .transmit(
          packet, on: reception.window.channel, modulation: reception.window.phy.modulation,
          power: device.configuration.transmitPower))
    case .beforeConnectRequest(let exchange):
      receptions[index]?.phase = .connecting(exchange)
      return .command(initiating.request(exchange, device: &device))
    case .advertisement, .chain, .requesting, .awaitingScanResponse, .connecting, .awaitingConnectResponse:
      return .done
    }
  }

  /// Processes a radio event while a reception has the radio.
  mutating func takeReception(
    _ event: RadioEvent, for index: Int, initiating: inout InitiatingEngine, syncs: inout PeriodicSyncs,
    device: inout LocalDevice, radio: inout RadioControl, at now: Instant
  ) -> Outcome {
    guard let reception = receptions[index] else { return .step(.done) }
    switch (event, reception.phase) {
    case (.transmitted, .requesting):
      receptions[index]?.phase = .awaitingScanResponse
      return .step(.command(answer(in: reception.window, at: now)))
    case (.transmitted, .connecting(let exchange)):
      receptions[index]?.phase = .awaitingConnectResponse(exchange)
      return .step(.command(answer(in: reception.window, at: now)))
    case (.received(let packet, let modulation, let start, let level, isIntact: true), _):
      let arrival = ReceptionInfo(modulation: modulation, start: start, level: level, end: now)
      guard let pdu = try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload) else { break }
      return take(pdu, arrival, in: index, initiating: &initiating, syncs: &syncs, device: &device, radio: &radio)
    default: break
    }
    return giveUp(index, device: &device) ? .refused : .step(.done)
  }

  private mutating func answer(in window: AuxiliaryWindow, at now: Instant) -> RadioCommand {
    .receive(
      on: window.channel, phy: window.phy, accessAddress: LL.advertisingAccessAddress,
      crcInit: LL.advertisingCRCInit, until: RadioTiming.answerTimeout(after: now))
  }

  /// Handles the absence of an announced packet or response. Returns true if it was the response to AUX_CONNECT_REQ.
  private mutating func giveUp(_ index: Int, device: inout LocalDevice) -> Bool {
    guard var reception = receptions[index] else { return false }
    if case .awaitingScanResponse = reception.phase {
      scanner?.requestEnded(isSuccess: false, random: &device.random)
    }
    reportTruncation(of: &reception.event, device: &device)
    receptions[index] = reception
    return reception.isConnecting
  }

  /// Prepares AUX_CONNECT_REQ, which follows the packet that has just ended.
  mutating func connect(_ exchange: ConnectExchange, in index: Int, at now: Instant) -> RadioStep {
    receptions[index]?.phase = .beforeConnectRequest(exchange)
    return .wait(until: now + LL.interFrameSpace)
  }

  // MARK: Received packets

  /// The properties of a received packet.
  private struct ReceptionInfo {
    let modulation: Modulation
    var phy: RadioPHY { modulation.phy }
    let start: Instant
    let level: Decibel
    let end: Instant
  }

  private mutating func take(
    _ pdu: LL.AdvertisingPDU, _ arrival: ReceptionInfo, in index: Int, initiating: inout InitiatingEngine,
    syncs: inout PeriodicSyncs, device: inout LocalDevice, radio: inout RadioControl
  ) -> Outcome {
    guard var reception = receptions[index] else { return .step(.done) }
    receptions.losses = 0
    device.learnAddresses(of: pdu)
    var outcome = Outcome.step(.done)
    switch (pdu, reception.phase) {
    case (.extended(let payload), .advertisement) where reception.event.take(payload, arrival.modulation):
      outcome = takeAdvertisement(
        payload, arrival, in: &reception, initiating: &initiating, syncs: &syncs, device: &device, radio: &radio)
    case (.extended(let payload), .chain) where reception.event.takeChained(payload):
      takeData(payload, arrival, in: &reception, device: &device)
    case (.extended(let payload), .awaitingScanResponse) where reception.event.takeResponse(payload):
      scanner?.requestEnded(isSuccess: true, random: &device.random)
      takeData(payload, arrival, in: &reception, device: &device)
    case (.auxConnectRsp(let advertiser, let own), .awaitingConnectResponse(let exchange))
    where advertiser == exchange.peer && own == exchange.own:
      return .connected(exchange)
    default: return giveUp(index, device: &device) ? .refused : .step(.done)
    }
    receptions[index] = reception
    return outcome
  }

  /// Processes AUX_ADV_IND.
  private mutating func takeAdvertisement(
    _ payload: LL.ExtendedAdvertisingPayload, _ arrival: ReceptionInfo, in reception: inout AuxiliaryReception,
    initiating: inout InitiatingEngine, syncs: inout PeriodicSyncs, device: inout LocalDevice,
    radio: inout RadioControl
  ) -> Outcome {
    if let info = payload.syncInfo, wantsSync(reception.event, syncs: &syncs, device: &device) {
      syncs.synchronize(
        to: info, of: reception.event, from: arrival.start, device: &device, radio: &radio, at: arrival.end)
    }
    if let advertiser = reception.event.advertiser, let target = reception.event.target {
      device.resolvingList.learn(target: target, of: advertiser)
    }
    let isWanted = wants(reception.event, device: &device)
    switch reception.event.mode {
    case .nonConnectable:
      if isWanted { takeData(payload, arrival, in: &reception, device: &device) }
    case .connectable:
      if isWanted { reportWhole(payload, arrival, in: &reception, device: &device) }
      guard let peer = reception.event.advertiser, initiating.wants(reception.event, device: &device) else { break }
      return .connect(peer, on: reception.window.channel, arrival.phy)
    case .scannable:
      if isWanted { reportWhole(payload, arrival, in: &reception, device: &device) }
      guard reception.event.advertiser != nil,
        mayRequest(reception.event, on: arrival.phy, device: &device, radio: &radio, at: arrival.end)
      else { break }
      reception.phase = .beforeScanRequest
      return .step(.wait(until: arrival.end + LL.interFrameSpace))
    }
    return .step(.done)
  }

  /// Reports AUX_ADV_IND without a chain.
  private mutating func reportWhole(
    _ payload: LL.ExtendedAdvertisingPayload, _ arrival: ReceptionInfo, in reception: inout AuxiliaryReception,
    device: inout LocalDevice
  ) {
    _ = report(&reception.event, payload.data, arrival.level, isLast: true, isFollowed: false, device: &device)
  }

  private mutating func mayRequest(
    _ event: ExtendedEvent, on phy: RadioPHY, device: inout LocalDevice, radio: inout RadioControl, at now: Instant
  ) -> Bool {
    guard let scanner, scanner.isExtended, judge(event.target, of: event.advertiser, device: &device) != .foreign,
      accepts(event.advertiser, device: &device)
    else { return false }
    let length =
      LL.interFrameSpace * 2 + phy.modulation.airTime(payloadOctets: Self.scanRequestOctets) + phy.longestPacket
    guard radio.mayAnswer(for: length, losses: 0, at: now) else { return false }
    let key = responseKey(of: event, device: &device)
    return self.scanner?.shouldRequest(key, on: event.primaryPHY) == true
  }

  /// Processes data that may continue in AUX_CHAIN_IND.
  private mutating func takeData(
    _ payload: LL.ExtendedAdvertisingPayload, _ arrival: ReceptionInfo, in reception: inout AuxiliaryReception,
    device: inout LocalDevice
  ) {
    let window = payload.auxiliary.flatMap { device.window($0, from: arrival.start, at: arrival.end) }
    guard
      report(
        &reception.event, payload.data, arrival.level, isLast: payload.auxiliary == nil, isFollowed: window != nil,
        device: &device),
      let window
    else { return }
    reception.phase = .chain
    reception.window = window
    reception.isExpecting = true
  }
}
