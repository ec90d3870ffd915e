import BluetoothRadio
import BluetoothWire

/// The initiating state of the link layer: the attempt to connect to an advertiser · Vol 6, Part B, 4.4.4, 4.5.
struct InitiatingEngine: ~Copyable {
  /// The payload lengths of CONNECT_IND and AUX_CONNECT_REQ, and of AUX_CONNECT_RSP, octets.
  private static let requestOctets = 34
  private static let responseOctets = 14

  /// The attempt; nil: there is none.
  private(set) var initiator: Initiator?
  /// The connection request on a primary channel that has the radio.
  private var exchange: ConnectExchange?

  /// Restores the state after power on. The radio is reset separately.
  mutating func reset() {
    initiator = nil
    exchange = nil
  }

  /// True while an attempt is in progress.
  var isActive: Bool { mutating get { initiator != nil } }

  /// True if the initiator filters with the Filter Accept List.
  var usesAcceptList: Bool { mutating get { initiator?.request.usesAcceptList == true } }

  /// True if the host has cancelled the attempt while AUX_CONNECT_REQ was in progress.
  var isCancelled: Bool { mutating get { initiator?.isCancelled == true } }

  // MARK: Commands · Vol 4, Part E, 7.8.12, 7.8.13, 7.8.66

  /// Returns the status of LE Create Connection.
  mutating func check(
    _ request: HCI.CreateConnection, connections: inout ConnectionTable, device: inout LocalDevice, at now: Instant
  ) -> HCI.ErrorCode {
    guard request.scanInterval <= 0x4000 else { return .invalidHCICommandParameters }
    return check(
      HCI.ExtendedCreateConnection(request), limit: .connectionLimitExceeded, connections: &connections,
      device: &device, at: now)
  }

  /// Returns the status of a connection request.
  ///
  /// - Parameter limit: the error when the maximum number of connections exists · 7.8.66.
  mutating func check(
    _ request: HCI.ExtendedCreateConnection, limit: HCI.ErrorCode = .connectionRejectedLimitedResources,
    connections: inout ConnectionTable, device: inout LocalDevice, at now: Instant
  ) -> HCI.ErrorCode {
    guard initiator == nil else { return .commandDisallowed }
    // Primary advertising uses LE 1M or LE Coded, so one of them is required.
    guard request.le1M != nil || request.leCoded != nil, request.le1M?.isValid ?? true,
      request.le2M?.parameters.isValid ?? true, request.leCoded?.isValid ?? true,
      let own = address(for: request, device: &device, at: now), request.usesAcceptList || request.peer.type <= 3
    else { return .invalidHCICommandParameters }
    guard request.isPossible(with: device.features) else { return .unsupportedFeatureOrParameterValue }
    guard connections.count < device.configuration.connectionLimit else { return limit }
    if !request.usesAcceptList, let peer = request.peer.deviceAddress,
      connections.isConnected(own: own, peer: peer, device: &device)
    {
      return .connectionAlreadyExists
    }
    return .success
  }

  /// Returns the address that an attempt uses; nil: none. With the Filter Accept List there is no single peer whose
  /// entry in the resolving list could give an address.
  private mutating func address(
    for request: HCI.ExtendedCreateConnection, device: inout LocalDevice, at now: Instant
  ) -> DeviceAddress? {
    let type = request.ownAddressType
    return device.usableAddress(
      type, to: request.usesAcceptList ? nil : request.peer.deviceAddress, identity: device.ownAddress(type), at: now)
  }

  /// Starts the initiator after the command's Command Status.
  mutating func start(
    _ request: HCI.ExtendedCreateConnection, isExtended: Bool, device: inout LocalDevice, at now: Instant
  ) {
    guard let own = address(for: request, device: &device, at: now) else { return }
    initiator = Initiator(request, isExtended: isExtended, own: own, at: now, random: &device.random)
  }

  /// The status of LE Create Connection Cancel.
  var statusOfCancelling: HCI.ErrorCode {
    mutating get { initiator.map(\.isCancelled) ?? true ? .commandDisallowed : .success }
  }

  /// Marks the attempt as cancelled while its AUX_CONNECT_REQ, or the response to it, is on the air.
  mutating func cancelLater() { initiator?.isCancelled = true }

  /// Ends the attempt.
  mutating func end() { initiator = nil }

  // MARK: Connection requests

  /// True if the initiator may connect to the advertiser of this event, according to the packets received until now.
  mutating func wants(_ event: ExtendedEvent, device: inout LocalDevice) -> Bool {
    initiator?.wants(event, acceptList: device.acceptList, resolvingList: device.resolvingList) == true
  }

  /// Begins the connection to the advertiser of a packet that has just ended, if the initiator may; CONNECT_IND
  /// follows.
  mutating func beginRequest(
    for pdu: LL.AdvertisingPDU, on channel: RadioChannel, connections: inout ConnectionTable,
    device: inout LocalDevice, radio: inout RadioControl, at now: Instant
  ) -> Bool {
    guard let initiator,
      let (peer, usesAlgorithm2) = initiator.peer(
        of: pdu, acceptList: device.acceptList, resolvingList: device.resolvingList),
      let exchange = makeExchange(
        with: peer, on: channel, .le1M,
        usesAlgorithm2: usesAlgorithm2 && device.features.contains(.channelSelectionAlgorithm2), isAuxiliary: false,
        connections: &connections, device: &device, radio: &radio, at: now)
    else { return false }
    self.exchange = exchange
    radio.begin(.connecting, after: now)
    return true
  }

  /// Returns the connection request for an advertiser whose packet has just ended; nil: no connection is possible
  /// now.
  mutating func makeExchange(
    with peer: DeviceAddress, on channel: RadioChannel, _ phy: RadioPHY, usesAlgorithm2: Bool, isAuxiliary: Bool,
    connections: inout ConnectionTable, device: inout LocalDevice, radio: inout RadioControl, at now: Instant
  ) -> ConnectExchange? {
    guard let initiator, let parameters = initiator.parameters(for: phy),
      !connections.isConnected(own: initiator.own, peer: peer, device: &device),
      connections.count < device.configuration.connectionLimit
    else { return nil }
    let end = now + LL.interFrameSpace + phy.modulation.airTime(payloadOctets: Self.requestOctets)
    let answer = LL.interFrameSpace + phy.modulation.airTime(payloadOctets: Self.responseOctets)
    guard radio.mayAnswer(for: (isAuxiliary ? end + answer : end) - now, losses: initiator.missedReplies, at: now)
    else {
      self.initiator?.missedReplies += 1
      return nil
    }
    let windowStart = end + LL.transmitWindowDelay(afterAuxiliaryPacketOn: isAuxiliary ? phy : nil)
    let (windowOffset, delay) = connections.placeAnchors(interval: parameters.maximumInterval, earliest: windowStart)
    let data = LL.ConnectionData(
      accessAddress: LL.randomAccessAddress(using: &device.random),
      crcInit: UInt32(truncatingIfNeeded: device.random.next()) & 0xFF_FFFF, windowSize: 1, windowOffset: windowOffset,
      interval: parameters.maximumInterval, latency: parameters.latency, timeout: parameters.supervisionTimeout,
      channelMap: device.channelMap, hop: 5 + UInt8(device.random.next() % 12),
      sleepClockAccuracy: device.sleepClockAccuracy)
    let own = device.ownAddress(
      to: device.resolvingList.identify(peer).identity, initiator.request.ownAddressType, identity: initiator.own,
      at: now)
    return ConnectExchange(
      channel: channel, phy: phy, isAuxiliary: isAuxiliary, own: own, peer: peer, data: data,
      usesAlgorithm2: usesAlgorithm2, requestEnd: end, delay: delay)
  }

  /// Returns the transmission of CONNECT_IND or AUX_CONNECT_REQ.
  mutating func request(_ exchange: ConnectExchange, device: inout LocalDevice) -> RadioCommand {
    let pdu = LL.AdvertisingPDU.connectInd(
      initiator: exchange.own, advertiser: exchange.peer, data: exchange.data,
      // ChSel is reserved in AUX_CONNECT_REQ, whose connections all use algorithm #2.
      usesAlgorithm2: !exchange.isAuxiliary)
    return .transmit(
      pdu.packet(in: device.pool), on: exchange.channel, modulation: exchange.phy.modulation,
      power: device.configuration.transmitPower)
  }

  /// Sends CONNECT_IND when the interframe space has elapsed.
  mutating func sendRequest(device: inout LocalDevice, radio: inout RadioControl) {
    guard let exchange else { return }
    radio.order(request(exchange, device: &device))
  }

  /// Returns the request whose CONNECT_IND has just been sent.
  mutating func takeSentRequest() -> ConnectExchange? { exchange.take() }
}

extension HCI.ExtendedCreateConnection.Initiating {
  fileprivate var isValid: Bool { scanWindow >= 4 && scanWindow <= scanInterval && parameters.isValid }
}

extension HCI.ExtendedCreateConnection {
  /// True if a controller with these features supports the PHYs of the request.
  fileprivate func isPossible(with features: HCI.LEFeatures) -> Bool {
    (le2M == nil || features.contains(.le2MPHY)) && (leCoded == nil || features.contains(.leCodedPHY))
  }
}
