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

  /// The prime of the field and the order of the curve.
  private static let prime = hexadecimal("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF")
  private static let order = hexadecimal("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")

  private static func hexadecimal(_ digits: String) -> [UInt8] { [UInt8](hexadecimal: digits) ?? [] }

  /// Returns a number of 32 octets plus or minus one. None of the numbers here needs a carry.
  private static func next(to number: [UInt8], _ difference: Int) -> [UInt8] {
    number.dropLast() + [UInt8(Int(number[31]) + difference)]
  }

  @Test("The private keys end below the order of the curve")
  func privateKeys() throws {
    let one = try #require(P256KeyPair(privateKey: [UInt8](repeating: 0, count: 31) + [1]))
    let last = try #require(P256KeyPair(privateKey: Self.next(to: Self.order, -1)))
    // Both are the generator, but for the sign of Y.
    #expect(one.publicKey.x == Self.hexadecimal("6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296"))
    #expect(last.publicKey.x == one.publicKey.x && last.publicKey.y != one.publicKey.y)
    #expect(last.sharedSecret(with: one.publicKey) == one.publicKey.x)
    for octets in [Self.order, Self.next(to: Self.order, 1), [UInt8](repeating: 0xFF, count: 32)] {
      #expect(P256KeyPair(privateKey: octets) == nil)
    }
  }

  /// Points of which an implementation without checks computes a secret that tells its private key, or any secret.
  static let hostilePoints: [(name: String, x: [UInt8], y: [UInt8])] = {
    let zero = [UInt8](repeating: 0, count: 32)
    let (x, y) = (P256KeyPair.debug.publicKey.x, P256KeyPair.debug.publicKey.y)
    return [
      ("zeros, as some encode the point at infinity", zero, zero), ("Y of zeros, which has a small order", x, zero),
      ("X of zeros", zero, y), ("exchanged coordinates", y, x), ("X in place of Y", x, x),
      ("X of the prime", prime, y), ("Y of the prime", x, prime), ("ones", zero.map(~), zero.map(~)),
      ("another last bit of Y", x, y.dropLast() + [y[31] ^ 1]), ("another first bit of X", [x[0] ^ 0x80] + x[1...], y),
      (
        "X of a point, plus the prime", hexadecimal("FFFFFFFF00000001000000000000000000000001000000000000000000000004"),
        pointOfFive
      ),
    ]
  }()

  /// Y of a point whose X is 5.
  private static let pointOfFive = hexadecimal("459243B9AA581806FE913BCE99817ADE11CA503C64D9A3C533415C083248FBCC")

  @Test("A point with a small X is a point")
  func small() {
    let point = P256KeyPair.PublicKey(x: [UInt8](repeating: 0, count: 31) + [5], y: Self.pointOfFive)
    #expect(P256KeyPair.debug.sharedSecret(with: point) != nil)
  }

  @Test("Points that are not on the curve, or not reduced, are refused", arguments: hostilePoints.indices)
  func hostile(index: Int) {
    let point = Self.hostilePoints[index]
    #expect(P256KeyPair.debug.sharedSecret(with: .init(x: point.x, y: point.y)) == nil, "\(point.name)")
  }

  @Test("Two drawn pairs agree on a secret, and the negative of a point gives the same secret")
  func drawn() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20 {
      let (a, b) = (P256KeyPair(using: &generator), P256KeyPair(using: &generator))
      let secret = try #require(a.sharedSecret(with: b.publicKey))
      #expect(b.sharedSecret(with: a.publicKey) == secret)
      // p - y
      var borrow = 0
      let y = zip(Self.prime, b.publicKey.y).reversed().map { p, y in
        let digit = Int(p) - Int(y) - borrow
        borrow = digit < 0 ? 1 : 0
        return UInt8(truncatingIfNeeded: digit)
      }
      #expect(a.sharedSecret(with: .init(x: b.publicKey.x, y: y.reversed())) == secret)
    }
  }
}
