import BluetoothWire

/// A part of a packet that a receiver takes under one modulation: its bits, before coding, are even in time.
struct PacketPart {
  /// When it begins, after the start of the preamble.
  var offset: TimeSpan
  var bitTime: TimeSpan
  var bits: Int64
  var modulation: Modulation
}

extension Modulation {
  /// What finds a packet: its access address · Vol 6, Part B, 2.1, 2.2.
  var accessAddressPart: PacketPart {
    switch self {
    case .le1M: PacketPart(offset: .microseconds(8), bitTime: .microseconds(1), bits: 32, modulation: .le1M)
    case .le2M: PacketPart(offset: .microseconds(8), bitTime: .nanoseconds(500), bits: 32, modulation: .le2M)
    case .codedS8, .codedS2:
      PacketPart(offset: .microseconds(80), bitTime: .microseconds(8), bits: 32, modulation: .codedS8)
    }
  }

  /// When a receiver knows whether it has found a packet.
  var foundAfter: TimeSpan {
    let part = accessAddressPart
    return part.offset + part.bitTime * part.bits
  }

  /// What a coded packet has between the access address and the PDU, with S=8 always: Coding Indicator 2, TERM1 3 bits.
  var codingPart: PacketPart? {
    guard phy == .leCoded else { return nil }
    return PacketPart(offset: foundAfter, bitTime: .microseconds(8), bits: 5, modulation: .codedS8)
  }

  /// Header, payload, CRC, and TERM2 of coded packets.
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
