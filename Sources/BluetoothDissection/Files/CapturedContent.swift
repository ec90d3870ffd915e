import BluetoothWire

/// A captured packet without the pseudo-headers of its file.
package enum CapturedContent {
  /// A packet on the air.
  case air(CapturedAirPacket)
  /// An HCI packet in H4 form; the direction is nil if the file does not tell it.
  case hci(ByteSlice, isFromHost: Bool?)
  /// A message of the capture program, such as the name of an adapter. `text` is nil if it is no text.
  case message(name: String, text: ByteSlice?)
  /// A packet that is not read, with the kind of it in words.
  case unsupported(String)

  /// Returns the packet indicator for the flags of a btsnoop record.
  package static func indicator(_ flags: UInt32) -> UInt8 { flags & 2 == 0 ? 0x02 : flags & 1 == 0 ? 0x01 : 0x04 }

  package init(_ packet: CapturedPacket) {
    let octets = packet.octets
    let flags = packet.flags ?? 0
    let isFromHost = flags & 1 == 0
    switch packet.interface.link {
    case .hciH4WithDirection:
      guard octets.count > 4 else {
        self = Self.short
        return
      }
      self = .hci(ByteSlice(octets.dropFirst(4)), isFromHost: octets[3] & 1 == 0)
    case .hciH4:
      let isFromHost: Bool? =
        switch octets.first {
        case 0x01: true
        case 0x04: false
        default: nil
        }
      self = .hci(ByteSlice(octets), isFromHost: isFromHost)
    case .btsnoopH4: self = .hci(ByteSlice(octets), isFromHost: isFromHost)
    case .btsnoopUnencapsulated: self = .hci(ByteSlice([Self.indicator(flags)] + octets), isFromHost: isFromHost)
    case .btsnoopBCSP: self = Self.framed(octets, isBCSP: true, isFromHost: isFromHost)
    case .btsnoopThreeWire: self = Self.framed(octets, isBCSP: false, isFromHost: isFromHost)
    case .linuxMonitor:
      guard octets.count >= 4 else {
        self = Self.short
        return
      }
      self = Self.monitor(UInt16(octets[2]) << 8 | UInt16(octets[3]), octets.dropFirst(4))
    case .btsnoopMonitor: self = Self.monitor(UInt16(truncatingIfNeeded: flags), octets[...])
    case .packetLogger: self = Self.packetLogger(octets)
    case .linkLayerWithHeader:
      self = CapturedAirPacket(withHeader: octets, isCut: packet.isCut).map { .air($0) } ?? Self.short
    case .linkLayer: self = CapturedAirPacket(octets[...], isCut: packet.isCut).map { .air($0) } ?? Self.short
    case .nordicSniffer: self = Self.nordic(octets, isCut: packet.isCut)
    case .other, .otherDatalink: self = .unsupported("a packet of \(packet.interface.link.text)")
    }
  }

  private static let short = unsupported("a packet that is shorter than its header")

  /// Returns the content of a message of the Linux monitor channel, by its opcode.
  private static func monitor(_ opcode: UInt16, _ octets: ArraySlice<UInt8>) -> CapturedContent {
    func text(_ name: String) -> CapturedContent { .message(name: name, text: ByteSlice(octets)) }
    func message(_ name: String) -> CapturedContent { .message(name: name, text: nil) }
    return switch opcode {
    case 0: message("New Index")
    case 1: message("Delete Index")
    case 2: .hci(ByteSlice([0x01] + octets), isFromHost: true)
    case 3: .hci(ByteSlice([0x04] + octets), isFromHost: false)
    case 4: .hci(ByteSlice([0x02] + octets), isFromHost: true)
    case 5: .hci(ByteSlice([0x02] + octets), isFromHost: false)
    case 6: .hci(ByteSlice([0x03] + octets), isFromHost: true)
    case 7: .hci(ByteSlice([0x03] + octets), isFromHost: false)
    case 8: message("Open Index")
    case 9: message("Close Index")
    case 10: message("Index Information")
    case 11: message("Vendor Diagnostics")
    case 12: text("System Note")
    case 13: .message(name: "User Logging", text: ByteSlice(octets.dropFirst(2)))
    case 14: message("Control Open")
    case 15: message("Control Close")
    case 16: message("Control Command")
    case 17: message("Control Event")
    case 18: .hci(ByteSlice([0x05] + octets), isFromHost: true)
    case 19: .hci(ByteSlice([0x05] + octets), isFromHost: false)
    default: .unsupported("a message of the Linux monitor channel with opcode \(opcode)")
    }
  }

  /// Returns the content of a record of PacketLogger, by its type.
  private static func packetLogger(_ octets: [UInt8]) -> CapturedContent {
    guard let octet = octets.first else { return .unsupported("an empty record of PacketLogger") }
    guard let type = PacketLoggerType(rawValue: octet) else {
      return .unsupported("a record of PacketLogger with type 0x\(octet.hexadecimal)")
    }
    let data = octets.dropFirst()
    func text(_ name: String) -> CapturedContent { .message(name: name, text: ByteSlice(data)) }
    return switch type {
    case .command: .hci(ByteSlice([0x01] + data), isFromHost: true)
    case .event: .hci(ByteSlice([0x04] + data), isFromHost: false)
    case .sentACL: .hci(ByteSlice([0x02] + data), isFromHost: true)
    case .receivedACL: .hci(ByteSlice([0x02] + data), isFromHost: false)
    case .sentSCO: .hci(ByteSlice([0x03] + data), isFromHost: true)
    case .receivedSCO: .hci(ByteSlice([0x03] + data), isFromHost: false)
    case .sentLMP, .receivedLMP: .message(name: "LMP PDU", text: nil)
    case .systemLog: text("System Log")
    case .kernel: text("Kernel Log")
    case .kernelDebug: text("Kernel Debug Log")
    case .error: text("Error")
    case .power: text("Power")
    case .note: text("Note")
    case .config: text("Configuration")
    case .newController: text("New Controller")
    }
  }

  /// Returns the content of a frame of BCSP, or of the three-wire UART · Vol 4, Part D. Both have the same header of four
  /// octets. The frame may be in SLIP, and may end with a checksum.
  private static func framed(_ octets: [UInt8], isBCSP: Bool, isFromHost: Bool) -> CapturedContent {
    let octets = octets.first == 0xC0 ? slipContent(octets) : octets
    let name = isBCSP ? "BCSP" : "three-wire UART"
    guard octets.count >= 4 else { return short }
    let length = Int(octets[1] >> 4) | Int(octets[2]) << 4
    guard octets[..<4].reduce(0, &+) == 0xFF, octets.count >= 4 + length else {
      return .unsupported("a damaged frame of \(name)")
    }
    let type = octets[1] & 0x0F
    let indicator: UInt8? =
      switch (type, isBCSP) {
      case (5, true): isFromHost ? 0x01 : 0x04
      case (6, true): 0x02
      case (7, true): 0x03
      case (1...5, false): type
      default: nil
      }
    guard let indicator else { return .message(name: "\(name) frame", text: nil) }
    return .hci(ByteSlice([indicator] + octets[4..<4 + length]), isFromHost: isFromHost)
  }

  /// Returns the octets between the delimiters of a SLIP frame, without escapes · RFC 1055.
  private static func slipContent(_ octets: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var isEscaped = false
    for octet in octets where octet != 0xC0 {
      if isEscaped {
        result.append(octet == 0xDC ? 0xC0 : octet == 0xDD ? 0xDB : octet)
      } else if octet != 0xDB {
        result.append(octet)
      }
      isEscaped = !isEscaped && octet == 0xDB
    }
    return result
  }

  /// Returns the packet after a header of the nRF Sniffer.
  private static func nordic(_ octets: [UInt8], isCut: Bool) -> CapturedContent {
    guard let header = NordicSnifferHeader(octets) else { return short }
    guard header.version <= NordicSnifferHeader.lastVersion else {
      return .unsupported("a packet of the nRF Sniffer with version \(header.version)")
    }
    guard header.hasPacket else {
      return .unsupported("a message of the nRF Sniffer with ID 0x\(header.id.hexadecimal)")
    }
    guard isCut || header.packetStart + header.packetLength == octets.count else {
      return .unsupported("a packet of the nRF Sniffer with a wrong length")
    }
    return CapturedAirPacket(header, octets, isCut: isCut).map { .air($0) } ?? short
  }
}

/// A packet on the air as a capture shows it.
package struct CapturedAirPacket {
  /// The direction of a packet, as far as the capture tells it.
  package enum Direction { case toPeripheral, toCentral }

  package var accessAddress: UInt32
  /// The two octets of the PDU's header, the first in the low byte.
  package var header: UInt16
  package var payload: ByteSlice
  package var crc: UInt32
  /// The channel index, 0 to 39; nil: not captured.
  package var channel: UInt8?
  package var phy: RadioPHY?
  /// True if the packet was coded with S=2.
  package var isCodedS2 = false
  /// The level in the pseudo-header, in dBm; nil: not captured. A sniffer writes the received level, a world the
  /// transmit power.
  package var power: Int?
  package var direction: Direction?
  /// True if the packet belongs to an advertising physical channel or a periodic train.
  package var isAdvertising: Bool
  /// True if the packet was sent encrypted, and is shown decrypted.
  package var isDecrypted = false
  /// True if the packet was sent encrypted, and the capture program has not decrypted it.
  package var isEncrypted = false
  /// True if the capture program has checked the CRC.
  package var isChecked = false
  /// True if the capture program has found a wrong CRC.
  package var hasWrongCRC = false
  /// The number of octets that were captured between header and CRC. In an intact packet, `header` tells the same
  /// Length · Vol 6, Part B, 2.4; in others, `payload` is empty.
  package var capturedLength: Int
  /// The octets from the access address on.
  package let octets: ArraySlice<UInt8>

  /// Decodes access address, PDU and CRC; nil: they are too short for a header.
  ///
  /// - Parameters:
  ///   - codingIndicator: true if an octet with the Coding Indicator precedes the header.
  ///   - isCut: true if the end of the packet is missing. The PDU may be complete without the CRC.
  package init?(_ octets: ArraySlice<UInt8>, codingIndicator: Bool = false, isCut: Bool = false) {
    self.octets = octets
    let octets = Array(octets)
    var start = (codingIndicator ? 5 : 4) + 2
    guard octets.count >= start + (isCut ? 0 : 3) else { return nil }
    accessAddress = octets[..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    header = UInt16(octets[start - 2]) | UInt16(octets[start - 1]) << 8
    isAdvertising = accessAddress == LL.advertisingAccessAddress
    // The CTEInfo field of a data PDU follows its header.
    if !isAdvertising, header & Self.cteInfoPresent != 0 { start += 1 }
    let length = Int(header >> 8)
    let end = start + length
    if octets.count == end + 3 || isCut && octets.count >= end {
      payload = ByteSlice(octets[start..<end])
      crc = octets[end...].prefix(3).reversed().reduce(0) { $0 << 8 | UInt32($1) }
      capturedLength = length
    } else {
      (payload, crc) = (ByteSlice(), 0)
      capturedLength = max(0, octets.count - start - (isCut ? 0 : 3))
    }
  }

  /// The CP bit · Vol 6, Part B, 2.4.
  private static let cteInfoPresent: UInt16 = 1 << 5

  /// The Length field of the header.
  package var length: Int { Int(header >> 8) }
  /// True if the captured octets are as many as the Length field tells.
  package var isIntact: Bool { capturedLength == length }

  /// Decodes the pseudo-header of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR and the packet; nil: they are too short.
  package init?(withHeader octets: [UInt8], isCut: Bool = false) {
    guard octets.count >= 10 else { return nil }
    let flags = UInt16(octets[8]) | UInt16(octets[9]) << 8
    let phy = RadioPHY(rawValue: UInt8(flags >> 14) + 1)
    self.init(octets.dropFirst(10), codingIndicator: phy == .leCoded, isCut: isCut)
    self.phy = phy
    isCodedS2 = phy == .leCoded && octets.count > 14 && octets[14] & 0b11 == 1
    channel = octets[0] < 40 ? ChannelIndex(RadioChannel(octets[0])).number : nil
    if flags & 0x0002 != 0 { power = Int(Int8(bitPattern: octets[1])) }
    // The bits of the MIC have another meaning in auxiliary advertising packets.
    let hasWrongMIC = flags & 0x3000 == 0x1000
    isDecrypted = flags & 0x0008 != 0 && !hasWrongMIC
    isEncrypted = flags & 0x0008 != 0 && hasWrongMIC
    isChecked = flags & 0x0400 != 0
    hasWrongCRC = flags & 0x0C00 == 0x0400
    switch flags >> 7 & 0b111 {
    case 1: (isAdvertising, isEncrypted) = (true, false)
    case 2: direction = .toPeripheral
    case 3: direction = .toCentral
    default: break
    }
  }

  /// Decodes the packet after a header of the nRF Sniffer; nil: it is too short.
  init?(_ sniffer: NordicSnifferHeader, _ octets: [UInt8], isCut: Bool) {
    guard octets.count >= sniffer.packetStart else { return nil }
    let packet = octets[sniffer.packetStart...]
    let phy = RadioPHY(rawValue: sniffer.flags >> NordicSnifferHeader.Flag.phyShift & 0b111 + 1)
    self.init(packet, codingIndicator: phy == .leCoded, isCut: isCut)
    self.phy = phy
    isCodedS2 = phy == .leCoded && packet.count > 4 && packet[packet.startIndex + 4] & 0b11 == 1
    channel = sniffer.channel < 40 ? sniffer.channel : nil
    power = sniffer.level
    isChecked = true
    hasWrongCRC = sniffer.flags & NordicSnifferHeader.Flag.crcValid == 0
    // Before version 3, one message has packets of both kinds.
    if sniffer.version >= 3 { isAdvertising = sniffer.id == NordicSnifferHeader.ID.advertising }
    guard !isAdvertising else { return }
    direction = sniffer.flags & NordicSnifferHeader.Flag.toPeripheral != 0 ? .toPeripheral : .toCentral
    if sniffer.flags & NordicSnifferHeader.Flag.encrypted != 0 {
      isDecrypted = sniffer.flags & NordicSnifferHeader.Flag.micValid != 0
      isEncrypted = !isDecrypted
    }
  }

  /// The modulation; LE 1M if the PHY was not captured.
  package var modulation: Modulation {
    switch phy {
    case .le1M?, nil: .le1M
    case .le2M?: .le2M
    case .leCoded?: isCodedS2 ? .codedS2 : .codedS8
    }
  }
}
