extension LL {
  /// The header of a data physical channel PDU · Vol 6, Part B, 2.4. There is no CTEInfo octet: the CP bit is treated
  /// as reserved.
  package struct DataHeader: Hashable, Sendable {
    /// The LLID field, the type of the payload · 2.4.
    package enum LLID: UInt8, Hashable, Sendable {
      case reserved = 0b00
      /// A continuation fragment of an L2CAP PDU, or an empty PDU.
      case continuation = 0b01
      /// The start of an L2CAP PDU, or a complete one.
      case start = 0b10
      case control = 0b11
    }

    package var llid: LLID
    package var nextExpectedSequenceNumber: Bool
    package var sequenceNumber: Bool
    package var moreData: Bool
    /// The length of the payload in octets, including the MIC if present.
    package var length: UInt8

    package init(
      llid: LLID, nextExpectedSequenceNumber: Bool, sequenceNumber: Bool, moreData: Bool, length: UInt8
    ) {
      self.llid = llid
      self.nextExpectedSequenceNumber = nextExpectedSequenceNumber
      self.sequenceNumber = sequenceNumber
      self.moreData = moreData
      self.length = length
    }

    /// Decodes the two octets of the header, the first in the low byte.
    package init(rawValue: UInt16) {
      llid = LLID(rawValue: UInt8(rawValue & 0b11)) ?? .reserved
      nextExpectedSequenceNumber = rawValue & 1 << 2 != 0
      sequenceNumber = rawValue & 1 << 3 != 0
      moreData = rawValue & 1 << 4 != 0
      length = UInt8(rawValue >> 8)
    }

    package var rawValue: UInt16 {
      UInt16(llid.rawValue) | (nextExpectedSequenceNumber ? 1 << 2 : 0) | (sequenceNumber ? 1 << 3 : 0)
        | (moreData ? 1 << 4 : 0) | UInt16(length) << 8
    }
  }

  /// The payload in octets that every device supports · 4.5.10.
  package static let minimumDataLength = 27
  /// The maximum payload in octets, without MIC, with the Data Length Extension · 4.5.10.
  package static let maximumDataLength = 251

  /// Returns the duration on LE 1M of a data PDU with `octets` of payload, the MIC not counted · 4.5.10. Preamble,
  /// access address, header, MIC and CRC add 14 octets.
  package static func airTime1M(octets: Int) -> TimeSpan { .microseconds(Int64(8 * (octets + 14))) }
}
