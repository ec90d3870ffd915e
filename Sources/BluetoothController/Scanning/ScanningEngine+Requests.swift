import BluetoothRadio
import BluetoothWire

/// Active scanning on the primary channels · Vol 6, Part B, 4.4.3.2.
extension ScanningEngine {
  /// The longest duration of an exchange: SCAN_REQ takes 176 µs and the longest response 376 µs.
  private static let exchangeLength = LL.interFrameSpace * 2 + .microseconds(176 + 376)

  /// Begins a scan exchange if the scanner answers the packet, which has just ended.
  mutating func beginRequest(
    for pdu: LL.AdvertisingPDU, on channel: RadioChannel, device: inout LocalDevice, radio: inout RadioControl,
    at now: Instant
  ) {
    let advertiser: DeviceAddress
    let isConnectable: Bool
    switch pdu {
    case .advInd(let address, _, _): (advertiser, isConnectable) = (address, true)
    case .advScanInd(let address, _): (advertiser, isConnectable) = (address, false)
    default: return
    }
    guard scanner?.isScanning(.le1M) == true, accepts(advertiser, device: &device),
      radio.mayAnswer(for: Self.exchangeLength, losses: 0, at: now),
      scanner?.shouldRequest(
        DuplicateFilter.Key(.scanResponse, device.resolvingList.identify(advertiser).identity), on: .le1M) == true
    else { return }
    exchange = ScanExchange(channel: channel, advertiser: advertiser, isConnectable: isConnectable)
    radio.begin(.scanRequest, after: now)
  }

  /// Sends SCAN_REQ when the interframe space has elapsed.
  mutating func sendRequest(device: inout LocalDevice, radio: inout RadioControl, at now: Instant) {
    guard let exchange, let own = ownAddress(to: exchange.advertiser, device: &device, at: now) else {
      return radio.abandon()
    }
    let packet = LL.AdvertisingPDU.scanReq(scanner: own, advertiser: exchange.advertiser).packet(in: device.pool)
    radio.order(
      .transmit(packet, on: exchange.channel, modulation: .le1M, power: device.configuration.transmitPower))
  }

  /// Processes an event of the radio during a scan exchange.
  mutating func continueRequest(
    _ event: RadioEvent, device: inout LocalDevice, radio: inout RadioControl, at now: Instant
  ) {
    guard let exchange else { return }
    switch event {
    case .transmitted:
      radio.listen(on: exchange.channel, phy: .le1M, until: RadioTiming.answerTimeout(after: now))
      return
    case .received(let packet, _, _, let level, isIntact: true):
      radio.release()
      if case .scanRsp(let address, let data)? = try? LL.AdvertisingPDU(
        header: packet.header, payload: packet.payload), address == exchange.advertiser
      {
        scanner?.requestEnded(isSuccess: true, random: &device.random)
        report(.scanResponse, of: address, isConnectable: exchange.isConnectable, data, level, device: &device)
        return
      }
    case .received, .nothingReceived: radio.release()
    }
    scanner?.requestEnded(isSuccess: false, random: &device.random)
  }
}
