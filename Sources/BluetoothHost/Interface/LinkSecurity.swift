import BluetoothCrypto
import BluetoothWire

/// How well a link is protected, and what this device knows of the peer · Vol 3, Part C, 10.2.1. A new link has nothing.
package struct LinkSecurity: Hashable, Sendable {
  package enum Level: UInt8, Comparable, Sendable {
    case none
    /// Encrypted, with a key that nobody has authenticated: mode 1, level 2.
    case encrypted
    /// Encrypted, with a key that was authenticated: mode 1, levels 3 and 4.
    case authenticated

    package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  package var level: Level
  /// Octets of the encryption key in use, 7 to 16; 0: the link is not encrypted.
  package var keySize: UInt8
  /// There is a Long Term Key for this peer, whether the link uses it or not.
  package var hasKey: Bool
  /// The link is encrypted with the key of a bond, so the peer is who it says it is.
  package var isBonded: Bool
  /// The user, or who acts for the user, lets this peer access what needs authorization.
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

  package static let none = LinkSecurity()
}

/// What checks the signatures of one client's Signed Write Commands · Vol 3, Part C, 10.4; Vol 3, Part H, 2.4.5.
package struct SignatureVerifier: Hashable, Sendable {
  /// The client's Connection Signature Resolving Key.
  package let key: Block
  /// The least SignCounter that is taken; nil: they are used up. Whoever keeps the key keeps this with it.
  package private(set) var nextCounter: UInt32?

  package init(key: Block, nextCounter: UInt32? = 0) {
    self.key = key
    self.nextCounter = nextCounter
  }

  /// Whether `signature` is that of `message`, and no older one; if so, no signature as old as it is taken again.
  mutating func verify(_ signature: ByteSlice, of message: ByteSlice) -> Bool {
    var reader = ByteReader(signature)
    guard signature.count == ATT.signatureLength, let counter = try? reader.uint32(), let nextCounter,
      counter >= nextCounter
    else { return false }
    let expected = Toolbox.signature(of: message.bytes, csrk: key, counter: counter)
    // All octets are compared, so that the time tells nothing of where they differ.
    var difference: UInt8 = 0
    for index in 0..<expected.count { difference |= expected[index] ^ signature[index] }
    guard difference == 0 else { return false }
    self.nextCounter = counter == .max ? nil : counter + 1
    return true
  }
}

extension SignatureVerifier {
  /// Whether it has the same key, and has counted further.
  func isFurther(than other: SignatureVerifier?) -> Bool {
    guard let other, other.key == key, let counter = other.nextCounter else { return false }
    return nextCounter.map { $0 > counter } ?? true
  }
}

extension SignatureMaker {
  /// Whether it has the same key, and has counted further.
  func isFurther(than other: SignatureMaker?) -> Bool {
    guard let other, other.key == key, let counter = other.nextCounter else { return false }
    return nextCounter.map { $0 > counter } ?? true
  }
}

/// What signs this device's Signed Write Commands to one server · Vol 3, Part C, 10.4; Vol 3, Part H, 2.4.5.
package struct SignatureMaker: Hashable, Sendable {
  /// This device's Connection Signature Resolving Key, as the server has it.
  package let key: Block
  /// The SignCounter of the next signature; nil: they are used up. Whoever keeps the key keeps this with it.
  package private(set) var nextCounter: UInt32?

  package init(key: Block, nextCounter: UInt32? = 0) {
    self.key = key
    self.nextCounter = nextCounter
  }

  /// The Authentication Signature of `message`; nil: there are no more.
  mutating func sign(_ message: ByteSlice) -> ByteSlice? {
    guard let counter = nextCounter else { return nil }
    nextCounter = counter == .max ? nil : counter + 1
    return ByteSlice(Toolbox.signature(of: message.bytes, csrk: key, counter: counter))
  }
}
