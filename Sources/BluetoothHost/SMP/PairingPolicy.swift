import BluetoothWire

/// What a device can do, offers and demands when it pairs · Vol 3, Part H, 2.3; Vol 3, Part C, 9.4, 10.2.
package struct PairingPolicy: Hashable, Sendable {
  /// Which of the two ways of pairing are taken · Vol 3, Part H, 2.3.
  package enum SecureConnections: UInt8, Hashable, Sendable, CaseIterable {
    /// LE legacy pairing alone, as devices before 4.2.
    case never
    /// LE Secure Connections where the peer has them, else LE legacy pairing.
    case preferred
    /// Nothing but LE Secure Connections: secure connections only mode · Vol 3, Part C, 10.2.4.
    case only
  }

  /// What the user of this device can see and type.
  package var ioCapability = SMP.IOCapability.noInputNoOutput
  /// Whether anybody may pair with this device at all; if not, the answer is Pairing Not Supported.
  package var isPairable = true
  /// Asks for keys that last: bonding.
  package var isBonding = true
  /// Asks for protection against somebody in the middle. Where the two devices can't have it, they pair without; what needs
  /// more says so in its `SecurityDemand`.
  package var asksForAuthentication = false
  package var secureConnections = SecureConnections.preferred
  /// Octets of the encryption key that are taken, within 7 to 16; the upper bound is what is offered.
  package var keySizes: ClosedRange<UInt8> = 16...16
  /// What this device gives away about itself. (The encryption key concerns LE legacy pairing alone.)
  package var distributedKeys: SMP.KeyDistribution = [.encryptionKey, .identityKey, .signingKey]
  /// What this device wants to have of the peer.
  package var acceptedKeys: SMP.KeyDistribution = [.encryptionKey, .identityKey, .signingKey]
  /// Tells the peer of each digit that the user types · 3.5.8.
  package var sendsKeypresses = false
  /// Pairs with a peer whose public key is the debug key, which everybody can read along · 2.3.5.6.1.
  package var acceptsDebugKeys = false

  package init() {}
}

/// How well a link has to be protected.
package struct SecurityDemand: Hashable, Sendable {
  /// At least this; `encrypted` takes any key.
  package var level: LinkSecurity.Level
  /// The shortest key, octets, 0 or 7 to 16; 0: what the policy takes.
  package var keySize: UInt8

  package init(level: LinkSecurity.Level, keySize: UInt8 = 0) {
    self.level = level
    self.keySize = keySize
  }

  package static let encrypted = SecurityDemand(level: .encrypted)
  package static let authenticated = SecurityDemand(level: .authenticated)

  /// Whether a link is protected so well.
  package func isMet(by security: LinkSecurity) -> Bool {
    security.level >= level && (level == .none || security.keySize >= keySize)
  }
}
