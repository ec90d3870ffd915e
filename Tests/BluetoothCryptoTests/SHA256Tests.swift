import BluetoothCrypto
import TestVectors
import Testing

@Suite("SHA-256")
struct SHA256Tests {
  /// Messages with their digests: FIPS 180-4, and one million letters.
  static let samples: [(message: String, digest: String)] = [
    ("", "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"),
    ("abc", "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248D6A61D20638B8E5C026930C3E6039A33CE45964FF2167F6ECEDD419DB06C1"
    ),
    (
      String(repeating: "a", count: 1_000_000), "CDC76E5C9914FB9281A1C7E284D73E67F1809A48A497200E046D39CCC7112CD0"
    ),
  ]

  @Test("The digest is that of the standard, in one piece or in several", arguments: samples.indices)
  func digest(index: Int) throws {
    let octets = Array(Self.samples[index].message.utf8)
    let expected = try #require([UInt8](hexadecimal: Self.samples[index].digest))
    let whole = SHA256()
    whole.update(octets)
    #expect(whole.finish() == expected)
    let parts = SHA256()
    for part in [octets.prefix(7), octets.dropFirst(7).prefix(64), octets.dropFirst(71)] { parts.update(part) }
    #expect(parts.finish() == expected)
    // Octets that are not in one piece in memory.
    let scattered = SHA256()
    scattered.update(octets.lazy.map { $0 })
    #expect(scattered.finish() == expected)
  }
}
