import BluetoothCrypto
import BluetoothWire

/// The security of a link and of the peer's keys · Vol 3, Part C, 10.2.1. A new link has none.
package struct HostLinkSecurity: Hashable, Sendable {
  package enum Level: UInt8, Comparable, Sendable {
    case none
    /// Encrypted with an unauthenticated key: mode 1, level 2.
    case encrypted
    /// Encrypted with an authenticated key: mode 1, levels 3 and 4.
    case authenticated

    package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  package var level: Level
  /// The length of the encryption key in use in octets, 7 to 16; 0: the link is not encrypted.
  package var keySize: UInt8
  /// True if this device has a Long Term Key for the peer, whether or not the link uses it.
  package var hasKey: Bool
  /// True if the link is encrypted with the key of a bond, which confirms the identity of the peer.
  package var isBonded: Bool
  /// True if the user, or an app on the user's behalf, has authorized this peer for attributes and channels that
  /// require authorization.
  package var isAuthorized: Bool

  package init(
    level: Level = .none, keySize: UInt8 = 0, hasKey: Bool = false, isBonded: Bool = false, isAuthorized: Bool = false
  ) {
    self.level = level
    self.keySize = keySize
    self.hasKey = hasKey
    self.isBonded = isBonded
    self.isAuthorized = isAuthorized
  }

  package static let none = HostLinkSecurity()
}

/// The verifier of the signatures of one client's Signed Write Commands · Vol 3, Part C, 10.4; Vol 3, Part H, 2.4.5.
package struct SignatureVerifier: Hashable, Sendable {
  /// The client's Connection Signature Resolving Key.
  package let key: Block
  /// The lowest SignCounter that is accepted; nil: all values are used up. The owner of the key stores this counter
  /// with it.
  package private(set) var nextCounter: UInt32?

  package init(key: Block, nextCounter: UInt32? = 0) {
    self.key = key
    self.nextCounter = nextCounter
  }

  /// Verifies that `signature` is that of `message` and newer than all signatures accepted before. Returns true if
  /// so, and accepts no equally old or older signature afterwards.
  mutating func verify(_ signature: ByteSlice, of message: ByteSlice) -> Bool {
    var reader = ByteReader(signature)
    guard signature.count == ATT.signatureLength, let counter = try? reader.uint32(), let nextCounter,
      counter >= nextCounter
    else { return false }
    let expected = Toolbox.signature(of: message.bytes, csrk: key, counter: counter)
    // Compare in constant time, which does not reveal the first difference.
    var difference: UInt8 = 0
    for index in 0..<expected.count { difference |= expected[index] ^ signature[index] }
    guard difference == 0 else { return false }
    self.nextCounter = counter == .max ? nil : counter + 1
    return true
  }
}

extension SignatureVerifier {
  /// Returns true if this verifier has the same key as `other` and a higher counter.
  func isFurther(than other: SignatureVerifier?) -> Bool {
    guard let other, other.key == key, let counter = other.nextCounter else { return false }
    return nextCounter.map { $0 > counter } ?? true
  }
}

extension Signer {
  /// Returns true if this signer has the same key as `other` and a higher counter.
  func isFurther(than other: Signer?) -> Bool {
    guard let other, other.key == key, let counter = other.nextCounter else { return false }
    return nextCounter.map { $0 > counter } ?? true
  }
}

/// The signer of this device's Signed Write Commands to one server · Vol 3, Part C, 10.4; Vol 3, Part H, 2.4.5.
package struct Signer: Hashable, Sendable {
  /// This device's Connection Signature Resolving Key, which the server also has.
  package let key: Block
  /// The SignCounter of the next signature; nil: all values are used up. The owner of the key stores this counter
  /// with it.
  package private(set) var nextCounter: UInt32?

  package init(key: Block, nextCounter: UInt32? = 0) {
    self.key = key
    self.nextCounter = nextCounter
  }

  /// Returns the Authentication Signature of `message`; nil: the SignCounter is used up.
  mutating func sign(_ message: ByteSlice) -> ByteSlice? {
    guard let counter = nextCounter else { return nil }
    nextCounter = counter == .max ? nil : counter + 1
    return ByteSlice(Toolbox.signature(of: message.bytes, csrk: key, counter: counter))
  }
}
