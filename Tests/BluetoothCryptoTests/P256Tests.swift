import BluetoothCrypto
import TestVectors
import Testing

@Suite("Key pairs on P-256 against the reference vectors")
struct P256Tests {
  @Test("Public keys and DHKey agree with the reference vectors", arguments: try Row.all("p256_ecdh"))
  func agreement(row: Row) throws {
    let a = try #require(P256KeyPair(privateKey: row.bytes("private_a")))
    let b = try #require(P256KeyPair(privateKey: row.bytes("private_b")))
    #expect(try a.publicKey == P256KeyPair.PublicKey(x: row.bytes("public_a_x"), y: row.bytes("public_a_y")))
    #expect(try b.publicKey == P256KeyPair.PublicKey(x: row.bytes("public_b_x"), y: row.bytes("public_b_y")))
    #expect(try a.sharedSecret(with: b.publicKey) == row.bytes("dhkey"))
    #expect(try b.sharedSecret(with: a.publicKey) == row.bytes("dhkey"))
  }

  @Test("A point that is not on the curve is refused", arguments: try Row.all("p256_invalid_point"))
  func invalid(row: Row) throws {
    let point = try P256KeyPair.PublicKey(x: row.bytes("public_x"), y: row.bytes("public_y"))
    #expect(P256KeyPair.debug.sharedSecret(with: point) == nil)
  }

  @Test("Coordinates of other lengths, and a private key of zero, are refused")
  func lengths() {
    let key = P256KeyPair.debug.publicKey
    #expect(P256KeyPair.debug.sharedSecret(with: .init(x: key.x + [0], y: key.y)) == nil)
    #expect(P256KeyPair.debug.sharedSecret(with: .init(x: [], y: [])) == nil)
    #expect(P256KeyPair(privateKey: [UInt8](repeating: 0, count: 32)) == nil)
    #expect(P256KeyPair(privateKey: [1]) == nil)
  }
}
