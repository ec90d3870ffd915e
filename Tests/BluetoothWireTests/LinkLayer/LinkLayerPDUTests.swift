import Requirements
import TestVectors
import Testing

@testable import BluetoothWire

@Suite("Link layer PDUs")
struct LinkLayerPDUTests {
  private let pool = PacketPool()

  private func octets(_ pdu: LL.ControlPDU) -> String { pdu.payload(in: pool).description }

  @Test("LL Control PDUs have their octets, least significant octet first", .requirement("L133"))
  func controlPDUs() {
    let timing = LL.ConnectionTiming(windowSize: 2, windowOffset: 0x0304, interval: 0x0506, latency: 7, timeout: 0x0809)
    #expect(octets(.connectionUpdateInd(timing, instant: 0x0A0B)) == "000204030605070009080B0A")
    #expect(octets(.channelMapInd(ChannelMap(bits: 0x01_0203_0405), instant: 9)) == "0105040302010900")
    #expect(octets(.terminateInd(.remoteUserTerminatedConnection)) == "0213")
    #expect(octets(.unknownRsp(0xF0)) == "07F0")
    #expect(octets(.featureReq(0x21)) == "082100000000000000")
    #expect(octets(.versionInd(LL.VersionInformation(version: 0x0D, company: 0x1234, subversion: 1))) == "0C0D34120100")
    #expect(octets(.rejectExtInd(opcode: 0x0F, .llProcedureCollision)) == "110F23")
    let lengths = LL.DataLengths(
      maximumReceiveOctets: 251, maximumReceiveTime: 2120, maximumTransmitOctets: 27, maximumTransmitTime: 328)
    #expect(octets(.lengthReq(lengths)) == "14FB0048081B004801")
    let phys = LL.PHYPreferences(transmit: [.le1M, .le2M], receive: .leCoded)
    #expect(octets(.phyReq(phys)) == "160304" && octets(.phyRsp(phys)) == "170304")
    let update = LL.PHYUpdate(centralToPeripheral: .le2M, peripheralToCentral: [])
    #expect(octets(.phyUpdateInd(update, instant: 0x0102)) == "1802000201")
    #expect(octets(.minUsedChannelsInd(LL.MinimumUsedChannels(phys: [.le1M], count: 15))) == "19010F")
    #expect(octets(.clockAccuracyReq(.upTo50)) == "1D05" && octets(.clockAccuracyRsp(.upTo500)) == "1E00")
    let reporting = LL.ChannelReporting(isEnabled: true, minimumSpacing: 5, maximumDelay: 150)
    #expect(octets(.channelReportingInd(reporting)) == "28010596")
    // Two bits per channel: channel 0 good, 1 unknown, 2 bad, 36 good.
    let status = LL.ChannelStatus(good: ChannelMap(bits: 1 << 36 | 1), bad: ChannelMap(bits: 1 << 2))
    #expect(octets(.channelStatusInd(status)) == "2931000000000000000001")
  }

  @Test("LL_CHANNEL_STATUS_IND keeps the status of each channel and ignores reserved bits")
  func channelStatus() throws {
    let (good, bad) = (ChannelMap(bits: 0x10_8000_0003), ChannelMap(bits: 0x0F_7000_0100))
    let status = LL.ChannelStatus(good: good, bad: bad)
    #expect(status.channels(.good) == good && status.channels(.bad) == bad)
    #expect(status[36] == .good && status[35] == .bad && status[20] == .unknown && status[37] == .unknown)
    let none = try LL.ControlPDU(payload: ByteSlice([0x29, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFC]))
    #expect(none == .channelStatusInd(LL.ChannelStatus()))
  }

  @Test("LL_PHY_UPDATE_IND has one PHY or none for each direction")
  func phyUpdate() {
    func isValid(_ one: UInt8, _ other: UInt8) -> Bool {
      LL.PHYUpdate(centralToPeripheral: HCI.PHYs(rawValue: one), peripheralToCentral: HCI.PHYs(rawValue: other)).isValid
    }
    #expect(isValid(0, 0) && isValid(1, 2) && isValid(4, 0))
    #expect(!isValid(3, 1) && !isValid(1, 6) && !isValid(8, 1))
  }

  @Test(
    "Every LL Control PDU decodes to the value that was encoded", .requirement("L133"),
    arguments: LL.ControlPDU.examples)
  func controlRoundTrip(pdu: LL.ControlPDU) throws {
    let payload = pdu.payload(in: pool)
    #expect(payload.count == 1 + pdu.opcode.dataLength)
    #expect(try LL.ControlPDU(payload: payload) == pdu)
  }

  @Test("An LL Control PDU of any other length is refused", arguments: LL.ControlPDU.examples)
  func wrongLengths(pdu: LL.ControlPDU) {
    let whole = pdu.payload(in: pool).bytes
    for count in 0...40 where count != whole.count {
      let bytes = (whole + Array(repeating: 0, count: 40)).prefix(count)
      #expect(throws: count < whole.count ? DecodingError.truncated : .excess) {
        try LL.ControlPDU(payload: ByteSlice(bytes))
      }
    }
  }

  @Test("The error for an unknown opcode names it")
  func unknownOpcode() {
    for code in UInt8.min...UInt8.max where LL.ControlOpcode(rawValue: code) == nil {
      #expect(throws: DecodingError.unknown(code: UInt16(code))) { try LL.ControlPDU(payload: [code, 1, 2]) }
    }
  }

  @Test("The header of a data PDU keeps its five fields", .requirement("L129"))
  func dataHeader() {
    for raw in UInt16(0)...0xFF {
      let header = LL.DataHeader(rawValue: 0x1B00 | raw)
      #expect(header.rawValue == 0x1B00 | raw & 0x1F)
    }
    let header = LL.DataHeader(
      llid: .start, nextExpectedSequenceNumber: true, sequenceNumber: false, moreData: false, length: 7)
    #expect(header.rawValue == 0x0706)
  }

  @Test("Any octets decode to an advertising PDU or an error, and a decoded PDU encodes to the same octets")
  func anyAdvertisingOctets() {
    var generator = RandomStream(seed: 11)
    for _ in 0..<5_000 {
      let count = Int.random(in: 0...40, using: &generator)
      let payload = ByteSlice((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
      let stated = Bool.random(using: &generator) ? count : Int.random(in: 0...255, using: &generator)
      let header = UInt16.random(in: 0...0xFF, using: &generator) | UInt16(stated) << 8
      guard let pdu = try? LL.AdvertisingPDU(header: header, payload: payload) else { continue }
      #expect(stated == count)
      let packet = pdu.packet(in: pool)
      switch pdu {
      // Reserved bits, and the fields of reserved flags, are lost.
      case .connectInd, .extended, .auxConnectRsp: continue
      default: #expect(packet.payload == payload)
      }
    }
  }

  private static let valid = LL.ConnectionData(
    accessAddress: 0x5065_4A6B, crcInit: 0x123456, windowSize: 1, windowOffset: 0, interval: 24, latency: 0,
    timeout: 200, channelMap: .all, hop: 5, sleepClockAccuracy: .upTo50)

  @Test("CONNECT_IND's fields are checked against their limits", .requirement("L119"))
  func connectionDataLimits() {
    func isValid(_ change: (inout LL.ConnectionData) -> Void) -> Bool {
      var data = Self.valid
      change(&data)
      return data.isValid
    }
    #expect(isValid { _ in })
    #expect(isValid { $0.interval = 6 } && !isValid { $0.interval = 5 } && !isValid { $0.interval = 0 })
    #expect(
      isValid { ($0.interval, $0.timeout) = (3200, 801) } && !isValid { ($0.interval, $0.timeout) = (3201, 3200) })
    #expect(!isValid { ($0.interval, $0.timeout) = (3200, 800) })
    #expect(isValid { ($0.interval, $0.timeout) = (6, 10) } && !isValid { ($0.interval, $0.timeout) = (6, 9) })
    #expect(!isValid { $0.timeout = 3201 } && !isValid { $0.timeout = 0 })
    #expect(!isValid { $0.windowSize = 0 } && isValid { $0.windowSize = 8 } && !isValid { $0.windowSize = 9 })
    #expect(!isValid { ($0.interval, $0.windowSize) = (6, 6) })
    #expect(isValid { $0.windowOffset = 24 } && !isValid { $0.windowOffset = 25 })
    #expect(isValid { ($0.latency, $0.interval, $0.timeout) = (499, 6, 3200) } && !isValid { $0.latency = 500 })
    #expect(!isValid { $0.hop = 4 } && isValid { $0.hop = 16 } && !isValid { $0.hop = 17 })
    #expect(!isValid { $0.channelMap = ChannelMap(bits: 0) } && !isValid { $0.channelMap = ChannelMap(bits: 8) })
    #expect(isValid { $0.channelMap = ChannelMap(bits: 9) })
    #expect(!isValid { $0.channelMap = ChannelMap(bits: 0xE0_0000_0001) })
  }
}

extension LL.ControlPDU {
  static let examples: [LL.ControlPDU] = {
    let timing = LL.ConnectionTiming(windowSize: 1, windowOffset: 2, interval: 24, latency: 3, timeout: 400)
    let lengths = LL.DataLengths(
      maximumReceiveOctets: 251, maximumReceiveTime: 2120, maximumTransmitOctets: 100, maximumTransmitTime: 1000)
    let proposal = LL.ConnectionParameterProposal(
      parameters: LinkParameters(
        minimumInterval: 6, maximumInterval: 9, latency: 1, supervisionTimeout: 100),
      preferredPeriodicity: 3, referenceConnectionEventCount: 0x1234, offsets: .init(low: 1, high: 2))
    let syncInfo = LL.SyncInfo(
      offset: LL.PacketOffset(value: 100, isInLargeUnits: true), isAdjusted: false, interval: 80, channelMap: .all,
      sleepClockAccuracy: .upTo50, accessAddress: 0x1234_5678, crcInit: 0x654321, eventCounter: 9)
    return [
      .connectionUpdateInd(timing, instant: 0xFFFE), .channelMapInd(ChannelMap(bits: 0x1234), instant: 7),
      .encReq(
        random: 1, encryptedDiversifier: 2, LL.SessionPart(diversifier: .max - 3, initializationVector: .max - 4)),
      .encRsp(LL.SessionPart(diversifier: 5, initializationVector: 6)), .startEncReq, .startEncRsp, .pauseEncReq,
      .pauseEncRsp,
      .terminateInd(.remoteUserTerminatedConnection), .unknownRsp(0xFF), .featureReq(0xFF00), .featureRsp(1),
      .versionInd(LL.VersionInformation(version: 13, company: 0xFFFF, subversion: 2)),
      .rejectInd(.unsupportedRemoteFeature), .peripheralFeatureReq(3), .connectionParamReq(proposal),
      .connectionParamRsp(proposal), .rejectExtInd(opcode: 0x0F, .llProcedureCollision), .pingReq, .pingRsp,
      .lengthReq(lengths), .lengthRsp(lengths),
      .phyReq(LL.PHYPreferences(transmit: .all, receive: .le2M)),
      .phyRsp(LL.PHYPreferences(transmit: .le1M, receive: .leCoded)),
      .phyUpdateInd(LL.PHYUpdate(centralToPeripheral: .le2M, peripheralToCentral: .leCoded), instant: 0x8001),
      .minUsedChannelsInd(LL.MinimumUsedChannels(phys: [.le1M, .leCoded], count: 37)),
      .periodicSyncInd(
        LL.PeriodicSyncTransfer(
          serviceData: 0x1234, syncInfo: syncInfo, connectionEventCount: 5, lastPeriodicEventCounter: 6,
          advertisingSID: 7, advertiser: DeviceAddress(0xC0FF_EE00_0001, .random), sleepClockAccuracy: .upTo30,
          phy: .leCoded, syncConnectionEventCount: 4)),
      .clockAccuracyReq(.upTo20), .clockAccuracyRsp(.upTo150),
      .channelReportingInd(LL.ChannelReporting(isEnabled: false, minimumSpacing: 6, maximumDelay: 7)),
      .channelStatusInd(LL.ChannelStatus(good: ChannelMap(bits: 0x55), bad: ChannelMap(bits: 0x1F_0000_0000))),
    ]
  }()
}
