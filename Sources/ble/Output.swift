import BluetoothWire
import Foundation

/// Prints one line, or several, on the standard output.
///
/// - Throws: `OutputFailure` if not all of it was written.
func say(_ text: String) throws(OutputFailure) { try put(text.printableLines + "\n") }

/// Prints a text as it is.
///
/// - Throws: `OutputFailure` if not all of it was written.
func put(_ text: String) throws(OutputFailure) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    if count >= 0 {
      rest = rest.dropFirst(count)
    } else if errno != EINTR {
      throw OutputFailure(code: errno)
    }
  }
}

/// Prints one line on the standard error. Nobody could be told that it failed.
func complain(_ text: String) {
  try? FileHandle.standardError.write(contentsOf: Data("ble: \(text.printableLines)\n".utf8))
}

/// Why the standard output was not written.
struct OutputFailure: Error {
  /// The C library's error number.
  let code: Int32

  /// Ends the program. A reader that has read enough is told nothing, and gets the status of a program that SIGPIPE ends.
  func exit() -> Never {
    if code == EPIPE { Foundation.exit(128 + SIGPIPE) }
    complain(reason)
    Foundation.exit(EXIT_FAILURE)
  }

  /// One line.
  var reason: String { "the output can't be written: \(String(cString: strerror(code)))" }
}
