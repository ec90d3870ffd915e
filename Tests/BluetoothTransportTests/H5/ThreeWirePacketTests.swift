import Testing

@testable import BluetoothTransport

@Suite struct ThreeWirePacketTests {
  /// Packets as they are on the line. The first two are those of other implementations' traces; the third has a header
  /// checksum that must be escaped.
  static let vectors: [(ThreeWirePacket, [UInt8])] = [
    (ThreeWirePacket(.linkControl, ThreeWireMessage.sync), [0xC0, 0x00, 0x2F, 0x00, 0xD0, 0x01, 0x7E, 0xC0]),
    (ThreeWirePacket(.linkControl, ThreeWireMessage.syncResponse), [0xC0, 0x00, 0x2F, 0x00, 0xD0, 0x02, 0x7D, 0xC0]),
    (
      ThreeWirePacket(.linkControl, ThreeWireMessage.config + [0x14]),
      [0xC0, 0x00, 0x3F, 0x00, 0xDB, 0xDC, 0x03, 0xFC, 0x14, 0xC0]
    ),
    // HCI Reset with the first sequence number.
    (
      ThreeWirePacket(.command, [0x03, 0x0C, 0x00], sequence: 0),
      [0xC0, 0x80, 0x31, 0x00, 0x4E, 0x03, 0x0C, 0x00, 0xC0]
    ),
    // An acknowledgment of packet 4.
    (ThreeWirePacket(.acknowledgment, acknowledgment: 5), [0xC0, 0x28, 0x00, 0x00, 0xD7, 0xC0]),
    // Data of 16 octets that must be escaped.
    (
      ThreeWirePacket(.acl, Array(repeating: 0xDB, count: 16), sequence: 7, acknowledgment: 7),
      [0xC0, 0xBF, 0x02, 0x01, 0x3D] + Array(repeating: [0xDB, 0xDD], count: 16).flatMap { $0 } + [0xC0]
    ),
  ]

  @Test("A packet has these octets on the line, and is read from them", arguments: vectors)
  func vector(packet: ThreeWirePacket, line: [UInt8]) throws {
    var octets: [UInt8] = []
    SLIP.append(packet.octets, to: &octets)
    #expect(octets == line)
    var decoder = SLIPDecoder(maximumLength: ThreeWirePacket.maximumLength)
    let frames = line.compactMap { decoder.take($0) }
    #expect(frames.map { ThreeWirePacket(octets: $0) } == [packet])
  }

  @Test("The Data Integrity Check has the reversed bits of the CRC-CCITT, most significant octet first")
  func integrityCheck() {
    // The check value of CRC-16/MCRF4XX, the same polynomial and initial value, is 0x6F91.
    #expect(ThreeWirePacket.integrityCheck(of: Array("123456789".utf8)) == [0x89, 0xF6])
    let packet = ThreeWirePacket(.event, [0x0E, 0x01, 0xC0], sequence: 3, acknowledgment: 2, hasIntegrityCheck: true)
    #expect(packet.octets.count == 4 + 3 + 2)
    #expect(ThreeWirePacket(octets: packet.octets) == packet)
  }

  @Test("A packet with one wrong bit, anywhere, is damaged")
  func damage() {
    let octets = ThreeWirePacket(.acl, Array(0..<40), sequence: 5, acknowledgment: 1, hasIntegrityCheck: true).octets
    for index in octets.indices {
      for bit in 0..<8 {
        var damaged = octets
        damaged[index] ^= 1 << bit
        #expect(ThreeWirePacket(octets: damaged) == nil)
      }
    }
    for count in 0..<octets.count { #expect(ThreeWirePacket(octets: Array(octets.prefix(count))) == nil) }
    #expect(ThreeWirePacket(octets: octets + [0]) == nil)
  }

  @Test("A packet of the longest payload passes, and a type that does not fit its reliability is refused")
  func limits() {
    let longest = ThreeWirePacket(.acl, [UInt8](repeating: 0xC0, count: 4_095), sequence: 0, hasIntegrityCheck: true)
    var line: [UInt8] = []
    SLIP.append(longest.octets, to: &line)
    var decoder = SLIPDecoder(maximumLength: ThreeWirePacket.maximumLength)
    #expect(line.compactMap { decoder.take($0) }.map { ThreeWirePacket(octets: $0) } == [longest])
    #expect(ThreeWirePacket(octets: ThreeWirePacket(.event, [1]).octets) == nil)
    #expect(ThreeWirePacket(octets: ThreeWirePacket(.acknowledgment, sequence: 1).octets) == nil)
    #expect(ThreeWirePacket(octets: ThreeWirePacket(.linkControl, [1, 0x7E], sequence: 1).octets) == nil)
    #expect(ThreeWirePacket(octets: ThreeWirePacket(.isochronous, [1]).octets) != nil)
    // Type 6 is reserved.
    #expect(ThreeWirePacket(octets: [0x00, 0x06, 0x00, 0xF9]) == nil)
  }

  @Test("Noise before, between and within packets damages only the packets that it meets")
  func noise() {
    let sync = Self.vectors[0].1
    var decoder = SLIPDecoder(maximumLength: 8)
    func frames(_ octets: [UInt8]) -> Int { octets.compactMap { decoder.take($0) }.count }
    #expect(frames([1, 2, 3] + sync) == 1)
    // Noise between two packets is a packet, which has no valid header.
    #expect(frames([0x55] + sync) == 2)
    #expect(frames([0xC0, 0xDB, 0x00] + sync) == 1, "a wrong escape sequence")
    #expect(frames([0xC0] + Array(repeating: 1, count: 9) + sync) == 1, "longer than a packet may be")
    #expect(frames([0xC0, 0xDB] + sync) == 1, "a delimiter after the escape octet")
    #expect(frames(Array(sync.dropLast()) + sync) == 2, "a lost delimiter")
  }
}
