extension LL {
  /// The data whitening sequence of a channel, which avoids long runs of equal bits on the air: x⁷ + x⁴ + 1 ·
  /// Vol 6, Part B, 3.2.
  ///
  /// The simulated air carries packets without whitening, because the receiver would only remove it again.
  package struct Whitening: Sequence, IteratorProtocol, Sendable {
    private var register: UInt8

    /// Creates the sequence for the octets of a PDU on `channel`, beginning with the first.
    package init(channel: ChannelIndex) {
      // Position 0 is one; positions 1 to 6 hold the channel index, most significant bit first.
      register = channel.number | 0x40
    }

    /// Returns the next octet, which is combined with an octet of the packet by exclusive or.
    package mutating func next() -> UInt8? {
      var octet: UInt8 = 0
      for bit in 0..<8 {
        let out = register & 1
        octet |= out << bit
        register >>= 1
        if out == 1 { register ^= 0x44 }
      }
      return octet
    }
  }
}
