/// The link layer · Vol 6, Part B.
package enum LL {
  /// The access address of every advertising physical channel packet · 2.1.2.
  package static let advertisingAccessAddress: UInt32 = 0x8E89_BED6
  /// The CRCInit of every advertising physical channel packet · 3.1.1.
  package static let advertisingCRCInit: UInt32 = 0x555555
  /// T_IFS, the time from the end of a packet to the start of the response · 4.1.1.
  package static let interFrameSpace = TimeSpan.microseconds(150)
  /// T_MAFS, the minimum time from the end of a packet to the start of the packet to which its AuxPtr points · 4.1.2.
  package static let minimumAuxiliaryFrameSpace = TimeSpan.microseconds(300)
}

/// An LE PHY · Vol 6, Part A. A receiver receives on one PHY at a time. The raw values are those of HCI.
package enum PHY: UInt8, Hashable, Sendable {
  case le1M = 1
  case le2M = 2
  case leCoded = 3

  /// The name of the PHY.
  package var words: String {
    switch self {
    case .le1M: "LE 1M"
    case .le2M: "LE 2M"
    case .leCoded: "LE Coded"
    }
  }

  /// Returns the name of the PHY with this number.
  package static func words(of number: UInt8) -> String { PHY(rawValue: number)?.words ?? "PHY \(number)" }
}

/// The PHY, and on LE Coded the coding scheme · Vol 6, Part B, 2.2, 3.3.
///
/// A receiver on LE Coded receives both coding schemes: the Coding Indicator of each packet specifies which one is
/// used.
package enum Modulation: UInt8, Hashable, Sendable, CaseIterable {
  case le1M
  case le2M
  /// 125 kbit/s.
  case codedS8
  /// 500 kbit/s. The access address and the Coding Indicator are nevertheless coded with S=8.
  case codedS2

  package var phy: PHY {
    switch self {
    case .le1M: .le1M
    case .le2M: .le2M
    case .codedS8, .codedS2: .leCoded
    }
  }

  /// Returns the duration of a packet on the air, from the start of its preamble to the end of its last bit.
  ///
  /// - Parameter payloadOctets: the length of the PDU without its header of two octets, including the MIC if present.
  package func airTime(payloadOctets: Int) -> TimeSpan {
    // 2 octets of header, 3 of CRC.
    let octets = Int64(2 + payloadOctets + 3)
    switch self {
    // Preamble 1 octet, access address 4, 8 µs per octet.
    case .le1M: return .microseconds(8 * (1 + 4 + octets))
    // Preamble 2 octets, access address 4, 4 µs per octet.
    case .le2M: return .microseconds(4 * (2 + 4 + octets))
    case .codedS8: return Self.codedHeader + .microseconds(64 * octets + 24)
    case .codedS2: return Self.codedHeader + .microseconds(16 * octets + 6)
    }
  }

  /// The duration of the preamble, 80 µs, and of the first FEC block: access address 256 µs, CI 16 µs, TERM1 24 µs.
  /// TERM2 ends the second block.
  package static let codedHeader = TimeSpan.microseconds(80 + 256 + 16 + 24)
}

/// One of the 40 radio frequency channels: 2402 + 2 k MHz · Vol 6, Part A, 2.
@usableFromInline package struct RadioChannel: Hashable, Sendable {
  /// The channel number k, 0 to 39.
  @usableFromInline package let number: UInt8

  /// Creates a channel. Traps if `number` is outside 0…39.
  package init(_ number: UInt8) {
    precondition(number < 40, "radio channel \(number) does not exist")
    self.number = number
  }

  @inlinable package var megahertz: Int { 2402 + 2 * Int(number) }
}

/// A link layer packet: the part that follows the preamble, before whitening · Vol 6, Part B, 2.1.
///
/// The CRC is not stored: it is computed from the PDU and `crcInit` when a capture needs it.
package struct AirPacket: Hashable, Sendable {
  package var accessAddress: UInt32
  /// The initial value of the CRC, 24 bits · 3.1.1.
  package var crcInit: UInt32
  /// The first two octets of the PDU, the first in the low byte. The second is the length of the payload.
  package var header: UInt16
  /// True for a packet of an advertising or periodic physical channel, false for a packet of a connection. It is not
  /// transmitted: only fault injection and captures use it.
  package var isAdvertising: Bool
  package var payload: ByteSlice
  /// The payload before encryption; nil if `payload` is not encrypted. It is not transmitted: only fault injection and
  /// captures use it.
  package var plainPayload: ByteSlice?

  package init(accessAddress: UInt32, crcInit: UInt32, header: UInt16, payload: ByteSlice) {
    self.accessAddress = accessAddress
    self.crcInit = crcInit
    self.header = header
    self.payload = payload
    isAdvertising = accessAddress == LL.advertisingAccessAddress
  }

  /// Returns the duration of the packet on the air, from the start of its preamble · 2.1, 2.2.
  package func airTime(_ modulation: Modulation) -> TimeSpan { modulation.airTime(payloadOctets: payload.count) }
}
