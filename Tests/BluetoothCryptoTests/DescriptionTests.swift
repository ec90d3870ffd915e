import BluetoothCrypto
import TestVectors
import Testing

@Suite struct DescriptionTests {
  private let octets: [UInt8] = [
    0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0xF6, 0x07, 0x18, 0x29, 0x3A, 0x4B, 0x5C, 0x6D, 0x7E, 0x8F, 0x90,
  ]

  @Test("Blocks, ciphers and key pairs are described without their keys")
  func keys() throws {
    let search = KeySearch(octets)
    let block = try #require(Block(octets))
    #expect(!search.finds(in: block))
    #expect(!search.finds(in: LinkLayerCipher(sessionKey: block, initializationVector: 1)))
    #expect(!search.finds(in: try #require(IdentityResolvingKey(block))))
    let pair = try #require(P256KeyPair(privateKey: octets + octets))
    #expect(!search.finds(in: pair))
    #expect(!search.finds(in: Optional(pair)))
  }
}
