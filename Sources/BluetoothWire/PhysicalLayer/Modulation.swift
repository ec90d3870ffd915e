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

  package var phy: RadioPHY {
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
