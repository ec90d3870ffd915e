import BluetoothWire
import Foundation

/// The reason why the program ends, in one line.
struct Failure: Error, CustomStringConvertible {
  let description: String
  /// The exit status of the program.
  let status: Int32

  init(_ description: String, status: Int32 = EXIT_FAILURE) {
    (self.description, self.status) = (description, status)
  }

  /// The exit status for an invalid input file; EX_DATAERR of sysexits.h.
  static let wrongInput: Int32 = 65
}

/// Prints one line on the standard output. A failure is ignored: the server also runs without a reader.
func tell(_ text: String) {
  try? FileHandle.standardOutput.write(contentsOf: Data((text.printableLines + "\n").utf8))
}

/// Prints one line on the standard error. A failure is ignored, because there is no other place to report it.
func complain(_ text: String) {
  try? FileHandle.standardError.write(contentsOf: Data("btserver: \(text.printableLines)\n".utf8))
}
