import BluetoothAir
import Foundation

/// The reason why a valid command failed, in one line, or in a line for each problem of a file.
struct Failure: Error, CustomStringConvertible {
  let lines: [String]
  /// The exit status of the program.
  let status: Int32

  /// Creates a failure.
  ///
  /// - Parameter details: further lines.
  init(_ description: String, details: [String] = [], status: Int32 = EXIT_FAILURE) {
    (lines, self.status) = ([description] + details, status)
  }

  init(_ failure: WorldFileFailure, status: Int32) { (lines, self.status) = (failure.lines, status) }

  var description: String { lines.joined(separator: "\n") }
}
