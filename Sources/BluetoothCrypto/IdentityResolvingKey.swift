/// An Identity Resolving Key, which generates and resolves resolvable private addresses · Vol 6, Part B, 1.3.2.2,
/// 1.3.2.3. Generating and resolving allocate nothing.
package struct IdentityResolvingKey: Sendable {
  private let key: Block

  /// Returns nil for a key of zeros, which stands for a device without a key.
  package init?(_ value: Block) {
    guard value != .zero else { return nil }
    key = value
  }

  /// Returns the hash of a random address with function ah · Vol 3, Part H, 2.2.2. `prand` and the result have 24 bits.
  package func hash(_ prand: UInt32) -> UInt32 { Toolbox.ah(irk: key, prand: prand) }

  /// Returns true if `address`, 48 bits, is a resolvable private address that was generated with this key.
  package func resolves(_ address: UInt64) -> Bool { Toolbox.resolves(address, irk: key) }

  /// Returns a new resolvable private address of 48 bits. Its random part is neither all zeros nor all ones.
  package func newAddress(using generator: inout some RandomNumberGenerator) -> UInt64 {
    while true {
      let part = UInt32(truncatingIfNeeded: generator.next()) & 0x3F_FFFF
      guard part != 0, part != 0x3F_FFFF else { continue }
      let prand = 0x40_0000 | part
      return UInt64(prand) << 24 | UInt64(hash(prand))
    }
  }
}

extension IdentityResolvingKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A text that does not contain the key.
  package var description: String { "an Identity Resolving Key" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
