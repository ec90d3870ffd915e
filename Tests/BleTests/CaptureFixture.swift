import BluetoothDissection
import BluetoothWire
import Foundation

@testable import ble

/// Capture files of other tools, made of their octets.
enum CaptureFixture {
  static func littleEndian<Number: FixedWidthInteger>(_ values: Number...) -> [UInt8] {
    values.flatMap { value in withUnsafeBytes(of: value.littleEndian) { Array($0) } }
  }

  static func bigEndian<Number: FixedWidthInteger>(_ values: Number...) -> [UInt8] {
    values.flatMap { value in withUnsafeBytes(of: value.bigEndian) { Array($0) } }
  }

  /// A pcap file whose packets are 10 ms after each other, from 1 s on.
  static func pcap(_ linkType: UInt32, _ packets: [[UInt8]]) -> [UInt8] {
    var octets =
      littleEndian(UInt32(0xA1B2_C3D4)) + littleEndian(UInt16(2), 4)
      + littleEndian(UInt32(0), 0, 65_535, linkType)
    for (index, packet) in packets.enumerated() {
      octets += littleEndian(UInt32(1), UInt32(index) * 10_000, UInt32(packet.count), UInt32(packet.count)) + packet
    }
    return octets
  }

  /// A btsnoop file whose packets are 1 ms after each other, from 1970 on.
  static func btsnoop(_ datalink: UInt32, _ packets: [(flags: UInt32, octets: [UInt8])]) -> [UInt8] {
    var octets = Array("btsnoop\0".utf8) + bigEndian(UInt32(1), datalink)
    for (index, packet) in packets.enumerated() {
      let length = UInt32(packet.octets.count)
      octets +=
        bigEndian(length, length, packet.flags, 0) + bigEndian(0x00DC_DDB3_0F2F_8000 + Int64(index) * 1_000)
        + packet.octets
    }
    return octets
  }

  /// A file of PacketLogger whose records are 1 s after each other.
  static func packetLogger(bigEndian isBigEndian: Bool, _ records: [(type: UInt8, octets: [UInt8])]) -> [UInt8] {
    records.enumerated().flatMap { index, record in
      let numbers = [UInt32(9 + record.octets.count), UInt32(index + 1), 500_000]
      return numbers.flatMap { isBigEndian ? bigEndian($0) : littleEndian($0) } + [record.type] + record.octets
    }
  }

  // MARK: Packets on the air

  static let advertiser: [UInt8] = [0x02, 0, 0, 0, 0, 0xC0]
  static let initiator: [UInt8] = [0x01, 0, 0, 0, 0, 0xC2]
  static let accessAddress: UInt32 = 0x9A32_8370

  /// A packet with an access address and a CRC.
  static func packet(_ address: UInt32, _ header: UInt8, _ payload: [UInt8], length: Int? = nil) -> [UInt8] {
    littleEndian(address) + [header, UInt8(length ?? payload.count)] + payload + [1, 2, 3]
  }

  /// CONNECT_IND with an interval of 30 ms and a supervision timeout of 1 s.
  static let connectInd: [UInt8] = {
    let parameters: [UInt8] = [0x56, 0x34, 0x12, 1, 1, 0, 24, 0, 0, 0, 100, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 7]
    return packet(
      LL.advertisingAccessAddress, 0xC5, initiator + advertiser + littleEndian(accessAddress) + parameters)
  }()

  /// A data PDU; `header` has the LLID in bits 0 and 1, NESN in bit 2 and SN in bit 3.
  static func data(_ header: UInt8, _ payload: [UInt8], length: Int? = nil) -> [UInt8] {
    packet(accessAddress, header, payload, length: length)
  }

  /// An L2CAP frame on the channel of the Attribute Protocol.
  static func att(_ octets: [UInt8]) -> [UInt8] { [UInt8(octets.count), 0, 4, 0] + octets }

  /// ATT_EXCHANGE_MTU_REQ with an MTU of 247.
  static let mtuRequest = att([0x02, 0xF7, 0])

  /// A packet of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR at −50 dBm with a CRC that is right.
  static func withPseudoHeader(_ packet: [UInt8], channel: UInt8, direction: UInt16 = 0, flags: UInt16 = 0) -> [UInt8] {
    [channel, 0xCE, 0, 0, 0, 0, 0, 0] + littleEndian(0x0C03 | direction << 7 | flags) + packet
  }

  /// A packet of the nRF Sniffer with a protocol version, at −50 dBm.
  static func nordic(
    _ version: UInt8, _ packet: [UInt8], channel: UInt8, flags: UInt8, id: UInt8 = 6
  ) -> [UInt8] {
    let reception = [flags, channel, 50, 7, 0] + littleEndian(UInt32(1_000))
    let length = reception.count + packet.count
    return switch version {
    case 0: [0xBE, 0xEF, id, 9, 0, 0, 0, UInt8(length)] + reception + packet
    case 1: [3, 6, UInt8(length + 1), 1, 9, 0, id, 10] + reception + packet
    default: [3] + littleEndian(UInt16(length + 1)) + [version, 9, 0, id, 10] + reception + packet
    }
  }

  // MARK: Containers

  /// DEFLATE without compression.
  static func stored(_ octets: [UInt8]) -> [UInt8] {
    [1] + littleEndian(UInt16(octets.count), ~UInt16(octets.count)) + octets
  }

  static func crc(_ octets: [UInt8]) -> UInt32 {
    var register = UInt32.max
    for octet in octets {
      register ^= UInt32(octet)
      for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0xEDB8_8320 }
    }
    return ~register
  }

  static func gzip(_ octets: [UInt8]) -> [UInt8] {
    let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
    return header + stored(octets) + littleEndian(crc(octets), UInt32(octets.count))
  }

  /// A zip archive. Files are deflated, and have their sizes after the data, if `isStream` is true.
  static func zip(_ files: [(name: String, octets: [UInt8])], isStream: Bool, flags: UInt16 = 0) -> [UInt8] {
    var archive: [UInt8] = []
    for (name, octets) in files {
      let content = isStream ? stored(octets) : octets
      let sizes = [crc(octets), UInt32(content.count), UInt32(octets.count)]
      archive += Array("PK\u{3}\u{4}".utf8)
      archive += littleEndian(UInt16(20), flags | (isStream ? 8 : 0), isStream ? 8 : 0, 0, 0)
      for size in sizes { archive += littleEndian(isStream ? 0 : size) }
      archive += littleEndian(UInt16(name.utf8.count), 0)
      archive += Array(name.utf8) + content
      guard isStream else { continue }
      archive += Array("PK\u{7}\u{8}".utf8)
      for size in sizes { archive += littleEndian(size) }
    }
    // The directory is not read; its end has 22 octets.
    archive += Array("PK\u{1}\u{2}".utf8) + [UInt8](repeating: 0, count: 42)
    archive += Array("PK\u{5}\u{6}".utf8) + [UInt8](repeating: 0, count: 18)
    return archive
  }

  /// The section of a bug report with records of btsnooz; each has its type and the time since the one before.
  static func btsnooz(
    version: UInt8, last: UInt64, _ records: [(type: UInt8, delta: UInt32, octets: [UInt8], original: Int?)]
  ) -> [UInt8] {
    var content: [UInt8] = []
    for record in records {
      content += littleEndian(UInt16(record.octets.count + 1))
      if version == 2 { content += littleEndian(UInt16((record.original ?? record.octets.count) + 1)) }
      content += littleEndian(record.delta) + [record.type] + record.octets
    }
    return [version] + littleEndian(last) + [0x78, 0x01] + stored(content) + [0, 0, 0, 0]
  }

  static func bugReport(_ content: [UInt8]) -> [UInt8] {
    let digits = Data(content).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return Array(
      ("== dumpstate: 2024-01-01\n\nBluetooth Status\n--- BEGIN:BTSNOOP_LOG_SUMMARY (99 bytes in) ---\n\(digits)\n"
        + "--- END:BTSNOOP_LOG_SUMMARY ---\nand the rest\n").utf8)
  }

  // MARK: Reading

  /// Decodes a file that arrives in pieces of this length, up to the first problem.
  static func elements(
    _ octets: [UInt8], piece: Int = .max, inflatedLimit: Int = CaptureDecoder.maximumInflatedLength
  ) -> (elements: [CaptureElement], problem: CaptureProblem?) {
    var decoder = CaptureDecoder(inflatedLimit: inflatedLimit)
    var elements: [CaptureElement] = []
    var rest = octets[...]
    do throws(CaptureProblem) {
      while true {
        while let element = try decoder.next() { elements.append(element) }
        if rest.isEmpty { break }
        decoder.append(rest.prefix(piece))
        rest = rest.dropFirst(piece)
      }
      try decoder.finish()
    } catch {
      return (elements, error)
    }
    return (elements, nil)
  }

  /// Decodes a file that arrives in pieces of this length.
  static func decode(
    _ octets: [UInt8], piece: Int = .max, inflatedLimit: Int = CaptureDecoder.maximumInflatedLength
  ) throws -> [CaptureElement] {
    let (elements, problem) = elements(octets, piece: piece, inflatedLimit: inflatedLimit)
    if let problem { throw problem }
    return elements
  }

  static func packets(_ elements: [CaptureElement]) -> [CapturedPacket] {
    elements.compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
  }

  /// The packets among the elements in words. The dissector gets the notes.
  static func describe(_ elements: [CaptureElement], _ dissector: inout Dissector) -> [PacketDescription] {
    var packets: [PacketDescription] = []
    for element in elements {
      switch element {
      case .packet(let packet): packets.append(dissector.describe(packet))
      case .unread(let kind): dissector.add(unread: kind)
      case .interface, .dropped: break
      }
    }
    return packets
  }

  /// The packets of a file in words, and the notes about it.
  static func describe(_ octets: [UInt8], piece: Int = .max) throws -> (packets: [PacketDescription], notes: [String]) {
    var dissector = Dissector()
    let packets = describe(try decode(octets, piece: piece), &dissector)
    return (packets, dissector.notes.lines)
  }
}
