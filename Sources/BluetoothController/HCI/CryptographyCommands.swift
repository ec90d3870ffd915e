import BluetoothCrypto
import BluetoothWire

/// Commands for cryptographic functions · Vol 4, Part E, 7.8.22, 7.8.23, 7.8.36, 7.8.37.
extension Controller {
  /// Executes the commands that are answered with Command Complete.
  mutating func cryptography(_ command: HCI.Command) -> HCI.ReturnParameters? {
    switch command {
    case .leRand: .leRand(random.next())
    case .leEncrypt(let key, let plaintext):
      .leEncrypt(UInt128(AES128.encrypt(Block(plaintext.value), key: Block(key.value))))
    default: nil
    }
  }

  /// Returns the status of a command that the controller answers with Command Status; nil: another command.
  mutating func statusOfCryptography(_ command: HCI.Command) -> HCI.ErrorCode? {
    switch command {
    case .leReadLocalP256PublicKey: .success
    case .leGenerateDHKey(let coordinates): checkGenerateDHKey(coordinates, usesDebugKey: false)
    case .leGenerateDHKeyV2(let coordinates, let usesDebugKey):
      checkGenerateDHKey(coordinates, usesDebugKey: usesDebugKey)
    default: nil
    }
  }

  /// Performs the actions of such a command after its Command Status.
  mutating func followCryptography(_ command: HCI.Command) {
    switch command {
    case .leReadLocalP256PublicKey: readLocalPublicKey()
    case .leGenerateDHKey(let coordinates): generateDHKey(coordinates, usesDebugKey: false)
    case .leGenerateDHKeyV2(let coordinates, let usesDebugKey):
      generateDHKey(coordinates, usesDebugKey: usesDebugKey)
    default: break
    }
  }

  /// Returns the status of LE Generate DHKey: the local key pair must exist, and the peer's key must be a point of
  /// the curve.
  private mutating func checkGenerateDHKey(_ coordinates: ByteSlice, usesDebugKey: Bool) -> HCI.ErrorCode {
    guard usesDebugKey || host.keyPair != nil else { return .commandDisallowed }
    return sharedSecret(coordinates, usesDebugKey: usesDebugKey) == nil ? .invalidHCICommandParameters : .success
  }

  /// Generates a new key pair each time.
  private mutating func readLocalPublicKey() {
    let pair = P256KeyPair(using: &random)
    host.keyPair = KeyPairBox(pair)
    let key = pair.publicKey
    output.send(.leReadLocalP256PublicKeyComplete(.success, ByteSlice(key.x.reversed() + key.y.reversed())))
  }

  private mutating func generateDHKey(_ coordinates: ByteSlice, usesDebugKey: Bool) {
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
