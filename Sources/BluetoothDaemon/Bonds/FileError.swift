/// A failed system call.
package struct FileError: Error, Hashable, Sendable {
  package enum Operation: String, Hashable, Sendable {
    case look = "checking the file"
    case makeFolder = "creating the folder"
    case setMode = "restricting the mode"
    case list = "listing the folder"
    case read = "reading"
    case create = "creating the file"
    case write = "writing"
    case open = "opening"
    case lock = "locking the folder"
    case sync = "syncing to disk"
    case rename = "replacing the file"
    case remove = "removing"
  }

  package let operation: Operation
  package let path: String
  /// The C library's error number.
  package let code: Int32
  /// The C library's description of the error.
  package let reason: String

  package init(_ operation: Operation, _ path: String, code: Int32, reason: String) {
    self.operation = operation
    self.path = path
    self.code = code
    self.reason = reason
  }
}

extension FileError: CustomStringConvertible {
  /// A description in one line.
  package var description: String { "\(path): \(operation.rawValue) failed: \(reason)" }
}
