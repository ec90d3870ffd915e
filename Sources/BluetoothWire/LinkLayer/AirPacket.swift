/// The link layer · Vol 6, Part B.
package enum LL {
  /// The access address of every advertising physical channel packet · 2.1.2.
  package static let advertisingAccessAddress: UInt32 = 0x8E89_BED6
  /// CRCInit of every advertising physical channel packet · 3.1.1.
  package static let advertisingCRCInit: UInt32 = 0x555555
  /// The time from the end of a packet to the start of its answer · 4.1.1.
  package static let interFrameSpace = TimeSpan.microseconds(150)
  /// The least time from the end of a packet to the start of the one that its AuxPtr points to · 4.1.2.
  package static let minimumAuxiliaryFrameSpace = TimeSpan.microseconds(300)
}

/// A physical layer, which is what a receiver is set to · Vol 6, Part A. Raw values are those of HCI.
package enum PHY: UInt8, Hashable, Sendable {
  case le1M = 1
  case le2M = 2
  case leCoded = 3
}

/// How bits are sent: the PHY, and on LE Coded the coding scheme · Vol 6, Part B, 2.2, 3.3.
///
/// A receiver on LE Coded hears both codings: the Coding Indicator of each packet tells which it is.
package enum Modulation: UInt8, Hashable, Sendable, CaseIterable {
  case le1M
  case le2M
  /// 125 kbit/s.
  case codedS8
  /// 500 kbit/s; the access address and the Coding Indicator are coded with S=8 all the same.
  case codedS2

  package var phy: PHY {
    switch self {
    case .le1M: .le1M
    case .le2M: .le2M
    case .codedS8, .codedS2: .leCoded
    }
  }

  /// How long a packet lasts on the air, from the start of its preamble to the end of its last bit.
  ///
  /// - Parameter payloadOctets: of the PDU without its header of two octets, with the MIC if there is one.
  package func airTime(payloadOctets: Int) -> TimeSpan {
    // Header 2, CRC 3.
    let octets = Int64(2 + payloadOctets + 3)
    switch self {
    // Preamble 1 octet, access address 4, 8 µs each.
    case .le1M: return .microseconds(8 * (1 + 4 + octets))
    // Preamble 2 octets, access address 4, 4 µs each.
    case .le2M: return .microseconds(4 * (2 + 4 + octets))
    case .codedS8: return Self.codedHeader + .microseconds(64 * octets + 24)
    case .codedS2: return Self.codedHeader + .microseconds(16 * octets + 6)
    }
  }

  /// The preamble, 80 µs, and the first FEC block: access address 256, CI 16, TERM1 24. TERM2 ends the second.
  package static let codedHeader = TimeSpan.microseconds(80 + 256 + 16 + 24)
}

/// One of the 40 radio frequency channels: 2402 + 2 k MHz · Vol 6, Part A, 2.
@usableFromInline package struct RadioChannel: Hashable, Sendable {
  /// k, 0 to 39.
  @usableFromInline package let number: UInt8

  /// Traps outside 0…39.
  package init(_ number: UInt8) {
    precondition(number < 40, "radio channel \(number) does not exist")
    self.number = number
  }

  @inlinable package var megahertz: Int { 2402 + 2 * Int(number) }
}

/// A link layer packet as it is on the air: what follows the preamble, before whitening · Vol 6, Part B, 2.1.
///
/// The CRC is not stored: the octets and `crcInit` determine it, and whoever writes a capture computes it.
package struct AirPacket: Hashable, Sendable {
  package var accessAddress: UInt32
  /// The initial value of the CRC, 24 bits · 3.1.1.
  package var crcInit: UInt32
  /// The first two octets of the PDU, the first in the low byte; the second is the payload's length.
  package var header: UInt16
  /// Whether it is of the advertising physical channels or of a periodic one, not of a connection: for faults and captures
  /// that look into packets; no receiver looks at it.
  package var isAdvertising: Bool
  package var payload: ByteSlice
  /// What the payload was before it was encrypted; nil: it is not encrypted. For faults and captures that look into packets:
  /// it is not on the air, and no receiver looks at it.
  package var plainPayload: ByteSlice?

  package init(accessAddress: UInt32, crcInit: UInt32, header: UInt16, payload: ByteSlice) {
    self.accessAddress = accessAddress
    self.crcInit = crcInit
    self.header = header
    self.payload = payload
    isAdvertising = accessAddress == LL.advertisingAccessAddress
  }

  /// How long the packet lasts on the air from the start of its preamble · 2.1, 2.2.
  package func airTime(_ modulation: Modulation) -> TimeSpan { modulation.airTime(payloadOctets: payload.count) }
}
