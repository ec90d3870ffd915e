import CBluetoothCrypto

/// A key pair on the curve P-256 · Vol 3, Part H, 2.3.5.6.1. Integers are most significant octet first.
package struct P256KeyPair: Sendable {
  /// The coordinates X and Y of a public key, 32 octets each.
  package struct PublicKey: Hashable, Sendable {
    package var x: [UInt8]
    package var y: [UInt8]
    package init(x: [UInt8], y: [UInt8]) {
      self.x = x
      self.y = y
    }
  }

  private let privateKey: P256PrivateKey
  package let publicKey: PublicKey

  /// Creates the pair for a private key of 32 octets. Returns nil if the key is invalid: 0, or not below the curve's
  /// order.
  package init?(privateKey octets: [UInt8]) {
    guard let key = P256PrivateKey(octets), let point = key.publicKey() else { return nil }
    privateKey = key
    publicKey = PublicKey(x: Array(point.prefix(32)), y: Array(point.suffix(32)))
  }

  /// Creates a pair drawn from `generator`.
  package init(using generator: inout some RandomNumberGenerator) {
    while true {
      let octets = (0..<4).flatMap { _ in (generator.next() as UInt64).bigEndianBytes }
      if let pair = P256KeyPair(privateKey: octets) {
        self = pair
        return
      }
    }
  }

  /// The specification's debug key pair, with which a sniffer can decrypt the connection.
  package static let debug: P256KeyPair = {
    let octets: [UInt8] = [
      0x3F, 0x49, 0xF6, 0xD4, 0xA3, 0xC5, 0x5F, 0x38, 0x74, 0xC9, 0xB3, 0xE3, 0xD2, 0x10, 0x3F, 0x50,
      0x4A, 0xFF, 0x60, 0x7B, 0xEB, 0x40, 0xB7, 0x99, 0x58, 0x99, 0xB8, 0xA6, 0xCD, 0x3C, 0x1A, 0xBD,
    ]
    guard let pair = P256KeyPair(privateKey: octets) else { preconditionFailure("the debug key is a key") }
    return pair
  }()

  /// Returns the DHKey shared with the owner of `peer`; nil if `peer` is not a point on the curve.
  package func sharedSecret(with peer: PublicKey) -> [UInt8]? {
    guard peer.x.count == 32, peer.y.count == 32 else { return nil }
    return privateKey.sharedSecret(with: peer.x + peer.y)
  }
}

extension P256KeyPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A text that does not contain the key.
  package var description: String { "a key pair on P-256" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The 32 octets of a private key, which are overwritten when the last copy of its pair is gone.
private final class P256PrivateKey: @unchecked Sendable {
  // Sendable: nothing changes the octets between `init` and `deinit`.
  private static let length = 32
  private let octets = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 1)

  init?(_ octets: [UInt8]) {
    guard octets.count == Self.length else { return nil }
    self.octets.copyMemory(from: octets, byteCount: Self.length)
  }

  deinit {
    bluetooth_crypto_cleanse(octets, Self.length)
    octets.deallocate()
  }

  /// Returns the coordinates X and Y of the public key; nil if this is no private key.
  func publicKey() -> [UInt8]? {
    Self.result(length: 64) { bluetooth_p256_public_key(octets, $0) }
  }

  /// Returns the X coordinate of the product with a point; nil if the point is not on the curve.
  func sharedSecret(with point: [UInt8]) -> [UInt8]? {
    Self.result(length: 32) { bluetooth_p256_shared_secret(octets, point, $0) }
  }

  /// Returns the octets that `compute` writes, or nil if it returns false.
  private static func result(length: Int, _ compute: (UnsafeMutableRawPointer) -> Bool) -> [UInt8]? {
    var result = [UInt8](repeating: 0, count: length)
    return compute(&result) ? result : nil
  }
}
