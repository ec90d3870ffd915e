/// The link layer · Vol 6, Part B.
package enum LL {
  /// The access address of every advertising physical channel packet · 2.1.2.
  package static let advertisingAccessAddress: UInt32 = 0x8E89_BED6
  /// CRCInit of every advertising physical channel packet · 3.1.1.
  package static let advertisingCRCInit: UInt32 = 0x555555
  /// The time from the end of a packet to the start of its answer · 4.1.1.
  package static let interFrameSpace = TimeSpan.microseconds(150)
}

/// A physical layer · Vol 6, Part A. Raw values are those of HCI.
package enum PHY: UInt8, Hashable, Sendable {
  case le1M = 1
  case le2M = 2
  case leCoded = 3
}

/// One of the 40 radio frequency channels: 2402 + 2 k MHz · Vol 6, Part A, 2.
package struct RadioChannel: Hashable, Sendable {
  /// k, 0 to 39.
  package let number: UInt8

  /// Traps outside 0…39.
  package init(_ number: UInt8) {
    precondition(number < 40, "radio channel \(number) does not exist")
    self.number = number
  }

  package var megahertz: Int { 2402 + 2 * Int(number) }
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
  package var payload: ByteSlice

  package init(accessAddress: UInt32, crcInit: UInt32, header: UInt16, payload: ByteSlice) {
    self.accessAddress = accessAddress
    self.crcInit = crcInit
    self.header = header
    self.payload = payload
  }

  /// How long the packet lasts on the air from the start of its preamble · 2.1, 2.2. Coded packets are taken as S=8.
  package func airTime(on phy: PHY) -> TimeSpan {
    let pdu = 2 + payload.count
    switch phy {
    // Preamble 1, access address 4, CRC 3 octets of 8 µs.
    case .le1M: return .microseconds(Int64(8 * (1 + 4 + pdu + 3)))
    // Preamble 2, access address 4, CRC 3 octets of 4 µs.
    case .le2M: return .microseconds(Int64(4 * (2 + 4 + pdu + 3)))
    // Preamble 80, access address 256, CI 16, TERM1 24, then 64 µs an octet, TERM2 24.
    case .leCoded: return .microseconds(Int64(80 + 256 + 16 + 24 + 64 * (pdu + 3) + 24))
    }
  }
}
