extension LL {
  /// The cyclic redundancy check of link layer packets: 24 bits, x²⁴ + x¹⁰ + x⁹ + x⁶ + x⁴ + x³ + x + 1 ·
  /// Vol 6, Part B, 3.1.1.
  package struct CRC24: Hashable, Sendable {
    /// The shift register; bit 0 is transmitted first.
    private var register: UInt32

    /// The polynomial with its coefficients in the order of `register`, without x²⁴.
    private static let polynomial: UInt32 = 0xDA_6000

    /// The register after eight steps, by the octet in its low bits.
    private static let table: [UInt32] = (0..<256).map { octet in
      (0..<8).reduce(UInt32(octet)) { register, _ in register >> 1 ^ (register & 1 == 1 ? polynomial : 0) }
    }

    /// Creates a CRC with the initial value `initial`, 24 bits.
    package init(initial: UInt32) {
      // Position 0 of the specification's register holds CRCInit's least significant bit; position 23 is transmitted
      // first.
      register = Self.reversed(initial)
    }

    package mutating func update(_ octet: UInt8) {
      register = register >> 8 ^ Self.table[Int(UInt8(truncatingIfNeeded: register) ^ octet)]
    }

    package mutating func update(_ bytes: ByteSlice) {
      bytes.withUnsafeBytes { for octet in $0 { update(octet) } }
    }

    /// The three octets that follow the PDU, the first in the low byte.
    package var value: UInt32 { register }

    private static func reversed(_ value: UInt32) -> UInt32 {
      (0..<24).reduce(0) { $0 << 1 | value >> UInt32($1) & 1 }
    }
  }
}
