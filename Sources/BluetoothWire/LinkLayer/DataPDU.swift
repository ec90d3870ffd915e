extension LL {
  /// The header of a data physical channel PDU · Vol 6, Part B, 2.4, without the CTEInfo octet: the CP bit is reserved here.
  package struct DataHeader: Hashable, Sendable {
    /// What the payload is · 2.4.
    package enum LLID: UInt8, Hashable, Sendable {
      case reserved = 0b00
      /// A further part of an L2CAP PDU, or nothing.
      case continuation = 0b01
      /// The first part of an L2CAP PDU, or all of it.
      case start = 0b10
      case control = 0b11
    }

    package var llid: LLID
    package var nextExpectedSequenceNumber: Bool
    package var sequenceNumber: Bool
    package var moreData: Bool
    /// Octets of payload, with the MIC if there is one.
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

    /// The two octets, the first in the low byte.
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

  /// The longest payload that every device takes, and the longest there is, octets · 4.5.10.
  package static let minimumDataLength = 27
  package static let maximumDataLength = 251

  /// How long a data PDU of `octets` of payload without MIC lasts on LE 1M · 4.5.10: preamble, access address, header, MIC
  /// and CRC are 14 octets.
  package static func airTime1M(octets: Int) -> TimeSpan { .microseconds(Int64(8 * (octets + 14))) }
}
