import BluetoothCrypto
import BluetoothWire

/// A Long Term Key and its properties · Vol 3, Part H, 2.4.1, 2.4.4.
package struct LongTermKey: Hashable, Sendable {
  package var value: Block
  /// The EDIV; 0 with LE Secure Connections.
  package var diversifier: UInt16
  /// The Rand; 0 with LE Secure Connections.
  package var random: UInt64
  /// The key length in octets, 7 to 16; the remaining octets of `value` are 0.
  package var size: UInt8
  /// True if the key was generated with protection against a man in the middle.
  package var isAuthenticated: Bool
  package var isSecureConnections: Bool

  package init(
    _ value: Block, diversifier: UInt16 = 0, random: UInt64 = 0, size: UInt8 = 16, isAuthenticated: Bool,
    isSecureConnections: Bool
  ) {
    self.value = value
    self.diversifier = diversifier
    self.random = random
    self.size = size
    self.isAuthenticated = isAuthenticated
    self.isSecureConnections = isSecureConnections
  }

  /// The security level of a link that is encrypted with the key.
  package var level: HostLinkSecurity.Level { isAuthenticated ? .authenticated : .encrypted }
}

/// The bond of two devices: the keys that they have exchanged · Vol 3, Part H, 2.4; Vol 3, Part C, 9.4.4.
/// Descriptions of a bond never contain keys.
package struct HostBond: Hashable, Sendable {
  /// The peer's identity address; if the peer has none, the address that it used for pairing.
  package var identity: DeviceAddress
  /// The key of LE Secure Connections, for both roles of this device.
  package var key: LongTermKey?
  /// The key that this device has distributed with LE legacy pairing, for links on which this device is the
  /// peripheral.
  package var ownKey: LongTermKey?
  /// The key that the peer has distributed with LE legacy pairing, for links on which the peer is the peripheral.
  package var peerKey: LongTermKey?
  /// The peer's Identity Resolving Key; nil: the peer has none.
  package var peerIdentityKey: Block?
  /// The verifier of the peer's signed writes; nil: the peer signs nothing.
  package var signatureVerifier: SignatureVerifier?
  /// The signer of this device's writes to the peer; nil: the peer has no key to verify them.
  package var signatureMaker: Signer?

  package init(identity: DeviceAddress) { self.identity = identity }

  /// Returns the key for a link on which this device has `role`.
  package func key(in role: Link.Role) -> LongTermKey? {
    key ?? (role == .central ? peerKey : ownKey)
  }

  /// The minimum security level of a link that is encrypted with a key of the bond, whichever device is the central.
  package var level: HostLinkSecurity.Level { keys.map(\.level).min() ?? .none }

  /// Returns true if all keys are equal, regardless of the counters.
  package func hasSameKeys(as other: HostBond) -> Bool {
    identity == other.identity && keys == other.keys && peerIdentityKey == other.peerIdentityKey
      && signatureVerifier?.key == other.signatureVerifier?.key && signatureMaker?.key == other.signatureMaker?.key
  }

  /// All encryption keys of the bond.
  var keys: [LongTermKey] { [key, ownKey, peerKey].compactMap { $0 } }
}

extension LongTermKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A description without the key.
  package var description: String {
    "LongTermKey(\(size) octets\(isAuthenticated ? ", authenticated" : "")\(isSecureConnections ? ", Secure Connections" : ""))"
  }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension HostBond: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A description without the keys.
  package var description: String { "Bond(\(identity))" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
