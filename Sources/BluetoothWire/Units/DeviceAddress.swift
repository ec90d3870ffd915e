/// A device address of 48 bits and its type · Vol 6, Part B, 1.3.
package struct DeviceAddress: Hashable, Sendable {
  /// What the 48 bits are. HCI spells it as the same octet.
  package enum Kind: UInt8, Hashable, Sendable {
    case `public` = 0
    case random = 1
  }

  /// The kinds of random address, told by the two most significant bits · 1.3.2.
  package enum RandomKind: Hashable, Sendable {
    case nonResolvablePrivate, resolvablePrivate, reserved, `static`
  }

  /// The address as a number of 48 bits; its least significant octet is the first on the air.
  package let value: UInt64
  package let kind: Kind

  package init(_ value: UInt64, _ kind: Kind) {
    self.value = value & 0xFFFF_FFFF_FFFF
    self.kind = kind
  }

  /// A random static address drawn from `generator`.
  package static func randomStatic(using generator: inout some RandomNumberGenerator) -> DeviceAddress {
    while true {
      let address = DeviceAddress(generator.next() | 0xC000_0000_0000, .random)
      if address.hasValidRandomPart { return address }
    }
  }

  /// Whether the 46 random bits of a static or non-resolvable private address are neither all zeros nor all ones, as they
  /// have to be · 1.3.2.1, 1.3.2.2. True for all other addresses.
  package var hasValidRandomPart: Bool {
    guard randomKind == .static || randomKind == .nonResolvablePrivate else { return true }
    let part = value & 0x3FFF_FFFF_FFFF
    return part != 0 && part != 0x3FFF_FFFF_FFFF
  }

  /// Whether it lasts, so that a device can be known by it: a public or a static address · Vol 3, Part C, 15.1.1.
  package var isIdentity: Bool { kind == .public || randomKind == .static }

  /// nil for a public address.
  package var randomKind: RandomKind? {
    guard kind == .random else { return nil }
    switch value >> 46 {
    case 0b00: return .nonResolvablePrivate
    case 0b01: return .resolvablePrivate
    case 0b10: return .reserved
    default: return .static
    }
  }
}

extension DeviceAddress: CustomStringConvertible {
  /// `C0:11:22:33:44:55`, with `(random)` after a random address.
  package var description: String {
    let octets = (0..<6).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)).hexadecimal }
    return octets.joined(separator: ":") + (kind == .random ? " (random)" : "")
  }
}

extension ByteReader {
  /// Six octets, least significant first.
  package mutating func addressValue() throws(DecodingError) -> UInt64 {
    let low = try uint32()
    let high = try uint16()
    return UInt64(low) | UInt64(high) << 32
  }
}

extension ByteWriter {
  /// Six octets, least significant first.
  package mutating func append(addressValue value: UInt64) {
    append(UInt32(truncatingIfNeeded: value))
    append(UInt16(truncatingIfNeeded: value >> 32))
  }
}
