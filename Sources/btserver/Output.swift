import BluetoothAir
import BluetoothWire
import Foundation

/// The reason why the program ends, in one line, or in a line for each problem of a file.
struct Failure: Error, CustomStringConvertible {
  let lines: [String]
  /// The exit status of the program.
  let status: Int32

  init(_ description: String, status: Int32 = EXIT_FAILURE) {
    (lines, self.status) = ([description], status)
  }

  /// The reason why a file can't be read.
  init(_ failure: WorldFileFailure) { (lines, status) = (failure.lines, Self.wrongInput) }

  /// The exit status for an invalid input file; EX_DATAERR of sysexits.h.
  static let wrongInput: Int32 = 65

  var description: String { lines.joined(separator: "\n") }
}

/// Prints a line on the standard output. A failure is ignored: the server also runs without a reader.
func tell(_ line: String) { tell(lines: [line]) }

/// Prints lines on the standard output, as `tell(_:)`. A text of others can neither begin another line nor control the
/// terminal.
func tell(lines: [String]) {
  try? FileHandle.standardOutput.write(contentsOf: Data(lines.map { $0.printable + "\n" }.joined().utf8))
}

/// Prints a line on the standard error. A failure is ignored, because there is no other place to report it.
func complain(_ line: String) { complain(lines: [line]) }

/// Prints lines on the standard error, as `complain(_:)`.
func complain(lines: [String]) {
  let text = "btserver: " + lines.map { $0.printable + "\n" }.joined()
  try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
}
