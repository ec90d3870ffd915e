import Testing

@testable import BluetoothWire

@Suite("PDUs of extended advertising")
struct ExtendedAdvertisingPDUTests {
  private typealias Payload = LL.ExtendedAdvertisingPayload

  private let pool = PacketPool()
  private static let advertiser = DeviceAddress(0x0605_0403_0201, .public)
  private static let target = DeviceAddress(0xC605_0403_0201, .random)
  private static let pointer = LL.AuxiliaryPointer(
    channel: ChannelIndex(17), isClockAccurate: true, offset: LL.PacketOffset(.milliseconds(3)), phy: .le2M)
  private static let sync = LL.SyncInfo(
    offset: LL.PacketOffset(.milliseconds(20)), isAdjusted: false, interval: 80,
    channelMap: ChannelMap(bits: 0x1E_0000_0003), sleepClockAccuracy: .upTo50, accessAddress: 0x5065_4A6B,
    crcInit: 0x123456, eventCounter: 0xABCD)

  private func decoded(_ header: UInt8, _ payload: [UInt8]) throws -> LL.AdvertisingPDU {
    try LL.AdvertisingPDU(header: UInt16(header) | UInt16(payload.count) << 8, payload: ByteSlice(payload))
  }

  private func payload(_ octets: [UInt8]) throws -> LL.ExtendedAdvertisingPayload {
    guard case .extended(let payload) = try decoded(0x07, octets) else { throw DecodingError.unknown(code: 0) }
    return payload
  }

  @Test("ADV_EXT_IND has ADI and AuxPtr in their places")
  func advExtInd() {
    let pdu = LL.AdvertisingPDU.extended(
      Payload(mode: .connectable, dataInfo: LL.AdvertisingDataInfo(sid: 0xA, did: 0x123), auxiliary: Self.pointer))
    let packet = pdu.packet(in: pool)
    // 6 octets of header, flags ADI and AuxPtr; channel 17, CA 1, units of 30 µs, offset 100, 2M.
    #expect(packet.payload.description == "46" + "18" + "23A1" + "516420")
    #expect(packet.header == 0x0707)
  }

  @Test("AUX_SYNC_IND may consist of data alone, with the train's own access address")
  func auxSyncInd() {
    let pdu = LL.AdvertisingPDU.extended(Payload(data: [0xAA, 0xBB]))
    let packet = pdu.packet(in: pool, accessAddress: 0x5065_4A6B, crcInit: 0x123456)
    #expect(packet.payload.description == "00AABB" && packet.header == 0x0307)
    #expect(packet.accessAddress == 0x5065_4A6B && packet.crcInit == 0x123456)
  }

  @Test("SyncInfo has its fields least significant octet first, and SCA above the channel map")
  func syncInfo() {
    let packet = LL.AdvertisingPDU.extended(Payload(syncInfo: Self.sync)).packet(in: pool)
    // 666 units of 30 µs, interval 80, map, SCA 5, access address, CRCInit, counter.
    #expect(packet.payload.description == "1320" + "9A02" + "5000" + "03000000BE" + "6B4A6550" + "563412" + "CDAB")
  }

  @Test("SyncInfo encodes offsets of less than 4.9152 s; a larger offset makes it invalid")
  func syncInfoReach() {
    var info = Self.sync
    for (span, encoded) in [(30, 30), (2_457_599, 2_457_300), (2_457_900, 2_457_900), (4_915_199, 4_914_900)]
      as [(Int64, Int64)]
    {
      info.span = .microseconds(span)
      #expect(info.span == .microseconds(encoded) && info.isValid)
    }
    for span in [LL.SyncInfo.reach, .seconds(10), .seconds(81)] {
      info.span = span
      #expect(info.offset.value == 0 && !info.isAdjusted && !info.isValid)
    }
  }

  @Test("TxAdd and RxAdd give the kinds of AdvA and TargetA")
  func addressKinds() throws {
    let pdu = LL.AdvertisingPDU.extended(Payload(advertiser: Self.advertiser, target: Self.target))
    let packet = pdu.packet(in: pool)
    #expect(packet.header & 0xFF == 0x87)
    #expect(packet.payload.description == "0D03" + "010203040506" + "0102030405C6")
    #expect(try LL.AdvertisingPDU(header: packet.header, payload: packet.payload) == pdu)
  }

  @Test("AUX_CONNECT_RSP has the advertiser and the initiator, and is refused without either")
  func auxConnectRsp() throws {
    let pdu = LL.AdvertisingPDU.auxConnectRsp(advertiser: Self.target, initiator: Self.advertiser)
    let packet = pdu.packet(in: pool)
    #expect(packet.header == 0x0E48)
    #expect(packet.payload.description == "0D03" + "0102030405C6" + "010203040506")
    #expect(try LL.AdvertisingPDU(header: packet.header, payload: packet.payload) == pdu)
    #expect(throws: DecodingError.invalid(field: "Extended Header Flags")) {
      try decoded(0x08, [7, 1, 1, 2, 3, 4, 5, 6])
    }
    #expect(throws: DecodingError.invalid(field: "Extended Header Flags")) { try decoded(0x08, [0]) }
  }

  @Test("Every combination of fields decodes to what was encoded", arguments: UInt8(0)..<128)
  func roundTrip(fields: UInt8) throws {
    var payload = Payload(mode: .scannable, data: [9, 8, 7])
    if fields & 1 != 0 { payload.advertiser = Self.target }
    if fields & 2 != 0 { payload.target = Self.target }
    if fields & 4 != 0 { payload.dataInfo = LL.AdvertisingDataInfo(rawValue: 0x8123) }
    if fields & 8 != 0 { payload.auxiliary = Self.pointer }
    if fields & 16 != 0 { payload.syncInfo = Self.sync }
    if fields & 32 != 0 { payload.transmitPower = -7 }
    if fields & 64 != 0 { (payload.additionalData, payload.cteInfo) = ([2, 0x28, 1], 0x14) }
    let packet = LL.AdvertisingPDU.extended(payload).packet(in: pool)
    #expect(packet.payload.count == payload.length)
    #expect(try LL.AdvertisingPDU(header: packet.header, payload: packet.payload) == .extended(payload))
  }

  @Test("Data and ACAD that are too long are truncated where the packet is full")
  func tooLong() throws {
    let long = ByteSlice([UInt8](repeating: 1, count: 300))
    let data = LL.AdvertisingPDU.extended(Payload(data: long)).packet(in: pool)
    #expect(data.payload.count == 255)
    let both = LL.AdvertisingPDU.extended(
      Payload(advertiser: Self.target, additionalData: long, data: long)
    ).packet(in: pool)
    #expect(both.payload.count == 255 && both.payload[0] == 63)
    let pdu = try LL.AdvertisingPDU(header: both.header, payload: both.payload)
    guard case .extended(let decoded) = pdu else {
      Issue.record("\(pdu) is no extended PDU")
      return
    }
    #expect(decoded.additionalData.count == 56 && decoded.data.count == 191)
  }

  @Test("Offsets have units of 30 µs, units of 300 µs from 245.7 ms on, and no value beyond 13 bits")
  func offsets() {
    #expect(LL.PacketOffset(.microseconds(330)).span == .microseconds(330))
    #expect(LL.PacketOffset(.microseconds(359)).span == .microseconds(330))
    #expect(!LL.PacketOffset(.microseconds(245_699)).isInLargeUnits)
    let large = LL.PacketOffset(.microseconds(245_700))
    #expect(large.isInLargeUnits && large.span == .microseconds(245_700) && large.unit == .microseconds(300))
    #expect(LL.PacketOffset(.microseconds(2_457_599)).value == 8_191)
    #expect(LL.PacketOffset(.microseconds(2_457_600)) == .none && LL.PacketOffset(.microseconds(-1)) == .none)
  }

  @Test("Offset Adjust doubles the range of the offset")
  func adjustedOffsets() {
    var info = Self.sync
    for (span, isAdjusted) in [
      (30, false), (2_457_300, false), (2_457_600, true), (2_457_900, true), (4_914_900, true),
    ] as [(Int64, Bool)] {
      info.span = .microseconds(span)
      #expect(info.span == .microseconds(span) && info.isAdjusted == isAdjusted)
    }
    info.span = .microseconds(4_915_200)
    #expect(info.offset.value == 0)
  }

  @Test("SyncInfo that can't be followed is invalid")
  func nonsense() {
    func isValid(_ change: (inout LL.SyncInfo) -> Void) -> Bool {
      var info = Self.sync
      change(&info)
      return info.isValid
    }
    #expect(isValid { _ in } && isValid { $0.interval = 6 } && !isValid { $0.interval = 5 })
    #expect(!isValid { $0.channelMap = ChannelMap(bits: 1) } && !isValid { $0.accessAddress = 0 })
    #expect(!isValid { $0.accessAddress = LL.advertisingAccessAddress } && !isValid { $0.offset = .none })
  }

  // MARK: S24

  @Test("S24: an extended header that is shorter than its flags require is refused, whatever follows it")
  func flagsBeyondHeader() {
    let rest = [UInt8](repeating: 0, count: 60)
    let sizes: [(UInt8, Int)] = [
      (0x01, 6), (0x02, 6), (0x04, 1), (0x08, 2), (0x10, 3), (0x20, 18), (0x40, 1), (0x7F, 37),
    ]
    for (flags, size) in sizes {
      for length in 1...size {
        #expect(throws: DecodingError.truncated) { try payload([UInt8(length), flags] + rest) }
      }
      #expect((try? payload([UInt8(size + 1), flags] + rest)) != nil)
    }
  }

  @Test("S24: an extended header that is longer than the payload is refused")
  func headerBeyondPayload() {
    #expect(throws: DecodingError.truncated) { try payload([]) }
    for length in UInt8(1)...63 {
      #expect(throws: DecodingError.truncated) { try payload([length] + [UInt8](repeating: 0, count: Int(length) - 1)) }
    }
  }

  @Test("S24: a length that differs from the number of octets is refused, including its high bits")
  func statedLength() {
    let octets = ByteSlice([UInt8](repeating: 0, count: 40))
    for stated in UInt16(0)...255 where stated != 40 {
      #expect(throws: stated > 40 ? DecodingError.truncated : .excess) {
        try LL.AdvertisingPDU(header: 0x07 | stated << 8, payload: octets)
      }
    }
  }

  @Test("S24: reserved modes, PHYs and channels are refused, and reserved bits are ignored")
  func reservedValues() throws {
    #expect(throws: DecodingError.invalid(field: "AdvMode")) { try payload([0xC0]) }
    for channel in UInt8(37)...63 {
      #expect(throws: DecodingError.invalid(field: "Channel Index")) { try payload([4, 0x10, channel, 1, 0]) }
    }
    for phy in UInt8(3)...7 {
      #expect(throws: DecodingError.invalid(field: "AUX PHY")) { try payload([4, 0x10, 0, 1, phy << 5]) }
    }
    #expect(try payload([1, 0x80, 5]).data == [5])
    let info = try payload([19, 0x20, 1, 0x80] + [UInt8](repeating: 0, count: 16)).syncInfo
    #expect(info?.offset == LL.PacketOffset(value: 1, isInLargeUnits: false))
    #expect(throws: DecodingError.unknown(code: 9)) { try decoded(0x09, [0]) }
  }

  @Test("S24: any octets decode to a PDU or an error, and a decoded PDU survives encoding")
  func anyOctets() throws {
    var generator = RandomStream(seed: 24)
    var count = 0
    for _ in 0..<20_000 {
      var octets = (0..<Int.random(in: 1...70, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      octets[0] &= 0x9F
      guard let pdu = try? decoded(0x07 | UInt8.random(in: 0...3, using: &generator) << 6, octets) else { continue }
      count += 1
      let packet = pdu.packet(in: pool)
      #expect(try LL.AdvertisingPDU(header: packet.header, payload: packet.payload) == pdu)
    }
    #expect(count > 1_000)
  }
}
