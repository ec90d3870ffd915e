extension LL {
  /// An advertising physical channel PDU · Vol 6, Part B, 2.3.
  package enum AdvertisingPDU: Hashable, Sendable {
    /// ADV_IND · 2.3.1.1; `data` holds at most 31 octets. `usesAlgorithm2` is the ChSel bit.
    case advInd(advertiser: DeviceAddress, data: ByteSlice, usesAlgorithm2: Bool)
    /// ADV_DIRECT_IND · 2.3.1.2
    case advDirectInd(advertiser: DeviceAddress, target: DeviceAddress, usesAlgorithm2: Bool)
    /// ADV_NONCONN_IND · 2.3.1.3
    case advNonconnInd(advertiser: DeviceAddress, data: ByteSlice)
    /// ADV_SCAN_IND · 2.3.1.4
    case advScanInd(advertiser: DeviceAddress, data: ByteSlice)
    /// SCAN_REQ · 2.3.2.1; AUX_SCAN_REQ on a secondary channel.
    case scanReq(scanner: DeviceAddress, advertiser: DeviceAddress)
    /// SCAN_RSP · 2.3.2.2
    case scanRsp(advertiser: DeviceAddress, data: ByteSlice)
    /// CONNECT_IND · 2.3.3.1; AUX_CONNECT_REQ on a secondary channel, where all connections use algorithm #2.
    case connectInd(initiator: DeviceAddress, advertiser: DeviceAddress, data: ConnectionData, usesAlgorithm2: Bool)
    /// ADV_EXT_IND, AUX_ADV_IND, AUX_SCAN_RSP, AUX_SYNC_IND or AUX_CHAIN_IND · 2.3.1.5 to 2.3.1.8, 2.3.2.3. They
    /// share one format; the context in which a PDU is received determines which one it is.
    case extended(ExtendedAdvertisingPayload)
    /// AUX_CONNECT_RSP · 2.3.3.2
    case auxConnectRsp(advertiser: DeviceAddress, initiator: DeviceAddress)
  }

  /// The maximum length of AdvData and ScanRspData in octets.
  package static let maximumAdvertisingDataLength = 31

  /// The PDU Type field, the low four bits of the header · 2.3.
  package enum AdvertisingPDUType: UInt8, Hashable, Sendable {
    case advInd = 0b0000
    case advDirectInd = 0b0001
    case advNonconnInd = 0b0010
    case scanReq = 0b0011
    case scanRsp = 0b0100
    case connectInd = 0b0101
    case advScanInd = 0b0110
    case extended = 0b0111
    case auxConnectRsp = 0b1000
  }

  /// The LLData of CONNECT_IND, which holds the parameters of the connection · Vol 6, Part B, 2.3.3.1.
  package struct ConnectionData: Hashable, Sendable {
    /// The encoded length in octets.
    package static let size = 22

    package var accessAddress: UInt32
    /// The initial value of the CRC: 24 bits, least significant octet first on the air.
    package var crcInit: UInt32
    /// transmitWindowSize in units of 1.25 ms.
    package var windowSize: UInt8
    /// transmitWindowOffset in units of 1.25 ms.
    package var windowOffset: UInt16
    /// connInterval in units of 1.25 ms.
    package var interval: UInt16
    /// connPeripheralLatency in connection events.
    package var latency: UInt16
    /// connSupervisionTimeout in units of 10 ms.
    package var timeout: UInt16
    package var channelMap: ChannelMap
    /// hopIncrement, 5 bits.
    package var hop: UInt8
    /// centralSCA, 3 bits.
    package var sleepClockAccuracy: SleepClockAccuracy

    package init(
      accessAddress: UInt32, crcInit: UInt32, windowSize: UInt8, windowOffset: UInt16, interval: UInt16,
      latency: UInt16, timeout: UInt16, channelMap: ChannelMap, hop: UInt8, sleepClockAccuracy: SleepClockAccuracy
    ) {
      self.accessAddress = accessAddress
      self.crcInit = crcInit
      self.windowSize = windowSize
      self.windowOffset = windowOffset
      self.interval = interval
      self.latency = latency
      self.timeout = timeout
      self.channelMap = channelMap
      self.hop = hop
      self.sleepClockAccuracy = sleepClockAccuracy
    }

    /// True if all fields have valid values for a connection · 2.3.3.1, 4.5.1 to 4.5.8.
    package var isValid: Bool {
      (5...16).contains(hop) && channelMap.isValid
        && ConnectionTiming(
          windowSize: windowSize, windowOffset: windowOffset, interval: interval, latency: latency, timeout: timeout
        ).isValid
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      accessAddress = try reader.uint32()
      crcInit = try reader.uint24()
      windowSize = try reader.uint8()
      windowOffset = try reader.uint16()
      interval = try reader.uint16()
      latency = try reader.uint16()
      timeout = try reader.uint16()
      channelMap = try ChannelMap(from: &reader)
      let last = try reader.uint8()
      hop = last & 0x1F
      sleepClockAccuracy = SleepClockAccuracy(rawValue: last >> 5) ?? .upTo500
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(accessAddress)
      writer.append24(crcInit)
      writer.append(windowSize)
      writer.append(windowOffset)
      writer.append(interval)
      writer.append(latency)
      writer.append(timeout)
      channelMap.encode(into: &writer)
      writer.append(hop & 0x1F | sleepClockAccuracy.rawValue << 5)
    }
  }

  /// The timing parameters that CONNECT_IND and LL_CONNECTION_UPDATE_IND have in common · Vol 6, Part B, 2.3.3.1,
  /// 2.4.2.1.
  package struct ConnectionTiming: Hashable, Sendable {
    /// Units of 1.25 ms.
    package var windowSize: UInt8
    /// Units of 1.25 ms.
    package var windowOffset: UInt16
    /// Units of 1.25 ms, 6 to 3200.
    package var interval: UInt16
    /// Connection events, 0 to 499.
    package var latency: UInt16
    /// Units of 10 ms, 10 to 3200.
    package var timeout: UInt16

    package init(windowSize: UInt8, windowOffset: UInt16, interval: UInt16, latency: UInt16, timeout: UInt16) {
      self.windowSize = windowSize
      self.windowOffset = windowOffset
      self.interval = interval
      self.latency = latency
      self.timeout = timeout
    }

    /// True if all values are within their ranges and the supervision timeout is long enough · 4.5.1, 4.5.2, 4.5.3
    package var isValid: Bool {
      guard (6...3200).contains(interval), latency <= 499, (10...3200).contains(timeout),
        windowOffset <= interval, windowSize >= 1, UInt16(windowSize) <= min(8, interval - 1)
      else { return false }
      // connSupervisionTimeout > (1 + latency) × connInterval × 2, both in units of 1.25 ms.
      return Int(timeout) * 8 > (1 + Int(latency)) * Int(interval) * 2
    }
  }

  /// Returns transmitWindowDelay, the minimum time from the end of CONNECT_IND to the start of the transmit window.
  /// If `phy` is not nil, from the end of AUX_CONNECT_REQ on that PHY · Vol 6, Part B, 4.5.3.
  package static func transmitWindowDelay(afterAuxiliaryPacketOn phy: RadioPHY?) -> TimeSpan {
    switch phy {
    case nil: .microseconds(1_250)
    case .le1M, .le2M: .microseconds(2_500)
    case .leCoded: .microseconds(3_750)
    }
  }

  /// The accuracy class of a sleep clock · Vol 6, Part B, 4.2.2; encoded as a field of three bits · 2.3.3.1.
  package enum SleepClockAccuracy: UInt8, Hashable, Sendable {
    case upTo500 = 0
    case upTo250, upTo150, upTo100, upTo75, upTo50, upTo30, upTo20

    /// Creates the most accurate class that includes a clock accuracy of `partsPerMillion`.
    package init(partsPerMillion: Int) {
      switch partsPerMillion {
      case ...20: self = .upTo20
      case ...30: self = .upTo30
      case ...50: self = .upTo50
      case ...75: self = .upTo75
      case ...100: self = .upTo100
      case ...150: self = .upTo150
      case ...250: self = .upTo250
      default: self = .upTo500
      }
    }

    package var partsPerMillion: Int64 {
      switch self {
      case .upTo500: 500
      case .upTo250: 250
      case .upTo150: 150
      case .upTo100: 100
      case .upTo75: 75
      case .upTo50: 50
      case .upTo30: 30
      case .upTo20: 20
      }
    }
  }
}

extension ChannelMap {
  /// Reads five octets, least significant first.
  init(from reader: inout ByteReader) throws(DecodingError) {
    let low = try reader.uint32()
    let high = try reader.uint8()
    self.init(bits: UInt64(low) | UInt64(high) << 32)
  }

  func encode(into writer: inout ByteWriter) {
    writer.append(UInt32(truncatingIfNeeded: bits))
    writer.append(UInt8(truncatingIfNeeded: bits >> 32))
  }
}
