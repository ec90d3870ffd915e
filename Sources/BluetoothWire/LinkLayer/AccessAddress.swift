extension LL {
  /// Returns true if a connection may use this access address · Vol 6, Part B, 2.1.2.
  ///
  /// The specification's requirements, in the order of the conditions below: at most six consecutive equal bits; more
  /// than one bit different from the advertising access address; four octets that are not all equal; at most 24
  /// transitions; at least two transitions in the six most significant bits.
  ///
  /// - Parameter forCoded: true on a device that supports the LE Coded PHY. Then the least significant octet must have
  ///   at least three ones, and the 16 least significant bits at most eleven transitions.
  package static func isValidAccessAddress(_ address: UInt32, forCoded: Bool = false) -> Bool {
    let octets = (0..<4).map { UInt8(truncatingIfNeeded: address >> (8 * $0)) }
    // Bit n is 1 if bit n of the address differs from bit n + 1.
    let transitions = (address ^ address >> 1) & 0x7FFF_FFFF
    guard longestRun(in: address) <= 6,
      (address ^ advertisingAccessAddress).nonzeroBitCount > 1,
      Set(octets).count > 1,
      transitions.nonzeroBitCount <= 24,
      (transitions >> 26).nonzeroBitCount >= 2
    else { return false }
    guard forCoded else { return true }
    return octets[0].nonzeroBitCount >= 3 && (transitions & 0x7FFF).nonzeroBitCount <= 11
  }

  /// Returns a random access address for a new connection, valid on all PHYs.
  package static func randomAccessAddress(using generator: inout some RandomNumberGenerator) -> UInt32 {
    while true {
      let address = UInt32(truncatingIfNeeded: generator.next())
      if isValidAccessAddress(address, forCoded: true) { return address }
    }
  }

  /// Returns the length of the longest run of equal bits.
  private static func longestRun(in value: UInt32) -> Int {
    var longest = 1
    var run = 1
    for bit in 1..<32 {
      run = (value >> bit ^ value >> (bit - 1)) & 1 == 0 ? run + 1 : 1
      longest = max(longest, run)
    }
    return longest
  }
}
