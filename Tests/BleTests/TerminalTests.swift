import Foundation
import Testing

@testable import ble

/// Text on terminals.
@Suite struct TerminalTests {
  @Test(
    "The width of a text on a terminal is that of its characters, in columns",
    arguments: [
      ("", 0), ("Strap", 5), ("21.37 °C", 8), ("温度センサーです", 16), ("한국어", 6), ("ﾃｽﾄ", 3), ("Ａ１", 4),
      // A letter with a combining mark, an invisible character, syllables of separate letters.
      ("e\u{301}", 1), ("a\u{200B}b", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("─│", 2),
      // Emoji and symbols: as text, requested by a variation selector, by default, a flag, a sequence.
      ("\u{1F321}", 1), ("\u{1F321}\u{FE0F}", 2), ("\u{231A}", 2), ("\u{1F1EF}\u{1F1F5}", 2), ("\u{2764}", 1),
      ("\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", 2), ("\u{2764}\u{FE0F}", 2),
    ] as [(String, Int)])
  func width(text: String, columns: Int) {
    #expect(text.columns == columns)
  }

  @Test("A text is cut to columns, and a wide character that does not fit is left out with all that follows")
  func cutting() {
    #expect("温度計 a".cut(to: 6) == "温度計")
    #expect("温度計 a".cut(to: 5) == "温度")
    #expect("\u{1B}[1m温度計\u{1B}[0m".cut(to: 3) == "\u{1B}[1m温\u{1B}[0m")
    #expect("温a".cut(to: 1) == "")
    #expect("温度センサーです".shortened(to: 16) == "温度センサーです")
    #expect("温度センサーです".shortened(to: 15) == "温度センサーで…")
    #expect("温度センサーです".shortened(to: 14) == "温度センサー…")
  }

  @Test("The columns of a table are aligned after wide characters")
  func table() {
    var table = TextTable(["name", "level"])
    table.add(["温度計", "-50 dBm"])
    table.add(["Strap", "-48 dBm"])
    #expect(table.text == "name    level\n温度計  -50 dBm\nStrap   -48 dBm")
  }

  @Test("A line of the log removes the live part, and the part is shown again below it")
  func aside() throws {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    try Terminal.show(LivePart(descriptor: descriptor, text: "[1]", erasure: "<"), after: "")
    try Terminal.show(LivePart(descriptor: descriptor, text: "[2]", erasure: "<<"), after: "^")
    Terminal.aside(isTerminal: true) { try? put(octets: Array("log;".utf8), to: descriptor) }
    // A file beside the terminal does not disturb the picture.
    Terminal.aside(isTerminal: false) { try? put(octets: Array("file;".utf8), to: descriptor) }
    Terminal.remove()
    Terminal.aside(isTerminal: true) { try? put(octets: Array("end".utf8), to: descriptor) }
    try pipe.fileHandleForWriting.close()
    let written = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(written == "[1]^[2]<<log;[2]file;<<end")
  }
}
