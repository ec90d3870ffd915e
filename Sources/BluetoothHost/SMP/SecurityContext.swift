import BluetoothCrypto
import BluetoothWire

/// What the Security Managers of all links of a host share.
package struct SecurityContext {
  package var policy: PairingPolicy
  /// This device's identity address.
  package var identity: DeviceAddress
  /// This device's Identity Resolving Key; nil: it has none, and gives no identity away.
  package var identityKey: Block?
  /// All chance of pairing comes from it.
  package var generator: KeyGenerator
  package var outOfBand = OutOfBand()
  package var attempts = RepeatedAttempts()
  /// The identity addresses of all bonds, so that no peer gives itself out for another one's; the owner keeps them.
  package var bondedIdentities: Set<DeviceAddress> = []

  package init(
    policy: PairingPolicy = PairingPolicy(), identity: DeviceAddress, identityKey: Block? = nil,
    generator: KeyGenerator
  ) {
    self.policy = policy
    self.identity = identity
    self.identityKey = identityKey
    self.generator = generator
  }
}

/// What the owner of a Security Manager has to tell its controller. Whether it takes it or not, the answer is
/// `SecurityManager.encryptionChanged`.
package enum SecurityCommand: Hashable, Sendable {
  /// LE Enable Encryption with the key's value, random number and diversifier · Vol 4, Part E, 7.8.24.
  case encrypt(LongTermKey)
}

extension SecurityContext: CustomStringConvertible, CustomReflectable {
  /// Without the keys.
  package var description: String { "SecurityContext(\(identity))" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
