import BluetoothWire

/// The header of a packet of the nRF Sniffer for Bluetooth LE: the board, the protocol version, a packet counter, and
/// ten octets about the reception.
package struct NordicSnifferHeader {
  /// The last protocol version that is read.
  package static let lastVersion: UInt8 = 4

  /// The bits of the flags.
  package enum Flag {
    package static let crcValid: UInt8 = 1 << 0
    package static let toPeripheral: UInt8 = 1 << 1
    package static let encrypted: UInt8 = 1 << 2
    package static let micValid: UInt8 = 1 << 3
    package static let phyShift: UInt8 = 4
  }

  /// The messages that have a packet.
  package enum ID {
    package static let advertising: UInt8 = 0x02
    package static let data: UInt8 = 0x06
  }

  /// The first two octets of version 0, which has no board.
  private static let legacyMarker: [UInt8] = [0xBE, 0xEF]
  /// The octets before the reception's: in version 0 with the marker, in others with the board.
  private static let legacyLength = 8
  private static let length = 7
  /// The flags, the channel, the level, the event counter and the time.
  private static let receptionLength = 9

  let version: UInt8
  let id: UInt8
  let flags: UInt8
  let channel: UInt8
  /// The received level in dBm.
  let level: Int
  /// The offset of the packet's access address.
  let packetStart: Int
  /// The number of octets of the packet, as the header tells it.
  let packetLength: Int

  /// Decodes the header; nil: it is too short.
  init?(_ octets: [UInt8]) {
    let isLegacy = octets.starts(with: Self.legacyMarker)
    guard octets.count >= Self.legacyLength else { return nil }
    version = isLegacy ? 0 : octets[3]
    id = octets[isLegacy ? 2 : 6]
    let payloadLength: Int
    let start: Int
    switch version {
    case 0 where isLegacy:
      payloadLength = Int(octets[7])
      start = Self.legacyLength
    case 0...1:
      // The length of the header is in its first octet, after the board.
      payloadLength = Int(octets[2]) - 1
      start = 1 + Int(octets[1]) + 1
    default:
      payloadLength = (Int(octets[1]) | Int(octets[2]) << 8) - 1
      start = Self.length + 1
    }
    // From version 1 on, the octets about the reception begin with their number.
    let receptionLength = isLegacy ? Self.receptionLength : Int(octets[min(start, octets.count) - 1]) - 1
    guard receptionLength >= Self.receptionLength, octets.count >= start + Self.receptionLength else { return nil }
    flags = octets[start]
    channel = octets[start + 1]
    level = -Int(octets[start + 2])
    packetStart = start + receptionLength
    packetLength = payloadLength - receptionLength
  }

  /// True if the message has a packet.
  var hasPacket: Bool { id == ID.data || id == ID.advertising }

  /// Returns the header of protocol version 3 before a packet of `length` octets. The board and the event counter, which
  /// other captures do not tell, are 0.
  ///
  /// - Parameters:
  ///   - number: the packet counter.
  ///   - microseconds: the time of the packet by the clock of the sniffer.
  package static func octets(
    number: UInt16, isAdvertising: Bool, flags: UInt8, channel: UInt8, level: Int, microseconds: UInt32, length: Int
  ) -> [UInt8] {
    func octets(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
    let payload = octets(UInt16(truncatingIfNeeded: 1 + receptionLength + length))
    let identifier = [isAdvertising ? ID.advertising : ID.data]
    let front = [0] + payload + [3] + octets(number) + identifier
    let reception = [UInt8(1 + receptionLength), flags, channel, UInt8(clamping: -level), 0, 0]
    return front + reception + octets(microseconds)
  }
}
