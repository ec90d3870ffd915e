import BluetoothWire
import Testing

@Suite struct PrintableTextTests {
  @Test(
    "Printable text contains no terminal controls and no line breaks",
    arguments: [
      ("red\u{1B}[31m", #"red\u{1B}[31m"#), ("two\nlines\r", #"two\nlines\r"#), ("tab\t", #"tab\t"#),
      ("\u{9B}2J", #"\u{9B}2J"#), ("\u{7F}", #"\u{7F}"#), ("\u{0}", #"\u{0}"#), ("\u{202E}evil", #"\u{202E}evil"#),
      ("\u{2028}", #"\u{2028}"#), ("\u{FEFF}x", #"\u{FEFF}x"#), ("a\u{200B}b", #"a\u{200B}b"#),
    ])
  func escapes(text: String, printable: String) {
    #expect(text.printable == printable)
  }

  @Test("Any other text stays as it is", arguments: ["", "Heart Rate", "Zürich", "心拍", "👩‍🚀", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", #"C:\x"#])
  func others(text: String) {
    #expect(text.printable == text)
  }

  @Test(
    "A word of a shell is quoted if one of its characters has a meaning there",
    arguments: [
      ("com.example.scale", "com.example.scale"), ("/usr/bin/torch@1001", "/usr/bin/torch@1001"), ("", "''"),
      ("/tmp/a b", "'/tmp/a b'"), ("a;reboot", "'a;reboot'"), ("$(reboot)", "'$(reboot)'"),
      ("it's", #"'it'\''s'"#), ("心拍", "'心拍'"),
    ])
  func shellWords(text: String, word: String) {
    #expect(text.shellWord == word)
  }
}
