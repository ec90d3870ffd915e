import BluetoothRadio
import BluetoothWire

/// The connection to advertisers · Vol 6, Part B, 4.4.4, 4.5.
extension Controller {
  /// The payload lengths of CONNECT_IND and AUX_CONNECT_REQ, and of AUX_CONNECT_RSP, octets.
  private static let requestOctets = 34
  private static let responseOctets = 14

  mutating func beginConnecting(to pdu: LL.AdvertisingPDU, on channel: RadioChannel, at now: Instant) -> Bool {
    guard let initiator,
      let (peer, usesAlgorithm2) = initiator.peer(
        of: pdu, acceptList: host.acceptList, resolvingList: resolvingList),
      let exchange = connectExchange(
        with: peer, on: channel, .le1M,
        usesAlgorithm2: usesAlgorithm2 && features.contains(.channelSelectionAlgorithm2), isAuxiliary: false, at: now)
    else { return false }
    radioUse = .connecting(exchange)
    timer = now + LL.interFrameSpace
    return true
  }

  /// Returns the connection request for an advertiser whose packet has just ended; nil: no connection is possible
  /// now.
  mutating func connectExchange(
    with peer: DeviceAddress, on channel: RadioChannel, _ phy: PHY, usesAlgorithm2: Bool, isAuxiliary: Bool,
    at now: Instant
  ) -> ConnectExchange? {
    guard let initiator, let parameters = initiator.parameters(for: phy),
      !isConnected(own: initiator.own, peer: peer), connections.count < configuration.connectionLimit
    else { return nil }
    let end = now + LL.interFrameSpace + phy.modulation.airTime(payloadOctets: Self.requestOctets)
    let answer = LL.interFrameSpace + phy.modulation.airTime(payloadOctets: Self.responseOctets)
    guard mayAnswer(for: (isAuxiliary ? end + answer : end) - now, losses: initiator.lostChances, at: now) else {
      self.initiator?.lostChances += 1
      return nil
    }
    let windowStart = end + LL.transmitWindowDelay(afterAuxiliaryPacketOn: isAuxiliary ? phy : nil)
    let (windowOffset, delay) = placeAnchors(interval: parameters.maximumInterval, earliest: windowStart)
    let data = LL.ConnectionData(
      accessAddress: LL.randomAccessAddress(using: &random),
      crcInit: UInt32(truncatingIfNeeded: random.next()) & 0xFF_FFFF, windowSize: 1, windowOffset: windowOffset,
      interval: parameters.maximumInterval, latency: parameters.latency, timeout: parameters.supervisionTimeout,
      channelMap: host.channelMap, hop: 5 + UInt8(random.next() % 12),
      sleepClockAccuracy: sleepClockAccuracy)
    let own = ownAddress(
      to: resolvingList.identify(peer).identity, initiator.request.ownAddressType, identity: initiator.own, at: now)
    return ConnectExchange(
      channel: channel, phy: phy, isAuxiliary: isAuxiliary, own: own, peer: peer, data: data,
      usesAlgorithm2: usesAlgorithm2,
      requestEnd: end, delay: delay)
  }

  mutating func connectRequest(_ exchange: ConnectExchange) -> RadioCommand {
    let pdu = LL.AdvertisingPDU.connectInd(
      initiator: exchange.own, advertiser: exchange.peer, data: exchange.data,
      // ChSel is reserved in AUX_CONNECT_REQ, whose connections all use algorithm #2.
      usesAlgorithm2: !exchange.isAuxiliary)
    return .transmit(
      pdu.packet(in: pool), on: exchange.channel, modulation: exchange.phy.modulation,
      power: configuration.transmitPower)
  }

  mutating func sendConnectInd(_ exchange: ConnectExchange) { order(connectRequest(exchange)) }

  mutating func connectIndSent(_ exchange: ConnectExchange) {
    radioUse = .free
    connected(exchange)
  }

  /// Creates the connection after the request, and after the advertiser's response if one is required.
  mutating func connected(_ exchange: ConnectExchange) {
    initiator = nil
    listeningChanged()
    addConnection(
      .central, own: exchange.own, peer: exchange.peer, data: exchange.data,
      usesAlgorithm2: exchange.usesAlgorithm2, auxiliaryPHY: exchange.isAuxiliary ? exchange.phy : nil,
      delay: exchange.delay, at: exchange.requestEnd)
  }
}
