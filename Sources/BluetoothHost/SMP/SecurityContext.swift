import BluetoothCrypto
import BluetoothWire

/// The state that the Security Managers of all links of a host share.
package struct SecurityContext {
  package var policy: PairingPolicy
  /// This device's identity address.
  package var identity: DeviceAddress
  /// This device's Identity Resolving Key; nil: the device has none and distributes no identity.
  package var identityKey: Block?
  /// The source of all randomness for pairing.
  package var generator: KeyGenerator
  package var outOfBand = OutOfBand()
  package var attempts = RepeatedAttempts()
  /// The identity addresses of all bonds, so that no peer can claim another peer's identity; the owner of the context
  /// updates them.
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

  /// Generates new out-of-band data of this device; the previous data become invalid.
  mutating func makeOutOfBandData() -> OutOfBand.Peer {
    let own = OutOfBand.Own(using: &generator)
    outOfBand.own = own
    return OutOfBand.Peer(random: own.random, confirm: own.confirm)
  }
}

/// A command that the owner of a Security Manager must send to its controller. The owner reports success or failure
/// with `SecurityManager.encryptionChanged`.
package enum SecurityCommand: Hashable, Sendable {
  /// LE Enable Encryption with the key's value, random number and diversifier · Vol 4, Part E, 7.8.24.
  case encrypt(LongTermKey)
}

extension SecurityContext: CustomStringConvertible, CustomReflectable {
  /// A description without the keys.
  package var description: String { "SecurityContext(\(identity))" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
