import BluetoothWire

/// A captured packet without the pseudo-headers of its file.
package enum CapturedContent {
  /// A packet on the air.
  case air(CapturedAirPacket)
  /// An HCI packet in H4 form; the direction is nil if the file does not tell it.
  case hci(ByteSlice, isFromHost: Bool?)
  /// A message of the Linux monitor channel that is no HCI packet.
  case monitor(opcode: UInt16, ByteSlice)
  /// A packet whose interface has a link type that is not supported, or whose pseudo-header is incomplete.
  case unsupported

  /// Returns the packet indicator for the flags of a btsnoop record.
  package static func indicator(_ flags: UInt32) -> UInt8 { flags & 2 == 0 ? 0x02 : flags & 1 == 0 ? 0x01 : 0x04 }

  package init(_ packet: CapturedPacket) {
    let octets = packet.octets
    let flags = packet.flags ?? 0
    switch packet.interface.link {
    case .hciH4WithDirection:
      guard octets.count > 4 else {
        self = .unsupported
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
    case .btsnoopH4: self = .hci(ByteSlice(octets), isFromHost: flags & 1 == 0)
    case .btsnoopUnencapsulated:
      self = .hci(ByteSlice([Self.indicator(flags)] + octets), isFromHost: flags & 1 == 0)
    case .linuxMonitor:
      guard octets.count >= 4 else {
        self = .unsupported
        return
      }
      self = Self.monitor(UInt16(octets[2]) << 8 | UInt16(octets[3]), octets.dropFirst(4))
    case .btsnoopMonitor: self = Self.monitor(UInt16(truncatingIfNeeded: flags), octets[...])
    case .linkLayerWithHeader: self = CapturedAirPacket(withHeader: octets).map { .air($0) } ?? .unsupported
    case .linkLayer: self = CapturedAirPacket(octets[...]).map { .air($0) } ?? .unsupported
    case .other: self = .unsupported
    }
  }

  /// Returns the content of a message of the Linux monitor channel, by its opcode.
  private static func monitor(_ opcode: UInt16, _ octets: ArraySlice<UInt8>) -> CapturedContent {
    switch opcode {
    case 2: .hci(ByteSlice([0x01] + octets), isFromHost: true)
    case 3: .hci(ByteSlice([0x04] + octets), isFromHost: false)
    case 4: .hci(ByteSlice([0x02] + octets), isFromHost: true)
    case 5: .hci(ByteSlice([0x02] + octets), isFromHost: false)
    default: .monitor(opcode: opcode, ByteSlice(octets))
    }
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
  package var phy: PHY?
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
  /// True if the capture program has found a wrong CRC.
  package var hasWrongCRC = false

  /// Decodes access address, PDU and CRC; nil: they are too short.
  package init?(_ octets: ArraySlice<UInt8>, codingIndicator: Bool = false) {
    let front = codingIndicator ? 5 : 4
    let octets = Array(octets)
    guard octets.count >= front + 2 + 3 else { return nil }
    accessAddress = octets[..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    header = UInt16(octets[front]) | UInt16(octets[front + 1]) << 8
    payload = ByteSlice(octets[(front + 2)..<(octets.count - 3)])
    crc = octets.suffix(3).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    isAdvertising = accessAddress == LL.advertisingAccessAddress
  }

  /// Decodes the pseudo-header of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR and the packet; nil: they are too short.
  package init?(withHeader octets: [UInt8]) {
    guard octets.count >= 10 else { return nil }
    let flags = UInt16(octets[8]) | UInt16(octets[9]) << 8
    let phy = PHY(rawValue: UInt8(flags >> 14) + 1)
    self.init(octets.dropFirst(10), codingIndicator: phy == .leCoded)
    self.phy = phy
    isCodedS2 = phy == .leCoded && octets.count > 14 && octets[14] & 0b11 == 1
    channel = octets[0] < 40 ? ChannelIndex(RadioChannel(octets[0])).number : nil
    if flags & 0x0002 != 0 { power = Int(Int8(bitPattern: octets[1])) }
    isDecrypted = flags & 0x0008 != 0
    hasWrongCRC = flags & 0x0C00 == 0x0400
    switch flags >> 7 & 0b111 {
    case 1: isAdvertising = true
    case 2: direction = .toPeripheral
    case 3: direction = .toCentral
    default: break
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
