import BluetoothRadio
import BluetoothWire

/// Listening for advertisers: scanning and initiating share one pair of ears.
///
/// While both are on, both hear everything; of their windows, those that are open longer decide.
extension Controller {
  private var windows: ScanWindows? {
    guard let scanning = scanner?.windows else { return initiator?.windows }
    guard let initiating = initiator?.windows else { return scanning }
    return initiating.isDenser(than: scanning) ? initiating : scanning
  }

  mutating func listen(at now: Instant) {
    windowOpens = nil
    if case .listening = radioUse { return }
    // What is about to begin would leave no time to hear anything.
    guard let windows, agenda.next - now > LL.interFrameSpace else { return }
    guard let (channel, end) = windows.open(at: now) else {
      windowOpens = windows.next(after: now)
      return
    }
    radioUse = .listening(on: channel)
    listen(on: channel, until: end)
  }

  /// Whether a window is open then.
  func isListeningWanted(at time: Instant) -> Bool { windows?.open(at: time) != nil }

  private mutating func listen(on channel: RadioChannel, until: Instant) {
    order(
      .receive(
        on: channel, phy: .le1M, accessAddress: LL.advertisingAccessAddress, crcInit: LL.advertisingCRCInit,
        until: until))
  }

  /// The scanner or the initiator has begun or ended.
  mutating func listeningChanged() {
    switch radioUse {
    case .listening: abandonRadio()
    case .scanRequest where scanner == nil: abandonRadio()
    case .connecting where initiator == nil: abandonRadio()
    default: break
    }
  }

  mutating func continueListening(_ event: RadioEvent, on channel: RadioChannel, at now: Instant) {
    radioUse = .free
    guard case .received(let packet, _, _, let level, isIntact: true) = event,
      let pdu = try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload)
    else { return }
    report(pdu, level: level)
    if beginConnecting(to: pdu, on: channel, at: now) { return }
    beginScanRequest(for: pdu, on: channel, at: now)
  }

  // MARK: Reports · Vol 4, Part E, 7.7.65.2

  private mutating func report(_ pdu: LL.AdvertisingPDU, level: Decibel) {
    guard let scanner else { return }
    switch pdu {
    case .advInd(let address, let data, _): report(.connectableScannable, address, data, level)
    case .advNonconnInd(let address, let data): report(.nonConnectable, address, data, level)
    case .advScanInd(let address, let data): report(.scannable, address, data, level)
    case .advDirectInd(let address, let target, _):
      if target == scanner.own { report(.connectableDirected, address, ByteSlice(), level) }
    // What others ask for and are told · 4.4.3: only answers to own requests count.
    case .scanReq, .scanRsp, .connectInd, .extended, .auxConnectRsp: break
    }
  }

  private mutating func report(
    _ type: HCI.AdvertisingReport.EventType, _ address: DeviceAddress, _ data: ByteSlice, _ level: Decibel
  ) {
    guard let usesAcceptList = scanner?.usesAcceptList, !usesAcceptList || host.acceptList.contains(address),
      scanner?.isNew(type, of: address) == true
    else { return }
    let report = HCI.AdvertisingReport(
      type: type, address: HCI.PeerAddress(address), data: data, rssi: level.hciLevel)
    output.send(.leAdvertisingReport(HCI.AdvertisingReports(report, in: pool)))
  }

  // MARK: Active scanning · Vol 6, Part B, 4.4.3.2

  private mutating func beginScanRequest(for pdu: LL.AdvertisingPDU, on channel: RadioChannel, at now: Instant) {
    let advertiser: DeviceAddress
    switch pdu {
    case .advInd(let address, _, _), .advScanInd(let address, _): advertiser = address
    default: return
    }
    // SCAN_REQ takes 176 µs and the longest response 376.
    let length = LL.interFrameSpace * 2 + .microseconds(176 + 376)
    guard let scanner, !scanner.usesAcceptList || host.acceptList.contains(advertiser),
      mayAnswer(for: length, losses: 0, at: now), self.scanner?.shouldRequest(from: advertiser) == true
    else { return }
    radioUse = .scanRequest(ScanExchange(channel: channel, advertiser: advertiser))
    timer = now + LL.interFrameSpace
  }

  mutating func sendScanRequest(_ exchange: ScanExchange) {
    guard let own = scanner?.own else { return abandonRadio() }
    var exchange = exchange
    exchange.phase = .requesting
    radioUse = .scanRequest(exchange)
    let packet = LL.AdvertisingPDU.scanReq(scanner: own, advertiser: exchange.advertiser).packet(in: pool)
    order(.transmit(packet, on: exchange.channel, modulation: .le1M, power: configuration.transmitPower))
  }

  mutating func continueScanRequest(_ exchange: ScanExchange, _ event: RadioEvent, at now: Instant) {
    switch event {
    case .transmitted:
      var exchange = exchange
      exchange.phase = .listening
      radioUse = .scanRequest(exchange)
      listen(on: exchange.channel, until: RadioTiming.answerTimeout(after: now))
      return
    case .received(let packet, _, _, let level, isIntact: true):
      radioUse = .free
      if case .scanRsp(let address, let data)? = try? LL.AdvertisingPDU(
        header: packet.header, payload: packet.payload), address == exchange.advertiser
      {
        scanner?.requestEnded(isSuccess: true, random: &random)
        report(.scanResponse, address, data, level)
        return
      }
    case .received, .nothingReceived: radioUse = .free
    }
    scanner?.requestEnded(isSuccess: false, random: &random)
  }

  // MARK: Initiating · Vol 6, Part B, 4.4.4

  private mutating func beginConnecting(to pdu: LL.AdvertisingPDU, on channel: RadioChannel, at now: Instant) -> Bool {
    // CONNECT_IND takes 352 µs.
    let end = now + LL.interFrameSpace + .microseconds(352)
    guard let initiator, let (peer, usesAlgorithm2) = initiator.peer(of: pdu, acceptList: host.acceptList),
      !isConnected(own: initiator.own, peer: peer), connections.count < configuration.connectionLimit
    else { return false }
    guard mayAnswer(for: end - now, losses: initiator.lostChances, at: now) else {
      self.initiator?.lostChances += 1
      return false
    }
    let (data, delay) = connectionData(for: initiator.request.parameters, connectIndEnd: end)
    radioUse = .connecting(
      ConnectExchange(
        channel: channel, own: initiator.own, peer: peer, data: data, usesAlgorithm2: usesAlgorithm2, delay: delay))
    timer = now + LL.interFrameSpace
    return true
  }

  private mutating func connectionData(
    for parameters: ConnectionParameters, connectIndEnd: Instant
  ) -> (LL.ConnectionData, delay: TimeSpan) {
    let interval = parameters.maximumInterval
    // The transmit window begins 1.25 ms after CONNECT_IND at the earliest · 4.5.3.
    let (windowOffset, delay) = placeAnchors(
      interval: interval, earliest: connectIndEnd + ConnectionParameters.intervalUnit)
    let data = LL.ConnectionData(
      accessAddress: LL.randomAccessAddress(using: &random),
      crcInit: UInt32(truncatingIfNeeded: random.next()) & 0xFF_FFFF,
      windowSize: 1, windowOffset: windowOffset,
      interval: interval, latency: parameters.latency, timeout: parameters.supervisionTimeout,
      channelMap: host.channelMap, hop: 5 + UInt8(random.next() % 12),
      sleepClockAccuracy: LL.SleepClockAccuracy(partsPerMillion: configuration.sleepClockAccuracy))
    return (data, delay)
  }

  mutating func sendConnectInd(_ exchange: ConnectExchange) {
    let pdu = LL.AdvertisingPDU.connectInd(
      initiator: exchange.own, advertiser: exchange.peer, data: exchange.data, usesAlgorithm2: true)
    order(
      .transmit(pdu.packet(in: pool), on: exchange.channel, modulation: .le1M, power: configuration.transmitPower))
  }

  mutating func connectIndSent(_ exchange: ConnectExchange, at now: Instant) {
    radioUse = .free
    initiator = nil
    addConnection(
      .central, own: exchange.own, peer: exchange.peer, data: exchange.data,
      usesAlgorithm2: exchange.usesAlgorithm2, delay: exchange.delay, at: now)
  }
}

extension Decibel {
  /// For HCI: whole dBm, −127 to 20.
  var hciLevel: Int8 { Int8(min(20, max(-127, rounded))) }
}
