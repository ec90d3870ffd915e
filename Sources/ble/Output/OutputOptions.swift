import ArgumentParser
import BluetoothWire
import Foundation

/// The options of the output.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Prints one JSON object on each line.")
  var json = false

  /// The style of text on the standard output.
  var style: Style { Style(isPlain: json || !Screen.isLive) }

  /// Checks that the standard output is free for records.
  ///
  /// - Parameter path: the output file of the verb; `-`: the standard output.
  /// - Throws: `ValidationError` if both would be on the standard output.
  func requireFile(_ path: String) throws {
    if json, path == "-" { throw ValidationError("with --json, expected a file for the output, not -") }
  }

  /// Checks that a second output of a verb is a file: the standard output has the first one.
  ///
  /// - Parameters:
  ///   - path: the file that the user has named; nil: none.
  ///   - option: the option that names it.
  /// - Throws: `ValidationError` if the file is the standard output.
  static func requireName(_ path: String?, of option: String) throws {
    guard path == "-" else { return }
    throw ValidationError(
      "\(option) needs the name of a file: the standard output has what this verb prints, such as its report")
  }

  /// Prints the record of a verb that prints no text, if the user wants records.
  func emit(_ record: JSONRecord) throws(OutputFailure) {
    if json { try put(record.line + "\n") }
  }
}

/// Colours and weights for a terminal; nothing in a pipe.
struct Style {
  let isPlain: Bool

  func bold(_ text: String) -> String { wrap(text, "1") }
  func dim(_ text: String) -> String { wrap(text, "2") }

  private func wrap(_ text: String, _ code: String) -> String {
    isPlain || text.isEmpty ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}

/// The terminal of the standard output.
enum Screen {
  /// True if the standard output is a terminal that can move its cursor.
  static let isTerminal = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

  /// True if the user wants no colours (https://no-color.org), and with this package no control codes either.
  static let isColourless = !(ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty

  /// True if the standard output may get control codes, so that a picture can be kept up to date.
  static let isLive = isTerminal && !isColourless

  /// True if the standard error may get control codes, so that progress can be shown.
  static let showsProgress =
    isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb" && !isColourless

  /// The number of columns of the standard output; nil: it is no terminal.
  static var width: Int? { isTerminal ? size.columns : nil }

  /// The number of columns and rows.
  static var size: (columns: Int, rows: Int) { size(of: STDOUT_FILENO) }

  /// The number of columns and rows of the terminal of an open file; 80 and 24 if they are unknown.
  static func size(of descriptor: Int32) -> (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}

/// A picture of several lines on a terminal that is replaced again and again.
struct LivePicture {
  /// The number of lines that the picture takes.
  private var height = 0

  /// Shows these lines in place of those before. Lines that are too long are cut. Of too many lines, the first ones and
  /// the footer are shown.
  ///
  /// - Parameter footer: the last line, which is always shown; nil: none.
  mutating func show(_ lines: [String], footer: String? = nil) throws(OutputFailure) {
    let (columns, rows) = Screen.size
    let visible = Self.visible(lines, footer: footer, rows: rows - 1).map { $0.cut(to: columns - 1) }
    let part = LivePart(
      descriptor: STDOUT_FILENO, text: Self.text(visible), erasure: "\u{1B}[\(visible.count)A\r\u{1B}[J")
    try Terminal.show(part, after: up)
    height = visible.count
  }

  /// The control codes that lead from the end of the picture to its beginning.
  private var up: String { height > 0 ? "\u{1B}[\(height)A\r" : "" }

  /// Returns the lines of a picture with the control codes that remove those of the picture before.
  private static func text(_ lines: [String]) -> String {
    lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J"
  }

  /// Returns the part of a picture that fits into a number of rows. The first line and the footer stay, and a line tells
  /// how many lines are left out between them.
  static func visible(_ lines: [String], footer: String?, rows: Int) -> [String] {
    let end = footer.map { [$0] } ?? []
    let rows = max(1, rows)
    guard lines.count + end.count > rows else { return lines + end }
    let shown = max(1, rows - end.count - 1)
    var visible = Array(lines.prefix(shown))
    if shown < lines.count { visible.append("… \(lines.count - shown) more") }
    // A terminal with two rows shows the end of this.
    return Array((visible + end).suffix(rows))
  }

  /// Shows all lines in place of the last picture. They stay, and other output follows them.
  mutating func finish(_ lines: [String]) throws(OutputFailure) {
    let columns = Screen.size.columns
    let text = Self.text(lines.map { $0.cut(to: columns - 1) })
    // The text is no live part any more: a line of the log would move the cursor by its height, which may exceed that
    // of the terminal.
    try Terminal.finish(up + text, on: STDOUT_FILENO)
    height = 0
  }

  /// Leaves the last picture as it is. Other output follows it.
  func end() {
    if height > 0 { Terminal.release() }
  }
}
