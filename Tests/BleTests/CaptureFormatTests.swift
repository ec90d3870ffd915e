import BluetoothDissection
import BluetoothWire
import Foundation
import Testing

@testable import ble

/// The capture files of the tools that people have.
@Suite struct CaptureFormatTests {
  private typealias Fixture = CaptureFixture

  // MARK: The nRF Sniffer

  @Test("A packet of the nRF Sniffer is read in each protocol version", arguments: [UInt8(0), 1, 2, 3, 4])
  func nordicVersions(version: UInt8) throws {
    let advertising = Fixture.packet(
      LL.advertisingAccessAddress, 0x40, Fixture.advertiser + [4, 0x09, 0x41, 0x62, 0x63])
    let file = Fixture.pcap(
      272,
      [
        Fixture.nordic(version, advertising, channel: 37, flags: 0x01, id: version < 3 ? 6 : 2),
        Fixture.nordic(version, Fixture.connectInd, channel: 37, flags: 0x01, id: version < 3 ? 6 : 2),
        Fixture.nordic(version, Fixture.data(0b10, Fixture.mtuRequest), channel: 5, flags: 0x03),
        Fixture.nordic(version, Fixture.data(0b1010, Fixture.att([0x03, 23, 0])), channel: 5, flags: 0x11),
        Fixture.nordic(version, Fixture.data(0b1110, Fixture.mtuRequest), channel: 6, flags: 0x02),
      ])
    let (packets, notes) = try Fixture.describe(file, piece: 3)
    #expect(
      packets.map(\.name) == [
        "ADV_IND", "CONNECT_IND", "ATT_EXCHANGE_MTU_REQ", "ATT_EXCHANGE_MTU_RSP", "ATT_EXCHANGE_MTU_REQ",
      ])
    #expect(packets.map(\.channel) == [37, 37, 5, 5, 6])
    #expect(packets.map(\.power) == [-50, -50, -50, -50, -50])
    #expect(packets.map(\.direction) == [nil, nil, .toPeripheral, .toCentral, .toPeripheral])
    #expect(packets.map(\.phy) == ["LE 1M", "LE 1M", "LE 1M", "LE 2M", "LE 1M"])
    #expect(packets.map(\.hasWrongCRC) == [false, false, false, false, true])
    #expect(packets[2].addresses.map(\.digits) == ["C2:00:00:00:00:01", "C0:00:00:00:00:02"])
    #expect(notes == [])
  }

  @Test("The flags of the nRF Sniffer tell if a packet was decrypted, with its MIC or without")
  func nordicEncryption() throws {
    let mic: [UInt8] = [9, 9, 9, 9]
    let file = Fixture.pcap(
      272,
      [
        Fixture.nordic(3, Fixture.data(0b10, Fixture.mtuRequest + mic), channel: 5, flags: 0x07),
        Fixture.nordic(3, Fixture.data(0b10, Fixture.mtuRequest + mic), channel: 5, flags: 0x0F),
        Fixture.nordic(3, Fixture.data(0b1010, Fixture.mtuRequest), channel: 5, flags: 0x0F),
        Fixture.nordic(3, Fixture.data(0b11, [0x02, 0x13] + mic), channel: 5, flags: 0x0F),
      ])
    let packets = try Fixture.describe(file).packets
    #expect(packets[0].isEncrypted && packets[0].name == "encrypted PDU" && packets[0].detail == "7 octets")
    #expect(packets[1...2].map(\.name) == ["ATT_EXCHANGE_MTU_REQ", "ATT_EXCHANGE_MTU_REQ"])
    #expect(packets[1...2].map(\.detail) == ["MTU 247", "MTU 247"])
    #expect(packets[3].name == "LL_TERMINATE_IND" && packets[3].endReason?.rawValue == 0x13)
  }

  @Test("A sniffer that gives all packets one direction shows the services of the device")
  func oneDirection() throws {
    let discovery = Fixture.att([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28])
    let services = Fixture.att([0x11, 6, 1, 0, 5, 0, 0x0D, 0x18])
    let packets = [Fixture.connectInd, Fixture.data(0b10, discovery), Fixture.data(0b10, services)]
    let file = Fixture.pcap(
      272, packets.enumerated().map { Fixture.nordic(3, $0.element, channel: 5, flags: 1, id: $0.offset == 0 ? 2 : 6) })
    let described = try Fixture.describe(file).packets
    #expect(described[1...].map(\.direction) == [.toCentral, .toCentral])
    #expect(described.map(\.isRetransmission) == [false, false, false])
    var devices = CapturedDevices()
    for packet in described { devices.add(packet) }
    #expect(try devices.choose(nil).server.content.map(\.uuid.description) == ["180D"])
  }

  @Test("Messages of the nRF Sniffer without a packet, and those of later versions, are noted")
  func nordicNotes() throws {
    let file = Fixture.pcap(
      272,
      [
        Fixture.nordic(3, Fixture.data(1, []), channel: 5, flags: 1, id: 5),
        Fixture.nordic(9, Fixture.data(1, []), channel: 5, flags: 1), [1, 2, 3],
        Fixture.nordic(3, Fixture.data(1, []), channel: 5, flags: 1).dropLast(),
        Fixture.nordic(9, Fixture.data(1, []), channel: 5, flags: 1),
      ])
    let (packets, notes) = try Fixture.describe(file)
    #expect(packets.map(\.name) == Array(repeating: "packet", count: 5))
    #expect(
      notes == [
        "not read: a message of the nRF Sniffer with ID 0x05",
        "not read: a packet of the nRF Sniffer with version 9 (2 times)",
        "not read: a packet that is shorter than its header",
        "not read: a packet of the nRF Sniffer with a wrong length",
      ])
  }

  // MARK: Packets on the air without a pseudo-header

  @Test("Packets without a pseudo-header have no channel and no direction, and their server is the peripheral's")
  func bareLinkLayer() throws {
    let discovery = Fixture.att([0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28])
    let services = Fixture.att([0x11, 6, 1, 0, 5, 0, 0x0D, 0x18])
    let file = Fixture.pcap(251, [Fixture.connectInd, Fixture.data(0b10, discovery), Fixture.data(0b1010, services)])
    let packets = try Fixture.describe(file).packets
    #expect(packets.map(\.name) == ["CONNECT_IND", "ATT_READ_BY_GROUP_TYPE_REQ", "ATT_READ_BY_GROUP_TYPE_RSP"])
    #expect(packets.allSatisfy { $0.channel == nil && $0.direction == nil && $0.power == nil && $0.phy == nil })
    var devices = CapturedDevices()
    for packet in packets { devices.add(packet) }
    #expect(try devices.choose(nil).address.digits == "C0:00:00:00:00:02")
    #expect(try devices.choose(nil).server.content.map(\.uuid.description) == ["180D"])
  }

  // MARK: HCI

  @Test("H4 without directions tells them by its packets")
  func bareH4() throws {
    let frame = Fixture.mtuRequest
    func acl(_ boundary: UInt8, _ payload: ArraySlice<UInt8>) -> [UInt8] {
      [2, 0x40, boundary << 4, UInt8(payload.count), 0] + payload
    }
    let file = Fixture.pcap(
      187,
      [
        [1, 0x03, 0x0C, 0], acl(0b00, frame[..<3]), acl(0b01, frame[3...]), acl(0b10, frame[..<5]),
        acl(0b01, frame[5...]),
        [3, 0x41, 0, 2, 7, 7], [5, 0x42, 0, 2, 0, 7, 7],
      ])
    let packets = try Fixture.describe(file).packets
    #expect(
      packets.map(\.direction) == [.toController, .toController, .toController, .toHost, .toHost, nil, nil])
    #expect(packets.map(\.name)[2] == "ATT_EXCHANGE_MTU_REQ" && packets.map(\.name)[4] == "ATT_EXCHANGE_MTU_REQ")
    #expect(packets[5...].map(\.name) == ["SCO Data", "ISO Data"])
    #expect(packets[5...].map(\.detail) == ["2 octets", "2 octets"])
    #expect(packets[5...].map(\.connectionText) == ["0x0041", "0x0042"])
  }

  @Test(
    "The adapters of a Linux monitor channel are interfaces of their own, in pcap and btsnoop", arguments: [254, 2001])
  func monitor(form: UInt32) throws {
    // The same handle on two adapters: each has half of a request.
    func acl(_ octets: ArraySlice<UInt8>, _ boundary: UInt8) -> [UInt8] {
      [0x40, boundary << 4, UInt8(octets.count), 0] + octets
    }
    let frame = Fixture.mtuRequest
    let messages: [(adapter: UInt16, opcode: UInt16, octets: [UInt8])] = [
      (0, 0, [0, 0, 1, 2, 3, 4, 5, 6] + Array("hci0".utf8)), (0, 2, [0x03, 0x0C, 0]), (0, 4, acl(frame[..<5], 0)),
      (1, 4, acl(frame[..<2], 0)), (0, 4, acl(frame[5...], 1)), (1, 4, acl(frame[2...], 1)),
      (0xFFFF, 12, Array("Linux version 6.1\0".utf8)), (0, 77, [1]),
    ]
    let file =
      form == 254
      ? Fixture.pcap(254, messages.map { Fixture.bigEndian($0.adapter, $0.opcode) + $0.octets })
      : Fixture.btsnoop(2001, messages.map { (UInt32($0.adapter) << 16 | UInt32($0.opcode), $0.octets) })
    let elements = try Fixture.decode(file)
    let names = elements.compactMap { if case .interface(let interface) = $0 { interface.title } else { nil } }
    #expect(names == ["hci0", "hci1", "hci"])
    let (packets, notes) = try Fixture.describe(file)
    #expect(
      packets.map(\.name) == [
        "New Index", "Reset", "L2CAP fragment", "L2CAP fragment", "ATT_EXCHANGE_MTU_REQ", "ATT_EXCHANGE_MTU_REQ",
        "System Note", "packet",
      ])
    #expect(packets.map(\.place) == ["hci0", "hci0", "hci0", "hci1", "hci0", "hci1", "hci", "hci0"])
    #expect(packets[6].detail == "Linux version 6.1")
    #expect(notes == ["not read: a message of the Linux monitor channel with opcode 77"])
  }

  @Test(
    "btsnoop holds packets with and without H4, and in the frames of BCSP and the three-wire UART",
    arguments: 1001...1005)
  func btsnoop(datalink: UInt32) throws {
    /// A frame with the channel of BCSP, or the type of the three-wire UART.
    func frame(_ type: UInt8, _ octets: [UInt8]) -> [UInt8] {
      let header: [UInt8] = [0x80, type | UInt8(octets.count) << 4, 0]
      return header + [header.reduce(0xFF, &-)] + octets
    }
    let reset: [UInt8] = [0x03, 0x0C, 0]
    let complete: [UInt8] = [0x0E, 4, 1, 0x03, 0x0C, 0]
    let packets: [(UInt32, [UInt8])] =
      switch datalink {
      case 1001: [(2, reset), (3, complete)]
      case 1002: [(2, [1] + reset), (3, [4] + complete)]
      // One frame is in SLIP.
      case 1003: [(0, frame(5, reset)), (1, [0xC0] + frame(5, complete) + [0xC0]), (0, frame(1, [1, 2, 3, 4]))]
      default: [(0, frame(1, reset)), (1, frame(4, complete)), (0, frame(15, [1, 0x7E]))]
      }
    let (described, notes) = try Fixture.describe(Fixture.btsnoop(datalink, packets))
    guard datalink != 1005 else {
      #expect(notes == ["not read: a packet of btsnoop datalink 1005 (3 times)"])
      return
    }
    #expect(described.prefix(2).map(\.name) == ["Reset", "Command Complete"])
    #expect(described.prefix(2).map(\.direction) == [.toController, .toHost])
    #expect(
      described.dropFirst(2).map(\.name) == [[], [], ["BCSP frame"], ["three-wire UART frame"]][Int(datalink) - 1001])
    #expect(described.map(\.time) == (0..<described.count).map { Int64($0) * 1_000_000 })
    #expect(notes == [])
  }

  @Test("A file of PacketLogger is read in both orders of octets", arguments: [false, true])
  func packetLogger(bigEndian: Bool) throws {
    let acl: [UInt8] = [0x40, 0, 7, 0] + Fixture.mtuRequest
    let file = Fixture.packetLogger(
      bigEndian: bigEndian,
      [
        (0x00, [0x03, 0x0C, 0]), (0x01, [0x0E, 4, 1, 0x03, 0x0C, 0]), (0x02, acl),
        (0x03, [0x40, 0x20, 7, 0] + acl[4...]),
        (0xFC, Array("a note\0".utf8)), (0x42, [1]),
      ])
    let (packets, notes) = try Fixture.describe(file, piece: 5)
    #expect(
      packets.map(\.name) == [
        "Reset", "Command Complete", "ATT_EXCHANGE_MTU_REQ", "ATT_EXCHANGE_MTU_REQ", "Note", "packet",
      ])
    #expect(packets.map(\.direction) == [.toController, .toHost, .toController, .toHost, nil, nil])
    #expect(packets.map(\.time) == (1...6).map { Int64($0) * 1_000_000_000 + 500_000_000 })
    #expect(packets[4].detail == "a note")
    #expect(notes == ["not read: a record of PacketLogger with type 0x42"])
  }

  @Test("The btsnooz section of a bug report is read in both versions", arguments: [UInt8(1), 2])
  func btsnooz(version: UInt8) throws {
    let acl: [UInt8] = [0x40, 0, 7, 0] + Fixture.mtuRequest
    let content = Fixture.btsnooz(
      version: version, last: 1_700_000_000_000_000,
      [
        (0x20, 999, [0x03, 0x0C, 0], nil), (0x10, 1_000, [0x0E, 4, 1, 0x03, 0x0C, 0], nil), (0x21, 500, acl, nil),
        (0x11, 500, Array(acl[..<8]), acl.count), (0x77, 0, [], nil),
      ])
    for file in [Fixture.bugReport(content), content] {
      for piece in [1, 100, Int.max] {
        let (packets, notes) = try Fixture.describe(file, piece: piece)
        #expect(packets.map(\.name) == ["Reset", "Command Complete", "ATT_EXCHANGE_MTU_REQ", "ACL Data"])
        #expect(packets.map(\.direction) == [.toController, .toHost, .toController, .toHost])
        let last: Int64 = 1_700_000_000_000_000_000
        #expect(packets.map(\.time) == [last - 2_000_000, last - 1_000_000, last - 500_000, last])
        #expect(
          packets[3].detail == (version == 1 ? "malformed" : "cut") + ": Length 7, but 4 octets")
        #expect(notes.contains("not read: a btsnooz record of type 0x77"))
      }
    }
  }

  // MARK: pcapng

  private static func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
    let length = UInt32(12 + body.count)
    return Fixture.littleEndian(type, length) + body + Fixture.littleEndian(length)
  }

  private static let section = block(
    0x0A0D_0D0A, Fixture.littleEndian(UInt32(0x1A2B_3C4D), 1) + Fixture.littleEndian(Int64(-1)))

  @Test("The Packet Block and the Simple Packet Block of pcapng are read, and other blocks are noted")
  func blocks() throws {
    let reset: [UInt8] = [0, 0, 0, 0, 1, 0x03, 0x0C, 0]
    let file =
      Self.section
      // A snap length of 8.
      + Self.block(1, Fixture.littleEndian(UInt16(201), 0) + Fixture.littleEndian(UInt32(8)))
      // Interface 0, three dropped packets.
      + Self.block(
        2, Fixture.littleEndian(UInt16(0), 3) + Fixture.littleEndian(UInt32(0), 1_000, 8, 8) + reset)
      + Self.block(0xBAD, [1, 2, 3, 4]) + Self.block(4, [0, 0, 0, 0])
      // A packet of 11 octets, cut to 8 by the snap length, with padding.
      + Self.block(3, Fixture.littleEndian(UInt32(11)) + [0, 0, 0, 1, 4, 0x0E, 4, 1] + [0, 0, 0, 0])
      + Self.block(6, Fixture.littleEndian(UInt32(0), 0, 2_000, 8, 8) + reset) + Self.block(0xBAD, [])
    let elements = try Fixture.decode(file, piece: 7)
    let dropped = elements.compactMap { if case .dropped(_, let count) = $0 { count } else { nil } }
    #expect(dropped == [3])
    let (packets, notes) = try Fixture.describe(file)
    #expect(packets.map(\.name) == ["Reset", "Command Complete", "Reset"])
    #expect(packets.map(\.number) == [1, 2, 3] && packets.map(\.time) == [1_000_000, 0, 2_000_000])
    #expect(packets.map(\.isMalformed) == [false, true, false])
    #expect(
      notes == [
        "not read: a pcapng block of type 0x00000BAD (2 times)",
        "not read: an HCI packet that the capture program has cut",
      ])
  }

  // MARK: Containers

  /// The file that the fixture below compresses: 40 vendor commands with parameters of different lengths.
  private static var commands: [UInt8] {
    var octets = Array(Fixture.pcap(187, []))
    for index in 0..<40 {
      let packet = [1, 1, 0xFC, UInt8(index)] + (0..<index).map { UInt8(index * $0 & 0x3F) }
      octets += Fixture.littleEndian(UInt32(index), 0, UInt32(packet.count), UInt32(packet.count)) + packet
    }
    return octets
  }

  /// The same, as zlib compresses it, with a name in the header and codes of its own.
  private static let compressed = Array(
    Data(
      base64Encoded: """
        H4sICAAAAAAAA3gucGNhcACFje+uqkYUR7fInxFHGBBwREQERETkcBCRo4jPel+hX/uxr9DHaXI7TfdNb5omxawQ9m+t+Ptvv3yT
        QIYfz/fvAL/CP4+MTCZ/wARvCiJuE5DwqCLiKIE0xauGiOsUpuqP/yGIOMsgE6rgfYaIuwKKbjoqDjoiBhVUavNQw2WOiEUDzXCD
        pCA4UURMBAjjUV73M9wWiNhmMLM36aV7Ex1HAxGjDroT5s2gMn+Oq4mIdQ5zb1/epQVPKoozQ8RMgfK0HogTlb28wN1CxL6AhX9s
        J8Ymv0lmYKBgI0IwwAiKXnXieqR+3ploLBFhmGCGl2Hun3rNO7RTm6HiIEJhwKL6Zyx0XEQ4FljxVXazO1kXT7qt3sxGyUOEZIOd
        dsQvRxa3Ki8GI2qWaK0QYS1hmX3RXaPw82ild31bTz0HNY4IzQEnH1ja06glQS3z8q9vF701IjwX3OLtnMZl/rKPg5U92eFhph6K
        PiJED7xS4pXs12rQkLDVo47GvbFCc4MIcwWrSgmu+r43s5dzlta1Ft5o8uCoBohQOfCaRD3L//1eo7tFhLuGdTNPX94H2T+WpRLe
        2UnatIvszX2UQ0TIPvitkUtBxwo57O1SjR5OReLBq/UN2jtE2BvYdFapxS9+NU7y7uHW82wS3O0LScYA9QgRegBB79Q0l6OBt6wk
        6c/fW/T3iPC3sH2sWqua50r8Dr68K7voR3k/bnq3McsQgxgRQQjh4Pdea9dGqedqKkVj8OCd07CKFiTbYZEgotjBbtwOm8e6X3Vu
        u2ys2qwW5byY5VqmpNM4wiRFRBLB//z22BwQ0exhLyXyQT2Sk36mF+ODfdpX5+bd+Zf/DF7hO4oxyhARxRDLGSloxRqn449gjKRU
        zfXSqO3W6/0hhDjB6oiIKoFEPdEP+8af4STVikW97NbDTjqQs/Hp3P1XNM1SzHJEZCmkpGQtHyI5p7XTB//1fcDuhIjuAAf9w/kK
        p/miWQ179cxu/judVct+Kx3pp/eMlMJsMwwLRIQZZLThY6rX3hCTynlEamn3oVywLpByo/X/3o9YnhFRHuFo3IJpYfU79eI841m9
        Gg/06k9ys9vKZ/sr0ip3SPQ/Ac/d/UNEBgAA
        """, options: .ignoreUnknownCharacters) ?? Data())

  @Test("A gzip file gives the capture that was compressed, in pieces of any length", arguments: [1, 7, Int.max])
  func gzip(piece: Int) throws {
    let plain = Fixture.packets(try Fixture.decode(Self.commands))
    #expect(plain.count == 40)
    let packets = Fixture.packets(try Fixture.decode(Self.compressed, piece: piece))
    #expect(packets.map(\.octets) == plain.map(\.octets) && packets.map(\.time) == plain.map(\.time))
    // Two members, then padding; and a file in a file in a file.
    let half = Self.commands.count / 2
    let members = Fixture.gzip(Array(Self.commands[..<half])) + Fixture.gzip(Array(Self.commands[half...])) + [0, 0, 0]
    #expect(Fixture.packets(try Fixture.decode(members, piece: piece)).map(\.octets) == plain.map(\.octets))
    let nested = Fixture.gzip(Fixture.gzip(Self.compressed))
    #expect(Fixture.packets(try Fixture.decode(nested, piece: piece)).map(\.octets) == plain.map(\.octets))
    let problem = #expect(throws: CaptureProblem.self) { try Fixture.decode(Fixture.gzip(nested)) }
    #expect(problem?.reason == "too many compressed files, one within another")
  }

  @Test("Compressed data that are cut or damaged give an error, never a trap")
  func damagedCompression() throws {
    for length in stride(from: 18, to: Self.compressed.count, by: 31) {
      let problem = #expect(throws: CaptureProblem.self) { try Fixture.decode(Array(Self.compressed[..<length])) }
      #expect(problem?.reason == "the compressed file ends too early")
    }
    var wrong = Self.compressed
    wrong[wrong.count - 8] ^= 1
    let problem = #expect(throws: CaptureProblem.self) { try Fixture.decode(wrong) }
    #expect(problem?.reason == "the compressed data are damaged: wrong CRC")
    var random = RandomStream(seed: 35)
    var failures = 0
    for _ in 0..<2_000 {
      var octets = Self.compressed
      octets[18 + Int(random.next() % UInt64(octets.count - 18))] = UInt8(truncatingIfNeeded: random.next())
      do { _ = try Fixture.decode(octets, inflatedLimit: 1 << 20) } catch { failures += 1 }
    }
    // One octet in 256 is replaced by itself, and the last four are a length that is not needed.
    #expect(failures > 1_900)
  }

  @Test("A small file that would grow beyond the limit is refused")
  func bomb() throws {
    let prefix = Fixture.pcap(187, []) + Fixture.littleEndian(UInt32(0), 0, 5 << 20, 5 << 20)
    var bits: [UInt8] = []
    // The last block, with fixed codes: a zero, and copies of 258 octets at a distance of 1 in 13 bits.
    bits += [1, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0]
    for _ in 0..<20_400 { bits += [1, 1, 0, 0, 0, 1, 0, 1] + [0, 0, 0, 0, 0] }
    bits += [UInt8](repeating: 0, count: 7 + 16)
    let block = stride(from: 0, to: bits.count - 7, by: 8).map { start in
      (0..<8).reduce(UInt8(0)) { $0 | bits[start + $1] << UInt8($1) }
    }
    let file = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + [0] + Fixture.stored(prefix).dropFirst() + block
    #expect(file.count < 40_000)
    let problem = #expect(throws: CaptureProblem.self) { try Fixture.decode(file, inflatedLimit: 1 << 20) }
    #expect(
      problem?.reason
        == "the compressed file has more than 1 MiB of content: decompress it, and read the result")
    // Without the limit, it is a packet of 5 MiB; its gzip trailer is missing.
    let other = #expect(throws: CaptureProblem.self) { try Fixture.decode(file) }
    #expect(other?.reason.hasPrefix("the compressed") == true)
  }

  @Test("The first capture in a zip archive is read, and the others are noted", arguments: [false, true])
  func zip(isStream: Bool) throws {
    let text = Array("a text without packets\n".utf8)
    let second = Fixture.packetLogger(bigEndian: true, [(0, [0x03, 0x0C, 0])])
    let archive = Fixture.zip(
      [("read.me", text), ("empty", []), ("a.pcap", Self.commands), ("b.txt", text), ("c.pklg", second)],
      isStream: isStream)
    for piece in [1, 100, Int.max] {
      let elements = try Fixture.decode(archive, piece: piece)
      #expect(Fixture.packets(elements).count == 40)
      let notes = elements.compactMap { if case .unread(let kind) = $0 { kind } else { nil } }
      #expect(notes == ["the file c.pklg of the archive, which is a capture, too"])
    }
    var decoder = CaptureDecoder()
    decoder.append(archive)
    while try decoder.next() != nil {}
    #expect(decoder.format == .pcap)
    // A bug report of Android, whose text has the section.
    let content = Fixture.btsnooz(version: 2, last: 0, [(0x20, 0, [0x03, 0x0C, 0], nil)])
    let report = Fixture.zip(
      [("version.txt", text), ("bugreport.txt", Fixture.bugReport(content))], isStream: isStream)
    #expect(try Fixture.describe(report).packets.map(\.name) == ["Reset"])
  }

  @Test("An archive without a capture, with an encrypted or a damaged one, is an error")
  func wrongArchives() {
    func reason(_ archive: [UInt8]) -> String? {
      #expect(throws: CaptureProblem.self) { try Fixture.decode(archive) }?.reason
    }
    #expect(reason(Fixture.zip([("read.me", Array("text".utf8))], isStream: false)) == "the archive has no capture")
    #expect(reason(Fixture.zip([], isStream: false).dropFirst(46).map { $0 }) == "the archive has no capture")
    let file = [(name: "a.pcap", octets: Self.commands)]
    #expect(reason(Fixture.zip(file, isStream: false, flags: 1)) == "the archive has no capture")
    var damaged = Fixture.zip(file, isStream: false)
    damaged[36 + 24 + 16 + 8] ^= 1
    #expect(reason(damaged) == "the compressed data are damaged: wrong CRC")
    #expect(reason(Array(Fixture.zip(file, isStream: false)[..<200])) == "the archive ends too early")
  }

  @Test("A damaged file of any format gives the same packets or the same error in pieces of any length")
  func damaged() throws {
    let acl: [UInt8] = [0x40, 0, 7, 0] + Fixture.mtuRequest
    let air = [Fixture.connectInd, Fixture.data(0b10, Fixture.mtuRequest), Fixture.data(0b1011, [0x02, 0x13])]
    let log = Fixture.btsnooz(version: 2, last: 9_000, [(0x20, 1, [0x03, 0x0C, 0], nil), (0x11, 2, acl, nil)])
    let logger = Fixture.packetLogger(bigEndian: true, [(0, [0x03, 0x0C, 0]), (3, acl), (0xFC, [0x61])])
    let files = [
      Fixture.pcap(272, air.enumerated().map { Fixture.nordic(UInt8($0.offset), $0.element, channel: 5, flags: 0x0F) }),
      Fixture.pcap(256, air.map { Fixture.withPseudoHeader($0, channel: 6, direction: 2) }), Fixture.pcap(251, air),
      logger,
      log, Fixture.bugReport(log), Fixture.gzip(logger) + [0, 0, 0, 0, 0], Self.compressed,
      Fixture.zip([("a", [1]), ("b", logger)], isStream: true),
      Fixture.zip([("a", Self.commands), ("b", logger)], isStream: false), Fixture.gzip(Self.compressed),
      Fixture.btsnoop(1003, [(0, [0xC0, 0x80, 0x35, 0, 0x4A, 3, 0x0C, 0, 0xC0])]),
      Fixture.btsnoop(2001, [(2, [0x03, 0x0C, 0]), (1 << 16 | 4, acl)]),
    ]
    func result(_ octets: [UInt8], _ piece: Int) -> [String] {
      // Less than the content of the compressed capture.
      let (elements, problem) = Fixture.elements(octets, piece: piece, inflatedLimit: 900)
      var dissector = Dissector()
      let packets = Fixture.describe(elements, &dissector)
      return packets.map(\.line) + dissector.notes.lines + [problem?.reason ?? "the end"]
    }
    var random = RandomStream(seed: 9)
    var kinds = Set<String>()
    for file in files {
      for _ in 0..<300 {
        var octets = file
        for _ in 0...(random.next() % 3) {
          octets[Int(random.next() % UInt64(octets.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        let whole = result(octets, .max)
        #expect(whole == result(octets, 1 + Int(random.next() % 40)))
        kinds.formUnion(whole)
      }
    }
    #expect(kinds.count > 300)
  }
}
