import BluetoothWire

/// A part of a packet with a single modulation. Its bits (on LE Coded: before coding) have equal durations.
struct PacketPart {
  /// The time from the start of the preamble to the start of the part.
  var offset: TimeSpan
  /// The duration of one bit.
  var bitTime: TimeSpan
  /// The number of bits.
  var bits: Int64
  var modulation: Modulation
}

extension Modulation {
  /// The access address, by which a receiver detects a packet · Vol 6, Part B, 2.1, 2.2.
  var accessAddressPart: PacketPart {
    switch self {
    case .le1M: PacketPart(offset: .microseconds(8), bitTime: .microseconds(1), bits: 32, modulation: .le1M)
    case .le2M: PacketPart(offset: .microseconds(8), bitTime: .nanoseconds(500), bits: 32, modulation: .le2M)
    case .codedS8, .codedS2:
      PacketPart(offset: .microseconds(80), bitTime: .microseconds(8), bits: 32, modulation: .codedS8)
    }
  }

  /// The time from the start of the preamble to the end of the access address, when the detection of the packet is
  /// decided.
  var foundAfter: TimeSpan {
    let part = accessAddressPart
    return part.offset + part.bitTime * part.bits
  }

  /// The part of a coded packet between access address and PDU, always with S=8: Coding Indicator (2 bits) and TERM1 (3
  /// bits). nil for uncoded PHYs.
  var codingPart: PacketPart? {
    guard phy == .leCoded else { return nil }
    return PacketPart(offset: foundAfter, bitTime: .microseconds(8), bits: 5, modulation: .codedS8)
  }

  /// Returns the part with header, payload and CRC, and on LE Coded also TERM2.
  func pduPart(payloadOctets: Int) -> PacketPart {
    let bits = Int64(8 * (2 + payloadOctets + 3))
    return switch self {
    case .le1M: PacketPart(offset: .microseconds(40), bitTime: .microseconds(1), bits: bits, modulation: self)
    case .le2M: PacketPart(offset: .microseconds(24), bitTime: .nanoseconds(500), bits: bits, modulation: self)
    case .codedS8:
      PacketPart(offset: Self.codedHeader, bitTime: .microseconds(8), bits: bits + 3, modulation: self)
    case .codedS2:
      PacketPart(offset: Self.codedHeader, bitTime: .microseconds(2), bits: bits + 3, modulation: self)
    }
  }
}
