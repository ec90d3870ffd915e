import BluetoothCrypto
import BluetoothWire

/// A Long Term Key and what it was made with · Vol 3, Part H, 2.4.1, 2.4.4.
package struct LongTermKey: Hashable, Sendable {
  package var value: Block
  /// EDIV; 0 with LE Secure Connections.
  package var diversifier: UInt16
  /// Rand; 0 with LE Secure Connections.
  package var random: UInt64
  /// Octets, 7 to 16; what is beyond them is 0 in `value`.
  package var size: UInt8
  /// Whether nobody could have been in the middle when it was made.
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

  /// What a link is that is encrypted with it.
  package var level: LinkSecurity.Level { isAuthenticated ? .authenticated : .encrypted }
}

/// What two devices that have paired keep of each other · Vol 3, Part H, 2.4; Vol 3, Part C, 9.4.4. No key of it is ever in
/// a description.
package struct Bond: Hashable, Sendable {
  /// The peer's identity address; where it has none, the address under which it has paired.
  package var identity: DeviceAddress
  /// The key of LE Secure Connections, for this device in either role.
  package var key: LongTermKey?
  /// LE legacy pairing: the key that this device has given away, for links on which it is the peripheral.
  package var ownKey: LongTermKey?
  /// LE legacy pairing: the key that the peer has given away, for links on which the peer is the peripheral.
  package var peerKey: LongTermKey?
  /// The peer's Identity Resolving Key; nil: it has none.
  package var peerIdentityKey: Block?
  /// Checks what the peer signs; nil: it signs nothing.
  package var signatureVerifier: SignatureVerifier?
  /// Signs what this device writes to the peer; nil: the peer has no key for it.
  package var signatureMaker: SignatureMaker?

  package init(identity: DeviceAddress) { self.identity = identity }

  /// The key for a link on which this device has `role`.
  package func key(in role: Link.Role) -> LongTermKey? {
    key ?? (role == .central ? peerKey : ownKey)
  }

  /// How well a link can be protected with its keys at least, whoever is the central.
  package var level: LinkSecurity.Level { keys.map(\.level).min() ?? .none }

  /// Whether all keys are the same, whatever has been counted since.
  package func hasSameKeys(as other: Bond) -> Bool {
    identity == other.identity && keys == other.keys && peerIdentityKey == other.peerIdentityKey
      && signatureVerifier?.key == other.signatureVerifier?.key && signatureMaker?.key == other.signatureMaker?.key
  }

  /// All its encryption keys.
  var keys: [LongTermKey] { [key, ownKey, peerKey].compactMap { $0 } }
}

extension LongTermKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without the key.
  package var description: String {
    "LongTermKey(\(size) octets\(isAuthenticated ? ", authenticated" : "")\(isSecureConnections ? ", Secure Connections" : ""))"
  }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Bond: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without the keys.
  package var description: String { "Bond(\(identity))" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
