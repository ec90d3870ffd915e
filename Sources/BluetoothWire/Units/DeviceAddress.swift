/// A device address of 48 bits with its type · Vol 6, Part B, 1.3.
package struct DeviceAddress: Hashable, Sendable {
  /// The address type. HCI uses the same values.
  package enum Kind: UInt8, Hashable, Sendable {
    case `public` = 0
    case random = 1
  }

  /// The sub-types of random addresses, which the two most significant bits distinguish · 1.3.2.
  package enum RandomKind: Hashable, Sendable {
    case nonResolvablePrivate, resolvablePrivate, reserved, `static`
  }

  /// The 48 bits of the address as an integer; the least significant octet is the first on the air.
  package let value: UInt64
  package let kind: Kind

  package init(_ value: UInt64, _ kind: Kind) {
    self.value = value & 0xFFFF_FFFF_FFFF
    self.kind = kind
  }

  /// Returns a random static address drawn from `generator`.
  package static func randomStatic(using generator: inout some RandomNumberGenerator) -> DeviceAddress {
    while true {
      let address = DeviceAddress(generator.next() | 0xC000_0000_0000, .random)
      if address.hasValidRandomPart { return address }
    }
  }

  /// True if the 46 random bits of a static or non-resolvable private address are neither all zeros nor all ones, as
  /// the specification requires · 1.3.2.1, 1.3.2.2. True for all other addresses.
  package var hasValidRandomPart: Bool {
    guard randomKind == .static || randomKind == .nonResolvablePrivate else { return true }
    let part = value & 0x3FFF_FFFF_FFFF
    return part != 0 && part != 0x3FFF_FFFF_FFFF
  }

  /// True for an identity address, which is permanent: a public or a static address · Vol 3, Part C, 15.1.1.
  package var isIdentity: Bool { kind == .public || randomKind == .static }

  /// The sub-type of a random address; nil for a public address.
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
  /// The address as `C0:11:22:33:44:55`, followed by `(random)` for a random address.
  package var description: String {
    let octets = (0..<6).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)).hexadecimal }
    return octets.joined(separator: ":") + (kind == .random ? " (random)" : "")
  }
}

extension ByteReader {
  /// Reads six octets, least significant first.
  package mutating func addressValue() throws(DecodingError) -> UInt64 {
    let low = try uint32()
    let high = try uint16()
    return UInt64(low) | UInt64(high) << 32
  }
}

extension ByteWriter {
  /// Appends six octets, least significant first.
  package mutating func append(addressValue value: UInt64) {
    append(UInt32(truncatingIfNeeded: value))
    append(UInt16(truncatingIfNeeded: value >> 32))
  }
}
