import BluetoothRadio
import BluetoothWire

/// The reception of auxiliary packets that ADV_EXT_IND announces, for the scanner, the initiator and periodic
/// advertising · Vol 6, Part B, 4.4.3, 4.4.4.
extension Controller {
  /// The payload length of AUX_SCAN_REQ, octets.
  private static let scanRequestOctets = 12

  // MARK: Start of an event

  /// Processes an ADV_EXT_IND that began at `start` and has ended.
  mutating func heard(
    _ payload: LL.ExtendedAdvertisingPayload, _ modulation: Modulation, from start: Instant, level: Decibel,
    at now: Instant
  ) {
    var event = ExtendedEvent(payload, modulation)
    guard let pointer = payload.auxiliary else {
      // Without AuxPtr the packet is the whole event, and it must name the advertiser.
      guard event.mode == .nonConnectable, event.advertiser != nil, scannerWants(event) else { return }
      _ = report(&event, payload.data, level, isLast: true, isFollowed: false)
      return
    }
    guard isOfInterest(event), let window = window(pointer, from: start, at: now) else { return }
    auxiliaries.add(AuxiliaryReception(event, in: window), agenda: &agenda)
  }

  /// Returns the window of the packet that `pointer` announces, in a packet that began at `start` and has ended by
  /// now; nil: there is none that this device could receive.
  mutating func window(_ pointer: LL.AuxiliaryPointer, from start: Instant, at now: Instant) -> AuxiliaryWindow? {
    guard features.phys.contains(HCI.PHYs(pointer.phy)) else { return nil }
    return AuxiliaryWindow(pointer, from: start, clock: clock, accuracy: clockAccuracy, at: now)
  }

  /// True if the scanner, the initiator or a synchronization may need the event, as far as ADV_EXT_IND shows.
  private mutating func isOfInterest(_ event: ExtendedEvent) -> Bool {
    if initiator?.wants(event, acceptList: host.acceptList, resolvingList: resolvingList) == true { return true }
    if wantsSync(event) { return true }
    guard let scanner, scanner.isExtended, scanner.isScanning(event.primaryPHY),
      mayBeForScanner(event)
    else { return false }
    // AUX_ADV_IND may carry the advertiser's address.
    guard event.advertiser != nil else { return true }
    return scannerAccepts(event.advertiser) && (!scanner.isDuplicate(key(of: event)) || asksForResponse(event))
  }

  private mutating func asksForResponse(_ event: ExtendedEvent) -> Bool {
    guard event.mode == .scannable, let scanner else { return false }
    return scanner.isActive(on: event.primaryPHY) && !scanner.isDuplicate(responseKey(of: event))
  }

  /// Stops following events that only the scanner or the initiator needed, after it has ended.
  mutating func dropReceptions() {
    let isScanning = scanner?.isExtended == true && scanner?.isPausing == false
    for index in auxiliaries.indices {
      guard let reception = auxiliaries[index] else { continue }
      let isWanted: Bool
      switch reception.phase {
      case .connecting, .awaitingConnectResponse, .beforeConnectRequest: isWanted = initiator != nil
      case .chain, .beforeScanRequest, .requesting, .awaitingScanResponse: isWanted = isScanning
      case .advertisement: isWanted = isScanning || initiator?.isExtended == true
      }
      guard !isWanted else { continue }
      if radioUse.isActivity(.auxiliaryReception(index)) { abandonRadio() }
      auxiliaries.remove(index, agenda: &agenda)
    }
  }

  // MARK: Events

  mutating func beginAuxiliaryReception(_ index: Int, at now: Instant) -> RadioStep {
    guard let window = auxiliaries[index]?.window else { return .done }
    auxiliaries[index]?.isExpecting = false
    return .command(window.command())
  }

  /// Handles a packet for which the radio was not free in time; returns the next claim.
  mutating func loseAuxiliaryReception(_ index: Int, at now: Instant) -> TimeslotRequest? {
    auxiliaries.losses += 1
    giveUpReception(index)
    auxiliaries.remove(index, agenda: &agenda)
    return nil
  }

  mutating func endAuxiliaryReception(_ index: Int, at now: Instant) {
    guard let reception = auxiliaries[index], let place = auxiliaries.place(index) else { return }
    if reception.isExpecting {
      agenda[place] = reception.window.claim(losses: auxiliaries.losses)
    } else {
      auxiliaries.remove(index, agenda: &agenda)
    }
  }

  mutating func auxiliaryReceptionTimeReached(_ index: Int, at now: Instant) {
    guard let reception = auxiliaries[index] else { return perform(.done, at: now) }
    switch reception.phase {
    case .beforeScanRequest:
      guard let peer = reception.event.advertiser, let own = scannerAddress(to: peer, at: now) else {
        return perform(.done, at: now)
      }
      auxiliaries[index]?.phase = .requesting
      let packet = LL.AdvertisingPDU.scanReq(scanner: own, advertiser: peer).packet(in: pool)
      perform(
        .command(
          .transmit(
            packet, on: reception.window.channel, modulation: reception.window.phy.modulation,
            power: configuration.transmitPower)), at: now)
    case .beforeConnectRequest(let exchange):
      auxiliaries[index]?.phase = .connecting(exchange)
      perform(.command(connectRequest(exchange)), at: now)
    default: perform(.done, at: now)
    }
  }

  mutating func continueAuxiliaryReception(_ index: Int, _ event: RadioEvent, at now: Instant) {
    guard let reception = auxiliaries[index] else { return perform(.done, at: now) }
    switch (event, reception.phase) {
    case (.transmitted, .requesting):
      auxiliaries[index]?.phase = .awaitingScanResponse
      perform(.command(answerReception(in: reception.window, at: now)), at: now)
    case (.transmitted, .connecting(let exchange)):
      auxiliaries[index]?.phase = .awaitingConnectResponse(exchange)
      perform(.command(answerReception(in: reception.window, at: now)), at: now)
    case (.received(let packet, let modulation, let start, let level, isIntact: true), _):
      let arrival = Arrival(modulation: modulation, start: start, level: level, end: now)
      if let pdu = try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload) {
        take(pdu, arrival, in: index)
      } else {
        giveUpReception(index)
      }
      // The timer is set if a request follows; otherwise the radio is not needed any more.
      if timer == nil { perform(.done, at: now) }
    default:
      giveUpReception(index)
      perform(.done, at: now)
    }
  }

  private mutating func answerReception(in window: AuxiliaryWindow, at now: Instant) -> RadioCommand {
    .receive(
      on: window.channel, phy: window.phy, accessAddress: LL.advertisingAccessAddress,
      crcInit: LL.advertisingCRCInit, until: RadioTiming.answerTimeout(after: now))
  }

  /// Handles the absence of an announced packet or response.
  private mutating func giveUpReception(_ index: Int) {
    guard var reception = auxiliaries[index] else { return }
    if case .awaitingScanResponse = reception.phase { scanner?.requestEnded(isSuccess: false, random: &random) }
    reportTruncation(of: &reception.event)
    auxiliaries[index] = reception
    if initiator?.isCancelled == true, reception.isConnecting { endInitiating() }
  }

  // MARK: Received packets

  /// The properties of a received packet.
  private struct Arrival {
    let modulation: Modulation
    var phy: PHY { modulation.phy }
    let start: Instant
    let level: Decibel
    let end: Instant
  }

  private mutating func take(_ pdu: LL.AdvertisingPDU, _ arrival: Arrival, in index: Int) {
    guard var reception = auxiliaries[index] else { return }
    auxiliaries.losses = 0
    learnAddresses(of: pdu)
    switch (pdu, reception.phase) {
    case (.extended(let payload), .advertisement) where reception.event.take(payload, arrival.modulation):
      takeAdvertisement(payload, arrival, in: &reception)
      auxiliaries[index] = reception
    case (.extended(let payload), .chain) where reception.event.takeChained(payload):
      takeData(payload, arrival, in: &reception)
      auxiliaries[index] = reception
    case (.extended(let payload), .awaitingScanResponse) where reception.event.takeResponse(payload):
      scanner?.requestEnded(isSuccess: true, random: &random)
      takeData(payload, arrival, in: &reception)
      auxiliaries[index] = reception
    case (.auxConnectRsp(let advertiser, let own), .awaitingConnectResponse(let exchange))
    where advertiser == exchange.peer && own == exchange.own:
      connected(exchange)
    default: giveUpReception(index)
    }
  }

  /// Processes AUX_ADV_IND.
  private mutating func takeAdvertisement(
    _ payload: LL.ExtendedAdvertisingPayload, _ arrival: Arrival, in reception: inout AuxiliaryReception
  ) {
    if let info = payload.syncInfo {
      synchronize(to: info, of: reception.event, from: arrival.start, at: arrival.end)
    }
    learnTarget(of: reception.event)
    let isWanted = scannerWants(reception.event)
    switch reception.event.mode {
    case .nonConnectable:
      if isWanted { takeData(payload, arrival, in: &reception) }
    case .connectable:
      if isWanted { _ = report(&reception.event, payload.data, arrival.level, isLast: true, isFollowed: false) }
      guard let peer = reception.event.advertiser,
        initiator?.wants(reception.event, acceptList: host.acceptList, resolvingList: resolvingList) == true,
        let exchange = connectExchange(
          with: peer, on: reception.window.channel, arrival.phy, usesAlgorithm2: true, isAuxiliary: true,
          at: arrival.end)
      else { return }
      reception.phase = .beforeConnectRequest(exchange)
      timer = arrival.end + LL.interFrameSpace
    case .scannable:
      if isWanted { _ = report(&reception.event, payload.data, arrival.level, isLast: true, isFollowed: false) }
      guard reception.event.advertiser != nil, mayRequest(reception.event, on: arrival.phy, at: arrival.end) else {
        return
      }
      reception.phase = .beforeScanRequest
      timer = arrival.end + LL.interFrameSpace
    }
  }

  private mutating func mayRequest(_ event: ExtendedEvent, on phy: PHY, at now: Instant) -> Bool {
    guard let scanner, scanner.isExtended, judge(event.target, of: event.advertiser) != .foreign,
      scannerAccepts(event.advertiser)
    else { return false }
    let length =
      LL.interFrameSpace * 2 + phy.modulation.airTime(payloadOctets: Self.scanRequestOctets) + phy.longestPacket
    guard mayAnswer(for: length, losses: 0, at: now) else { return false }
    let key = responseKey(of: event)
    return self.scanner?.shouldRequest(key, on: event.primaryPHY) == true
  }

  /// Processes data that may continue in AUX_CHAIN_IND.
  private mutating func takeData(
    _ payload: LL.ExtendedAdvertisingPayload, _ arrival: Arrival, in reception: inout AuxiliaryReception
  ) {
    let window = payload.auxiliary.flatMap { self.window($0, from: arrival.start, at: arrival.end) }
    guard
      report(
        &reception.event, payload.data, arrival.level, isLast: payload.auxiliary == nil, isFollowed: window != nil),
      let window
    else { return }
    reception.phase = .chain
    reception.window = window
    reception.isExpecting = true
  }
}
