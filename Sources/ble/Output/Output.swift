import BluetoothWire
import Foundation

/// Prints a line on the standard output. A text of others in it can neither begin another line nor control the terminal.
///
/// - Throws: `OutputFailure` if the line was not written completely.
func say(_ line: String) throws(OutputFailure) { try say(lines: [line]) }

/// Prints lines on the standard output.
///
/// - Throws: `OutputFailure` if they were not written completely.
func say(lines: [String]) throws(OutputFailure) { try put(lines.map { $0.printable + "\n" }.joined()) }

/// Prints a text without changes on the standard output.
///
/// - Throws: `OutputFailure` if the text was not written completely.
func put(_ text: String) throws(OutputFailure) { try put(octets: Array(text.utf8)) }

/// Writes octets to the standard output, or to another open file.
///
/// - Throws: `OutputFailure` if they were not written completely.
func put(octets: [UInt8], to descriptor: Int32 = STDOUT_FILENO) throws(OutputFailure) {
  var rest = octets[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 {
      rest = rest.dropFirst(count)
    } else if errno != EINTR {
      throw OutputFailure(code: errno)
    }
  }
}

/// Prints one line on the standard error, above the live part of the terminal. A failure is ignored, because there is
/// no other place to report it.
func complain(_ line: String) { complain(lines: [line]) }

/// Prints lines on the standard error, as `complain(_:)`.
func complain(lines: [String]) {
  let lines = lines.enumerated().flatMap { index, line in
    ((index == 0 ? "ble: " : "") + line.printable).wrappedForTerminal(STDERR_FILENO, indent: 5)
  }
  let text = lines.map { $0 + "\n" }.joined()
  Terminal.aside { try? put(octets: Array(text.utf8), to: STDERR_FILENO) }
}

extension String {
  /// Returns the text in lines that fit into the terminal of an open file; the text itself if the file is no terminal.
  func wrappedForTerminal(_ descriptor: Int32, indent: Int) -> [String] {
    guard isatty(descriptor) == 1 else { return [self] }
    return wrapped(to: Screen.size(of: descriptor).columns, indent: indent)
  }
}

/// The failure to write the standard output.
struct OutputFailure: Error {
  /// The C library's error number.
  let code: Int32

  /// Ends the program with an error message. If the reader has closed the output, there is no message, and the exit
  /// status is that of a program ended by SIGPIPE.
  func exit() -> Never {
    if code == EPIPE { Foundation.exit(128 + SIGPIPE) }
    complain(reason)
    Foundation.exit(EXIT_FAILURE)
  }

  /// The error message, in one line.
  var reason: String { "can't write to standard output: \(String(cString: strerror(code)))" }
}
