extension LL {
  /// The sequence that keeps long runs of equal bits off the air, by channel index: x⁷ + x⁴ + 1 · Vol 6, Part B, 3.2.
  ///
  /// The simulated air carries packets without it: sender and receiver would take it off again.
  package struct Whitening: Sequence, IteratorProtocol, Sendable {
    private var register: UInt8

    /// The sequence that begins with the first octet of a PDU on `channel`.
    package init(channel: ChannelIndex) {
      // Position 0 is one, positions 1 to 6 hold the channel index, most significant bit first.
      register = channel.number | 0x40
    }

    /// The next octet to combine with one of the packet by exclusive or.
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
