import Foundation

/// The reason why a valid command failed, in one line.
struct Failure: Error, CustomStringConvertible {
  let description: String
  /// The exit status of the program.
  let status: Int32

  init(_ description: String, status: Int32 = EXIT_FAILURE) {
    (self.description, self.status) = (description, status)
  }
}
