import Requirements
import TestVectors
import Testing

@testable import BluetoothWire

/// A row of a vector file.
private struct Row {
  let fields: [String: Any]

  /// The identifier of this row.
  var name: String { (fields["id"] ?? fields["access_address"]) as? String ?? "?" }

  func text(_ name: String) throws -> String { try #require(fields[name] as? String, "\(name)") }
  func number(_ name: String) throws -> Int { try #require(fields[name] as? Int, "\(name)") }
  func numbers(_ name: String) throws -> [Int] { try #require(fields[name] as? [Int], "\(name)") }
  func bytes(_ name: String) throws -> [UInt8] { try #require([UInt8](hexadecimal: text(name)), "\(name)") }
  func hexadecimal(_ name: String) throws -> UInt64 {
    let digits = try text(name)
    return try #require(UInt64(digits.hasPrefix("0x") ? String(digits.dropFirst(2)) : digits, radix: 16), "\(name)")
  }

  /// Returns the packet described by `access_address` (in the order on the air), `crc_init` and `pdu`.
  func packet() throws -> AirPacket {
    let address = try bytes("access_address")
    let pdu = try bytes("pdu")
    return AirPacket(
      accessAddress: address.reversed().reduce(0) { $0 << 8 | UInt32($1) },
      crcInit: UInt32(try hexadecimal("crc_init")), header: UInt16(pdu[0]) | UInt16(pdu[1]) << 8,
      payload: ByteSlice(pdu.dropFirst(2)))
  }
}

private func rows(_ file: String, _ topic: String) throws -> [Row] {
  let rows = try #require(TestVectors.load(file)[topic] as? [[String: Any]])
  try #require(!rows.isEmpty)
  return rows.map(Row.init)
}

@Suite("Link layer vectors")
struct LinkLayerVectorTests {
  @Test("The CRC of every published packet is right", .requirement("L125"))
  func crc() throws {
    for row in try rows("ll_frames", "crc") {
      try #expect(LL.airBytes(of: row.packet()).suffix(3) == row.bytes("crc")[...], "\(row.name)")
    }
  }

  @Test("LL_ENC_REQ, LL_ENC_RSP and LL_START_ENC_REQ agree with the specification's sample session")
  func encryption() throws {
    let session = Row(fields: try #require(try TestVectors.load("ll_encryption")["session"] as? [String: Any]))
    func part(_ role: String) throws -> LL.SessionPart {
      LL.SessionPart(
        diversifier: try session.hexadecimal("skd" + role),
        initializationVector: UInt32(try session.hexadecimal("iv" + role)))
    }
    let request = LL.ControlPDU.encReq(
      random: try session.hexadecimal("rand"), encryptedDiversifier: UInt16(try session.hexadecimal("ediv")),
      try part("m"))
    for (pdu, name) in [
      (request, "ll_enc_req"), (.encRsp(try part("s")), "ll_enc_rsp"), (.startEncReq, "ll_start_enc_req"),
    ] {
      let expected = try session.bytes(name + "_on_air").dropFirst(2)
      #expect(pdu.payload(in: PacketPool()).bytes == Array(expected))
    }
  }

  @Test("CRCInit is encoded least significant octet first in CONNECT_IND")
  func crcInit() throws {
    for row in try rows("ll_frames", "crc") {
      let octets = try row.bytes("crc_init_connect_ind_octets")
      try #expect(octets.reversed().reduce(0) { $0 << 8 | UInt64($1) } == row.hexadecimal("crc_init"))
    }
    let row = try #require(try rows("ll_frames", "frames").first { try $0.text("id") == "connect-ind-ch39" })
    let packet = try row.packet()
    guard case .connectInd(_, _, let data, _) = try LL.AdvertisingPDU(header: packet.header, payload: packet.payload)
    else {
      Issue.record("no CONNECT_IND")
      return
    }
    let field = packet.payload.bytes[16..<19]
    #expect(data.crcInit == field.reversed().reduce(0) { $0 << 8 | UInt32($1) })
  }

  @Test(
    "The CRC detects every one to four wrong bits in 39 octets, and every odd number of wrong bits",
    .requirement("L096"))
  func detectedErrors() {
    /// Returns the CRC of the longest advertising packet of Bluetooth 4.0 with one bit of its PDU flipped.
    func crc(flipping bit: Int? = nil) -> UInt32 {
      var pdu = [UInt8](repeating: 0, count: 39)
      if let bit { pdu[bit / 8] ^= 1 << (bit % 8) }
      let packet = AirPacket(
        accessAddress: LL.advertisingAccessAddress, crcInit: 0x555555, header: UInt16(pdu[0]) | UInt16(pdu[1]) << 8,
        payload: ByteSlice(pdu.dropFirst(2)))
      return LL.airBytes(of: packet).suffix(3).reduce(0) { $0 << 8 | UInt32($1) }
    }
    // The CRC is linear: each wrong bit, in the PDU or in the CRC itself, causes a fixed change. Errors are undetected
    // if their changes cancel out.
    let right = crc()
    let changes = (0..<39 * 8).map { crc(flipping: $0) ^ right } + (0..<24).map { 1 << $0 }
    // An odd number of changes of odd parity never cancels out.
    #expect(changes.allSatisfy { $0.nonzeroBitCount % 2 == 1 })
    // Two changes never cancel out, and no two pairs cause the same change, so four changes never cancel out either.
    var pairs: Set<UInt32> = [0]
    for (number, change) in changes.enumerated() { for other in changes[..<number] { pairs.insert(change ^ other) } }
    #expect(pairs.count == 1 + changes.count * (changes.count - 1) / 2)
  }

  @Test("The whitening sequence of each channel is right", .requirement("L095"))
  func whitening() throws {
    for row in try rows("ll_frames", "whitening") {
      let sequence = try row.bytes("sequence")
      let channel = ChannelIndex(UInt8(try row.number("channel_index")))
      #expect(Array(LL.Whitening(channel: channel).prefix(sequence.count)) == sequence, "channel \(channel.number)")
    }
  }

  @Test("A whole frame has the vector's preamble, CRC and whitening", .requirement("L092"))
  func frames() throws {
    for row in try rows("ll_frames", "frames") {
      let phy: RadioPHY = try row.text("phy") == "2M" ? .le2M : .le1M
      let channel = ChannelIndex(UInt8(try row.number("channel_index")))
      let bytes = LL.onAirBytes(of: try row.packet(), channel: channel, phy: phy)
      try #expect(bytes == row.bytes("on_air"), "\(row.name)")
    }
  }

  @Test("Advertising PDUs of the vectors decode, and encode to the same octets")
  func advertisingPDUs() throws {
    let pool = PacketPool()
    var decoded = 0
    for topic in ["frames", "crc"] {
      for row in try rows("ll_frames", topic) {
        let packet = try row.packet()
        guard packet.accessAddress == LL.advertisingAccessAddress, packet.crcInit == LL.advertisingCRCInit,
          let pdu = try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload)
        else { continue }
        decoded += 1
        // ChSel is reserved in PDUs that do not use it, and bit 4 in all PDUs.
        #expect(pdu.packet(in: pool).payload == packet.payload, "\(row.name)")
        #expect(pdu.packet(in: pool).header & 0xFFCF == packet.header & 0xFFCF, "\(row.name)")
      }
    }
    #expect(decoded >= 15)
  }

  @Test("Access addresses are valid or invalid as the rules say", .requirement("L094"))
  func accessAddresses() throws {
    for row in try rows("ll_frames", "access_addresses") {
      let address = UInt32(try row.hexadecimal("access_address"))
      let isValid = try #require(row.fields["valid"] as? Bool)
      let isValidForCoded = try #require(row.fields["valid_for_coded"] as? Bool)
      #expect(LL.isValidAccessAddress(address) == isValid, "\(row.name)")
      #expect(LL.isValidAccessAddress(address, forCoded: true) == isValidForCoded, "\(row.name)")
    }
  }

  @Test("Random access addresses are valid and distinct", .requirement("L094"))
  func drawnAccessAddresses() {
    var generator = RandomStream(seed: 3)
    let addresses = (0..<200).map { _ in LL.randomAccessAddress(using: &generator) }
    #expect(addresses.allSatisfy { LL.isValidAccessAddress($0) })
    #expect(Set(addresses).count == 200)
  }

  @Test("Channel selection algorithm #1 gives the channels of the vectors", .requirement("L126"))
  func algorithm1() throws {
    for row in try rows("channels", "cases_csa1") {
      let hop = try row.number("hop")
      let selection = LL.ChannelSelection.algorithm1(hopIncrement: UInt8(hop))
      let map = ChannelMap(bits: try row.hexadecimal("channel_map"))
      // The event before which lastUnmappedChannel has the given value.
      let last = try row.number("last_unmapped_channel")
      let first = try #require((0..<37).first { hop * $0 % 37 == last })
      let expected = try row.numbers("channels")
      let channels = expected.indices.map { Int(selection.channel(event: first + $0, map: map).number) }
      #expect(channels == expected, "\(row.name)")
    }
  }

  @Test("Channel selection algorithm #2 gives the channels of the vectors")
  func algorithm2() throws {
    for row in try rows("channels", "csa2") {
      let selection = LL.ChannelSelection.algorithm2(accessAddress: UInt32(try row.hexadecimal("access_address")))
      let identifier = UInt16(try row.hexadecimal("channel_id"))
      #expect(selection == .algorithm2(identifier: identifier))
      let event = try row.number("event_counter")
      let number = LL.ChannelSelection.prnE(counter: UInt16(truncatingIfNeeded: event), identifier: identifier)
      try #expect(Int(number) == row.number("prn_e"))
      let map = ChannelMap(bits: try row.hexadecimal("channel_map"))
      try #expect(Int(selection.channel(event: event, map: map).number) == row.number("channel"))
    }
  }

  @Test("Channel indexes and radio channels correspond as in the table", .requirement("L083", "L087", "L089", "L212"))
  func channelIndexes() throws {
    for row in try rows("channels", "channels") {
      let index = ChannelIndex(UInt8(try row.number("channel_index")))
      try #expect(index.radioChannel.megahertz == row.number("frequency_mhz"))
      try #expect(Int(index.radioChannel.number) == row.number("rf_channel"))
      #expect(ChannelIndex(index.radioChannel) == index)
    }
  }

  @Test("The two high bits of a random address give its kind, and its random part must not be all zeros or ones")
  func randomAddresses() throws {
    for row in try rows("advertising", "address_types") {
      let text = try row.text("address")
      let value = try #require(UInt64(text.replacing(":", with: ""), radix: 16))
      let address = DeviceAddress(value, .random)
      let meaning = try row.text("as_random")
      #expect(address.hasValidRandomPart == !meaning.hasPrefix("invalid"), "\(text)")
      let names: [DeviceAddress.RandomKind: String] = [
        .static: "static", .resolvablePrivate: " resolvable", .nonResolvablePrivate: "non-resolvable",
        .reserved: "reserved",
      ]
      let name = try #require(address.randomKind.flatMap { names[$0] })
      #expect((" " + meaning).contains(name), "\(text)")
    }
  }
}
