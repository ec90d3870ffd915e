import BluetoothWire

/// The capabilities, offers and requirements of a device for pairing · Vol 3, Part H, 2.3; Vol 3, Part C, 9.4, 10.2.
package struct PairingPolicy: Hashable, Sendable {
  /// The use of LE Secure Connections and LE legacy pairing · Vol 3, Part H, 2.3.
  package enum SecureConnections: UInt8, Hashable, Sendable, CaseIterable {
    /// Only LE legacy pairing, as on devices before version 4.2.
    case never
    /// LE Secure Connections if the peer supports it, and LE legacy pairing if not.
    case preferred
    /// Only LE Secure Connections: Secure Connections Only mode · Vol 3, Part C, 10.2.4.
    case only
  }

  /// The input and output capabilities of this device's user interface.
  package var ioCapability = SMP.IOCapability.noInputNoOutput
  /// True if this device accepts pairing; false: it answers with Pairing Not Supported.
  package var isPairable = true
  /// True if the device requests bonding, so that both sides store the keys.
  package var isBonding = true
  /// True if the device requests protection against a man in the middle. If the capabilities of the devices do not
  /// permit it, they pair without; a stricter requirement is a matter of `SecurityDemand`.
  package var asksForAuthentication = false
  package var secureConnections = SecureConnections.preferred
  /// The accepted lengths of the encryption key in octets, within 7 to 16; the upper bound is offered to the peer.
  package var keySizes: ClosedRange<UInt8> = 16...16
  /// The keys that this device distributes. (The encryption key is for LE legacy pairing only.)
  package var distributedKeys: SMP.KeyDistribution = [.encryptionKey, .identityKey, .signingKey]
  /// The keys that this device requests of the peer.
  package var acceptedKeys: SMP.KeyDistribution = [.encryptionKey, .identityKey, .signingKey]
  /// True if the device notifies the peer of each digit that the user types · 3.5.8.
  package var sendsKeypresses = false
  /// True if the device pairs with a peer that uses the debug public key, with which any eavesdropper can decrypt the
  /// link · 2.3.5.6.1.
  package var acceptsDebugKeys = false

  package init() {}
}

/// The security that a link must have.
package struct SecurityDemand: Hashable, Sendable {
  /// The minimum level; `encrypted` accepts any key.
  package var level: HostLinkSecurity.Level
  /// The minimum length of the key in octets, 0 or 7 to 16; 0: any length that the policy accepts.
  package var keySize: UInt8

  package init(level: HostLinkSecurity.Level, keySize: UInt8 = 0) {
    self.level = level
    self.keySize = keySize
  }

  package static let encrypted = SecurityDemand(level: .encrypted)
  package static let authenticated = SecurityDemand(level: .authenticated)

  /// Returns true if the link's security meets the demand.
  package func isMet(by security: HostLinkSecurity) -> Bool {
    security.level >= level && (level == .none || security.keySize >= keySize)
  }
}
