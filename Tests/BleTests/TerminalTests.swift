import BluetoothWire
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

  @Test("A table that is too wide is narrowed step by step, and cells that are too long end with an ellipsis")
  func narrowTable() {
    var table = TextTable(["level", "name", "services", "company"])
    table.add(["-50 dBm", "Weather Station", "Environmental Sensing", "Nordic Semiconductor ASA"])
    let steps = [[1: 8, 2: 8], [3: 10]]
    #expect(table.lines(fitting: 73, narrowing: steps) == table.text.split(separator: "\n").map(String.init))
    // The widest column is narrowed first.
    #expect(
      table.lines(fitting: 67, narrowing: steps) == [
        "level    name             services         company",
        "-50 dBm  Weather Station  Environmental …  Nordic Semiconductor ASA",
      ])
    #expect(
      table.lines(fitting: 50, narrowing: steps) == [
        "level    name      services  company", "-50 dBm  Weather…  Environ…  Nordic Semiconductor…",
      ])
    // The steps are not enough.
    let least = table.lines(fitting: 20, narrowing: steps)
    #expect(least.last == "-50 dBm  Weather…  Environ…  Nordic Se…")
  }

  @Test("A table that does not fit goes on in blocks, each of which names the rows")
  func tableInBlocks() {
    var table = TextTable(["device", "sent", "received"])
    table.add(["strap", "12", "345"])
    #expect(table.blocks(fitting: 22, keys: 1) == table.text)
    #expect(table.blocks(fitting: nil, keys: 1) == table.text)
    #expect(table.blocks(fitting: 16, keys: 1) == "device  sent\nstrap   12\n\ndevice  received\nstrap   345")
    // A block has at least one column of its own.
    #expect(table.blocks(fitting: 4, keys: 1) == table.blocks(fitting: 16, keys: 1))
  }

  @Test("A long line is broken at spaces, and its other lines are indented")
  func wrapping() {
    #expect("one two three".wrapped(to: 13, indent: 2) == ["one two three"])
    #expect("one two three".wrapped(to: 9, indent: 2) == ["one two", "  three"])
    #expect("one  two three four".wrapped(to: 12, indent: 2) == ["one  two", "  three four"])
    // A word that is longer than a line stays whole; control sequences have no width.
    #expect("one 0123456789AB".wrapped(to: 8, indent: 2) == ["one", "  0123456789AB"])
    #expect("\u{1B}[1mone\u{1B}[0m two".wrapped(to: 7, indent: 2) == ["\u{1B}[1mone\u{1B}[0m two"])
    #expect("   one two".wrapped(to: 8, indent: 3) == ["   one", "   two"])
  }

  @Test("Log messages wait until a report has ended, and control characters in them are escaped")
  func heldLog() throws {
    var order: [String] = []
    HeldLog.during { order.append("report") }
    #expect(order == ["report"])
    #expect("\u{1B}[2Jname".printable == "\\u{1B}[2Jname")
  }

  @Test("A picture that is too high keeps its first line and its footer, and tells how many lines it leaves out")
  func highPicture() {
    let lines = ["title"] + (1...40).map { "device \($0)" }
    let visible = LivePicture.visible(lines, footer: "footer", rows: 23)
    #expect(visible == Array(lines.prefix(21)) + ["… 20 more", "footer"])
    #expect(LivePicture.visible(lines, footer: "footer", rows: 42) == lines + ["footer"])
    #expect(LivePicture.visible(lines, footer: nil, rows: 3) == ["title", "device 1", "… 39 more"])
    #expect(LivePicture.visible(lines, footer: "footer", rows: 2) == ["… 40 more", "footer"])
    #expect(LivePicture.visible(["line"], footer: nil, rows: 0) == ["line"])
  }

  @Test("A line of progress is cut to the columns of its terminal")
  func progressLine() {
    #expect(LivePart(line: "50 %  1.0 of 2.0 s", columns: 10).text == "50 %  1.0\u{1B}[K")
    #expect(LivePart(line: "50 %", columns: 80).text == "50 %\u{1B}[K")
    #expect(LivePart(line: "温度計", columns: 6).text == "温度\u{1B}[K")
  }

  @Test("A line of progress has the percentage, whole runs and the remaining time, also within a run")
  func progressWithinRun() {
    #expect(ProgressLine.line(0, of: 4, unit: "runs", after: 0) == "0 %  0 of 4 runs")
    // The first run is three quarters complete.
    #expect(ProgressLine.line(0.75, of: 4, unit: "runs", after: 3) == "18 %  0 of 4 runs, 13 s left")
    #expect(ProgressLine.line(4, of: 4, unit: "runs", after: 16) == "100 %  4 of 4 runs, 0 s left")
    #expect(ProgressLine.line(1.25, of: 2.5, unit: "s", after: 1) == "50 %  1.2 of 2.5 s, 1 s left")
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
