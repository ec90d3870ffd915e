/// A device address of 48 bits with its type · Vol 6, Part B, 1.3.
///
/// ```swift
/// let address = DeviceAddress(0x00_1B_DC_07_32_EF, .public)  // 00:1B:DC:07:32:EF
/// ```
@frozen public struct DeviceAddress: Hashable, Sendable {
  /// The address type. HCI uses the same values.
  @frozen public enum Kind: UInt8, Hashable, Sendable {
    /// An address that the IEEE's registration authority assigned.
    case `public` = 0
    /// An address that the device generated.
    case random = 1

    // Written out, because the synthesized function can't be inlined in other modules.
    @inlinable public static func == (left: Kind, right: Kind) -> Bool { left.rawValue == right.rawValue }
  }

  /// The sub-type of a random address: its two most significant bits · 1.3.2.
  @frozen public enum RandomKind: Hashable, Sendable {
    /// A private address that cannot be resolved.
    case nonResolvablePrivate
    /// A private address that devices with the Identity Resolving Key can resolve.
    case resolvablePrivate
    /// An address that is reserved for future use.
    case reserved
    /// An address that the device keeps at least until it is powered off.
    case `static`
  }

  /// The 48 bits of the address as an integer; the least significant octet is the first on the air.
  public let value: UInt64
  /// The address type.
  public let kind: Kind

  /// Creates an address from the low 48 bits of `value`.
  @inlinable public init(_ value: UInt64, _ kind: Kind) {
    self.value = value & 0xFFFF_FFFF_FFFF
    self.kind = kind
  }

  // Written out, because the synthesized function can't be inlined in other modules.
  @inlinable public static func == (left: DeviceAddress, right: DeviceAddress) -> Bool {
    left.value == right.value && left.kind == right.kind
  }

  @inlinable public func hash(into hasher: inout Hasher) {
    hasher.combine(value)
    hasher.combine(kind.rawValue)
  }

  /// Returns a random static address drawn from `generator`.
  public static func randomStatic(using generator: inout some RandomNumberGenerator) -> DeviceAddress {
    while true {
      let address = DeviceAddress(generator.next() | 0xC000_0000_0000, .random)
      if address.hasValidRandomPart { return address }
    }
  }

  /// True if the 46 random bits of a static or non-resolvable private address are neither all zeros nor all ones, as
  /// the specification requires · 1.3.2.1, 1.3.2.2. True for all other addresses.
  public var hasValidRandomPart: Bool {
    guard randomKind == .static || randomKind == .nonResolvablePrivate else { return true }
    let part = value & 0x3FFF_FFFF_FFFF
    return part != 0 && part != 0x3FFF_FFFF_FFFF
  }

  /// True for an identity address, which is permanent: a public or a static address · Vol 3, Part C, 15.1.1.
  @inlinable public var isIdentity: Bool {
    switch kind {
    case .public: true
    case .random: value >> 46 == 0b11
    }
  }

  /// The sub-type of a random address; nil for a public address.
  @inlinable public var randomKind: RandomKind? {
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
  public var description: String {
    value.octets(6).reversed().map(\.hexadecimal).joined(separator: ":") + (kind == .random ? " (random)" : "")
  }
}
