import BluetoothTypes
import Testing

@Suite("Text that devices send")
struct ReceivedTextTests {
  @Test(
    "Text ends before the first zero and an incomplete character; other invalid UTF-8 becomes U+FFFD",
    arguments: [
      ("", ""), ("526177", "Raw"), ("526177000000", "Raw"), ("00", ""), ("4142004344", "AB"), ("20412020", " A  "),
      ("41c3a4", "A\u{E4}"), ("41c3", "A"), ("41e282ac", "A\u{20AC}"), ("41e282", "A"), ("41e2", "A"),
      ("41f09f9880", "A\u{1F600}"), ("41f09f98", "A"), ("41f09f", "A"), ("41f0", "A"), ("c3", ""), ("41c300", "A"),
      ("fffe61", "\u{FFFD}\u{FFFD}a"), ("41ff", "A\u{FFFD}"), ("4180", "A\u{FFFD}"), ("41c36263", "A\u{FFFD}bc"),
      ("808080", "\u{FFFD}\u{FFFD}\u{FFFD}"),
    ])
  func text(octets: String, expected: String) throws {
    let digits = Array(octets.utf8)
    let bytes = try stride(from: 0, to: digits.count, by: 2).map {
      try #require(UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16))
    }
    #expect(Array(String(received: bytes).utf8) == Array(expected.utf8))
  }
}
