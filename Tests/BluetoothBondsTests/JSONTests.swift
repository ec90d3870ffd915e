import Testing

@testable import BluetoothBonds

@Suite("JSON")
struct JSONTests {
  private static func parse(_ text: String) -> JSON? { try? JSON(parsing: Array(text.utf8)) }

  @Test(
    "Values are parsed as in RFC 8259",
    arguments: [
      ("null", .null), (" true ", true), ("\r\n\tfalse", false), ("0", 0), ("-0", 0), ("-12", -12),
      ("9223372036854775807", .integer(.max)), ("9223372036854775808", .real(9_223_372_036_854_775_808)),
      ("1.5e3", .real(1_500)), ("2E-1", .real(0.2)), ("[]", .array([])), ("[1, [2]]", .array([1, .array([2])])),
      ("{}", .object([])), (#"{"a":1,"b":{}}"#, .object([.init("a", 1), .init("b", .object([]))])),
      (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\ud83d\ude00""#, "é\u{1F600}"),
    ] as [(String, JSON)])
  func values(text: String, value: JSON) { #expect(Self.parse(text) == value) }

  @Test(
    "Text that is not JSON is refused",
    arguments: [
      "", " ", "nul", "tru e", "01", "-", "1.", ".5", "1e", "+1", "1e999", "[", "[1,]", "[1 2]", "{", "{1:2}",
      #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "\"", "\"\\", "\"\\x\"", "\"\\u12", "\"\\ud800\"", "\"\\udc00\"",
      "\"\\ud800\\u0041\"", "\"\u{1}\"", "1 2", "[]]", "NaN", "'a'",
    ])
  func refused(text: String) { #expect(Self.parse(text) == nil) }

  @Test("A text that is not UTF-8 is refused")
  func notUTF8() {
    #expect(throws: JSON.ParsingError.self) { try JSON(parsing: [0x22, 0xC3, 0x22]) }
    #expect(throws: JSON.ParsingError.self) { try JSON(parsing: [0x22, 0xED, 0xA0, 0x80, 0x22]) }
  }

  @Test("Nesting beyond the limit is refused, however deep it is")
  func depth() {
    let text = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
    #expect(Self.parse(text(32)) != nil)
    #expect(Self.parse(text(40)) == nil)
    #expect(Self.parse(text(1_000_000)) == nil)
  }

  @Test("Written values parse to the same values, and the text is readable")
  func written() {
    let value = JSON.members([
      "text": "a \"quoted\" line\n\u{1}\u{7F}", "number": -3, "real": .real(0.1), "nothing": nil,
      "list": .array([1, 2]), "objects": .array([.members(["a": 1, "b": .null])]), "empty": .array([]),
    ])
    #expect(Self.parse(value.text) == value)
    #expect(
      value.text == """
        {
          "text": "a \\"quoted\\" line\\n\\u0001\\u007F",
          "number": -3,
          "real": 0.1,
          "list": [1, 2],
          "objects": [
            {"a": 1, "b": null}
          ],
          "empty": []
        }

        """)
  }

  @Test("Of two members with the same name the last applies, and null counts as absent")
  func members() {
    let value = Self.parse(#"{"a": 1, "a": 2, "b": 3, "b": null}"#)
    #expect(value?["a"] == 2)
    #expect(value?["b"] == nil)
    #expect(JSON.null["a"] == nil)
  }
}
