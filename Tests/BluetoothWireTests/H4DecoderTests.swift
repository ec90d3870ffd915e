import BluetoothWire
import TestVectors
import Testing

/// Decoding of HCI packets from a stream · Vol 4, Part A.
struct H4DecoderTests {
  private let pool = PacketPool()

  /// Returns the outputs of `portions`, decoded in order.
  private func decode(_ portions: [ArraySlice<UInt8>], with decoder: inout H4Decoder) -> [H4Decoder.Output] {
    var outputs: [H4Decoder.Output] = []
    for portion in portions {
      var octets = ByteSlice(portion)
      while let output = decoder.next(&octets) { outputs.append(output) }
      #expect(octets.isEmpty)
    }
    return outputs
  }

  private func decode(_ octets: [UInt8], for side: H4Decoder.Side = .host) -> [H4Decoder.Output] {
    var decoder = H4Decoder(for: side, pool: pool)
    return decode([octets[...]], with: &decoder)
  }

  /// Returns the vectors that travel to this side, and the concatenation of their octets.
  private func stream(to side: H4Decoder.Side) throws -> (packets: [H4Decoder.Output], octets: [UInt8]) {
    let vectors = try HCIVector.load().filter { vector in
      switch try vector.packet {
      case .command: side == .controller
      case .event: side == .host
      case .acl: true
      }
    }
    return (try vectors.map { .packet(try $0.packet) }, vectors.flatMap(\.octets))
  }

  private static let resetComplete: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
  private static let numberCompleted: [UInt8] = [0x04, 0x13, 0x05, 0x01, 0x40, 0x00, 0x01, 0x00]

  private func packet(_ octets: [UInt8]) throws -> H4Decoder.Output { .packet(try HCI.Packet(h4: ByteSlice(octets))) }

  @Test(
    "H1: a stream split in two at any octet gives the same packets", arguments: [H4Decoder.Side.host, .controller])
  func cutInTwo(_ side: H4Decoder.Side) throws {
    let (packets, octets) = try stream(to: side)
    #expect(packets.count > 30)
    for cut in 0...octets.count {
      var decoder = H4Decoder(for: side, pool: pool)
      let outputs = decode([octets[..<cut], octets[cut...]], with: &decoder)
      guard outputs == packets else {
        Issue.record("cut at \(cut)")
        return
      }
      #expect(decoder.keptCount == 0 && decoder.dropped == 0)
    }
  }

  @Test("H1: a stream gives the same packets octet by octet and in random portions", arguments: 0..<20)
  func portions(_ seed: Int) throws {
    let (packets, octets) = try stream(to: .host)
    var random = RandomStream(seed: UInt64(seed))
    var portions: [ArraySlice<UInt8>] = []
    var rest = octets[...]
    while !rest.isEmpty {
      let count = seed == 0 ? 1 : Int(random.next() % 40)
      portions.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    var decoder = H4Decoder(for: .host, pool: pool)
    #expect(decode(portions, with: &decoder) == packets)
  }

  @Test("A recorded start-up of another controller is split into the recorded packets")
  func recordedStream() throws {
    let recordings = try #require(try TestVectors.load("real_traffic")["hci"] as? [[String: Any]])
    let rows = recordings.compactMap { $0["packets"] as? [[String: Any]] }.flatMap { $0 }
    let packets = rows.compactMap { row in
      (row["h4"] as? String).flatMap { [UInt8](hexadecimal: $0) }
    }.filter { $0.first == 0x02 || $0.first == 0x04 }
    #expect(packets.count > 50)
    #expect(decode(packets.flatMap { $0 }) == (try packets.map(packet)))
  }

  @Test("H1: packets without parameters are decoded")
  func zeroLength() throws {
    let stream: [[UInt8]] = [[0x04, 0xFF, 0x00], [0x02, 0x40, 0x20, 0x00, 0x00], Self.numberCompleted]
    #expect(decode(stream.flatMap { $0 }) == (try stream.map(packet)))
  }

  @Test("H1: after an unknown indicator the decoder skips everything up to the answer to Reset")
  func resynchronization() throws {
    for indicator in UInt8.min ... .max where ![2, 3, 4, 5].contains(indicator) {
      let octets =
        Self.numberCompleted + [indicator] + Self.numberCompleted + [0x04, 0x0E, 0x04, 0x04, 0x0E, 0x04]
        + Self.resetComplete + Self.numberCompleted
      let expected: [H4Decoder.Output] = [
        try packet(Self.numberCompleted), .synchronizationLost, try packet(Self.resetComplete),
        try packet(Self.numberCompleted),
      ]
      #expect(decode(octets) == expected, "\(indicator)")
      var decoder = H4Decoder(for: .host, pool: pool)
      #expect(decode(octets.indices.map { octets[$0...$0] }, with: &decoder) == expected, "\(indicator)")
    }
  }

  @Test("H1: a controller that has lost synchronization finds its host's Reset")
  func controllerResynchronization() throws {
    let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    let expected: [H4Decoder.Output] = [.synchronizationLost, try packet(reset), try packet(reset)]
    #expect(decode([0x04, 0x01, 0x01, 0x03, 0x01, 0x03, 0x0C] + reset + reset, for: .controller) == expected)
  }

  @Test("H5: an ACL packet above the maximum length causes a loss of synchronization", arguments: [4_097, 0xFFFF])
  func tooLong(_ length: Int) throws {
    let header: [UInt8] = [0x02, 0x40, 0x20, UInt8(truncatingIfNeeded: length), UInt8(length >> 8)]
    let octets = header + [UInt8](repeating: 0x55, count: 100) + Self.resetComplete
    #expect(decode(octets) == [.synchronizationLost, try packet(Self.resetComplete)])
    var decoder = H4Decoder(for: .host, pool: pool)
    #expect(
      decode(octets.indices.map { octets[$0...$0] }, with: &decoder) == [
        .synchronizationLost, try packet(Self.resetComplete),
      ])
  }

  @Test("H5: a header with an excessive length is skipped whole, in one piece or split, even if it contains a mark")
  func headerLikeMark() throws {
    // The end of the header could be the beginning of Command Complete.
    let octets: [UInt8] = [0x02, 0x40, 0x20, 0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00] + Self.resetComplete
    for cut in 0...octets.count {
      var decoder = H4Decoder(for: .host, maximumACLLength: 512, pool: pool)
      let outputs = decode([octets[..<cut], octets[cut...]], with: &decoder)
      #expect(outputs == [.synchronizationLost, try packet(Self.resetComplete)], "\(cut)")
    }
  }

  @Test("H5: the longest ACL packet is decoded, even with an invalid handle")
  func longest() throws {
    let octets = [0x02, 0xFF, 0x2F, 0x00, 0x10] + [UInt8](repeating: 7, count: 4_096)
    #expect(decode(octets) == [try packet(octets)])
  }

  @Test("H9: an ACL packet with reserved flags is dropped, and the stream continues")
  func reservedFlags() throws {
    var decoder = H4Decoder(for: .host, pool: pool)
    let octets = [0x02, 0x40, 0x30, 0x01, 0x00, 0xAA, 0x02, 0x40, 0x40, 0x00, 0x00] + Self.numberCompleted
    #expect(decode([octets[...]], with: &decoder) == [try packet(Self.numberCompleted)])
    #expect(decoder.dropped == 2)
  }

  @Test("Synchronous and isochronous data are skipped")
  func otherData() throws {
    var decoder = H4Decoder(for: .host, pool: pool)
    let octets = [0x03, 0x40, 0x00, 0x02, 1, 2, 0x05, 0x40, 0x00, 0x03, 0xC0, 1, 2, 3] + Self.numberCompleted
    #expect(decode([octets[...]], with: &decoder) == [try packet(Self.numberCompleted)])
    #expect(decoder.dropped == 2)
  }

  @Test("H1: a stream that ends within a packet gives no part of that packet")
  func endOfStream() {
    for count in 1..<Self.numberCompleted.count {
      var decoder = H4Decoder(for: .host, pool: pool)
      #expect(decode([Self.numberCompleted.prefix(count)], with: &decoder).isEmpty)
      #expect(decoder.keptCount == count)
    }
  }

  @Test("H1: the decoder keeps at most one packet of any input, and consumes each octet")
  func randomInput() {
    var random = RandomStream(seed: 11)
    var decoder = H4Decoder(for: .host, maximumACLLength: 64, pool: pool)
    var lost = 0
    for _ in 0..<20_000 {
      let count = Int(random.next() % 24)
      var portion = (0..<count).map { _ in
        [0x02, 0x04, 0x0E, UInt8(truncatingIfNeeded: random.next())][Int(random.next() % 4)]
      }
      if random.next() % 16 == 0 { portion += Self.resetComplete }
      for output in decode([portion[...]], with: &decoder) where output == .synchronizationLost { lost += 1 }
      #expect(decoder.keptCount < 258)
    }
    #expect(lost > 100)
  }
}
