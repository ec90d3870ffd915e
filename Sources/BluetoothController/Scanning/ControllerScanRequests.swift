import BluetoothRadio
import BluetoothWire

/// Active scanning on the primary channels · Vol 6, Part B, 4.4.3.2.
extension Controller {
  /// The longest duration of an exchange: SCAN_REQ takes 176 µs and the longest response 376 µs.
  private static let exchangeLength = LL.interFrameSpace * 2 + .microseconds(176 + 376)

  mutating func beginScanRequest(for pdu: LL.AdvertisingPDU, on channel: RadioChannel, at now: Instant) {
    let advertiser: DeviceAddress
    let isConnectable: Bool
    switch pdu {
    case .advInd(let address, _, _): (advertiser, isConnectable) = (address, true)
    case .advScanInd(let address, _): (advertiser, isConnectable) = (address, false)
    default: return
    }
    guard scanner?.isScanning(.le1M) == true, scannerAccepts(advertiser),
      mayAnswer(for: Self.exchangeLength, losses: 0, at: now),
      scanner?.shouldRequest(
        DuplicateFilter.Key(.scanResponse, resolvingList.identify(advertiser).identity), on: .le1M) == true
    else { return }
    radioUse = .scanRequest(ScanExchange(channel: channel, advertiser: advertiser, isConnectable: isConnectable))
    timer = now + LL.interFrameSpace
  }

  mutating func sendScanRequest(_ exchange: ScanExchange, at now: Instant) {
    guard let own = scannerAddress(to: exchange.advertiser, at: now) else { return abandonRadio() }
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
      listen(on: exchange.channel, phy: .le1M, until: RadioTiming.answerTimeout(after: now))
      return
    case .received(let packet, _, _, let level, isIntact: true):
      radioUse = .free
      if case .scanRsp(let address, let data)? = try? LL.AdvertisingPDU(
        header: packet.header, payload: packet.payload), address == exchange.advertiser
      {
        scanner?.requestEnded(isSuccess: true, random: &random)
        report(.scanResponse, of: address, isConnectable: exchange.isConnectable, data, level)
        return
      }
    case .received, .nothingReceived: radioUse = .free
    }
    scanner?.requestEnded(isSuccess: false, random: &random)
  }
}
