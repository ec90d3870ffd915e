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

  /// The number of columns and rows.
  static var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}

/// A picture of several lines on a terminal that is replaced again and again.
struct LivePicture {
  /// The number of lines that the picture takes.
  private var height = 0

  /// Shows these lines in place of those before. Lines that are too long are cut.
  mutating func show(_ lines: [String]) throws(OutputFailure) {
    let (columns, rows) = Screen.size
    let visible = lines.prefix(max(1, rows - 1)).map { $0.cut(to: columns - 1) }
    let up = height > 0 ? "\u{1B}[\(height)A\r" : ""
    let part = LivePart(
      descriptor: STDOUT_FILENO, text: visible.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J",
      erasure: "\u{1B}[\(visible.count)A\r\u{1B}[J")
    try Terminal.show(part, after: up)
    height = visible.count
  }

  /// Leaves the last picture as it is. Other output follows it.
  func end() {
    if height > 0 { Terminal.release() }
  }
}
