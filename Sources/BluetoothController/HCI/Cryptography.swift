import BluetoothCrypto
import BluetoothWire

/// The cryptographic functions of HCI, and their key pair · Vol 4, Part E, 7.8.22, 7.8.23, 7.8.36, 7.8.37.
struct Cryptography {
  /// The last key pair of LE Read Local P-256 Public Key.
  private var keyPair: KeyPairBox?

  /// Executes LE Encrypt.
  func encrypt(_ plaintext: Secret<UInt128>, key: Secret<UInt128>) -> HCI.ReturnParameters {
    .leEncrypt(UInt128(AES128.encrypt(Block(plaintext.value), key: Block(key.value))))
  }

  /// Returns the status of LE Generate DHKey: the local key pair must exist, and the peer's key must be a point of
  /// the curve.
  func checkGenerateDHKey(_ coordinates: ByteSlice, usesDebugKey: Bool) -> HCI.ErrorCode {
    guard usesDebugKey || keyPair != nil else { return .commandDisallowed }
    return sharedSecret(coordinates, usesDebugKey: usesDebugKey) == nil ? .invalidHCICommandParameters : .success
  }

  /// Executes LE Read Local P-256 Public Key, which generates a new key pair each time.
  mutating func readLocalPublicKey(device: inout LocalDevice) {
    let pair = P256KeyPair(using: &device.random)
    keyPair = KeyPairBox(pair)
    let key = pair.publicKey
    device.output.send(.leReadLocalP256PublicKeyComplete(.success, ByteSlice(key.x.reversed() + key.y.reversed())))
  }

  /// Executes LE Generate DHKey.
  func generateDHKey(_ coordinates: ByteSlice, usesDebugKey: Bool, into output: inout HCIEventQueue) {
    guard let secret = sharedSecret(coordinates, usesDebugKey: usesDebugKey) else { return }
    output.send(.leGenerateDHKeyComplete(.success, ByteSlice(secret.reversed())))
  }

  private func sharedSecret(_ coordinates: ByteSlice, usesDebugKey: Bool) -> [UInt8]? {
    let octets = coordinates.bytes
    let peer = P256KeyPair.PublicKey(x: octets.prefix(32).reversed(), y: octets.dropFirst(32).reversed())
    let pair = usesDebugKey ? P256KeyPair.debug : keyPair?.pair
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
