import BluetoothCrypto
import BluetoothWire

/// Commands for cryptographic functions · Vol 4, Part E, 7.8.22, 7.8.23, 7.8.36, 7.8.37.
extension Controller {
  /// Executes LE Encrypt.
  func encrypt(_ plaintext: Secret<UInt128>, key: Secret<UInt128>) -> UInt128 {
    UInt128(AES128.encrypt(Block(plaintext.value), key: Block(key.value)))
  }

  /// Returns the status of LE Generate DHKey: the local key pair must exist, and the peer's key must be a point of
  /// the curve.
  mutating func checkGenerateDHKey(_ coordinates: ByteSlice, usesDebugKey: Bool) -> HCI.ErrorCode {
    guard usesDebugKey || host.keyPair != nil else { return .commandDisallowed }
    return sharedSecret(coordinates, usesDebugKey: usesDebugKey) == nil ? .invalidHCICommandParameters : .success
  }

  /// Executes LE Read Local P-256 Public Key, which generates a new key pair each time.
  mutating func readLocalPublicKey() {
    let pair = P256KeyPair(using: &random)
    host.keyPair = KeyPairBox(pair)
    let key = pair.publicKey
    output.send(.leReadLocalP256PublicKeyComplete(.success, ByteSlice(key.x.reversed() + key.y.reversed())))
  }

  /// Executes LE Generate DHKey.
  mutating func generateDHKey(_ coordinates: ByteSlice, usesDebugKey: Bool) {
    guard let secret = sharedSecret(coordinates, usesDebugKey: usesDebugKey) else { return }
    output.send(.leGenerateDHKeyComplete(.success, ByteSlice(secret.reversed())))
  }

  private mutating func sharedSecret(_ coordinates: ByteSlice, usesDebugKey: Bool) -> [UInt8]? {
    let octets = coordinates.bytes
    let peer = P256KeyPair.PublicKey(x: octets.prefix(32).reversed(), y: octets.dropFirst(32).reversed())
    let pair = usesDebugKey ? P256KeyPair.debug : host.keyPair?.pair
    return pair?.sharedSecret(with: peer)
  }
}

/// A key pair, stored apart because most devices never have one.
final class KeyPairBox {
  let pair: P256KeyPair
  init(_ pair: P256KeyPair) { self.pair = pair }
}

extension UInt128 {
  fileprivate init(_ block: Block) { self = UInt128(block.high) << 64 | UInt128(block.low) }
}
