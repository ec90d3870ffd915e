/// What a store on disk wants of the system, each an operation of its own, so that tests can end everything after any of
/// them.
protocol FileSystem: Sendable {
  /// What is at `path`, without following a link there; nil: nothing.
  func status(of path: String) throws(FileError) -> FileStatus?
  /// Makes a folder that only this user may use.
  func makeFolder(_ path: String) throws(FileError)
  func setMode(_ mode: UInt32, of path: String) throws(FileError)
  /// The names of what is in a folder, in no order.
  func names(in folder: String) throws(FileError) -> [String]
  /// What a plain file holds, at most one octet more than `limit`.
  func read(_ path: String, limit: Int) throws(FileError) -> [UInt8]
  /// Makes a file that only this user may use. There must be none yet.
  func create(_ path: String) throws(FileError) -> OpenFile
  /// Writes the first of `bytes`, and says how many.
  func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(FileError) -> Int
  func openFolder(_ path: String) throws(FileError) -> OpenFile
  /// Keeps others who ask for the same folder out until it is closed. With `waits` it waits for them for a while; then it
  /// throws, so that a program that holds the lock and is stopped stops no other one.
  ///
  /// - Returns: true if nobody else is in.
  func lock(_ folder: OpenFile, waits: Bool) throws(FileError) -> Bool
  /// What was written to the file, or has changed in the folder's list, survives a loss of power afterwards.
  func sync(_ handle: OpenFile) throws(FileError)
  func close(_ handle: OpenFile)
  /// Gives a file a name in place of the file that has it.
  func rename(_ path: String, to new: String) throws(FileError)
  func remove(_ path: String) throws(FileError)
}

/// A file or a folder that is open.
struct OpenFile: Hashable, Sendable {
  let number: Int32
  let path: String
}

struct FileStatus: Hashable, Sendable {
  enum Kind: Hashable, Sendable { case file, folder, other }

  var kind: Kind
  /// The nine bits of who may do what, and the three above.
  var mode: UInt32
  /// It belongs to the user who runs this process.
  var isOwn: Bool
  /// When it was changed last, in nanoseconds since 1970-01-01 00:00:00 UTC.
  var modified: Int64 = 0
}

/// What the system refused.
package struct FileError: Error, Hashable, Sendable {
  package enum Operation: String, Hashable, Sendable {
    case look = "looking at it"
    case makeFolder = "making the folder"
    case setMode = "closing it to other users"
    case list = "listing the folder"
    case read = "reading"
    case create = "making the file"
    case write = "writing"
    case open = "opening"
    case lock = "locking the folder"
    case sync = "writing through to the disk"
    case rename = "putting the new file in place"
    case remove = "removing"
  }

  package let operation: Operation
  package let path: String
  /// The C library's error number.
  package let code: Int32
  /// What the C library says of it.
  package let reason: String

  package init(_ operation: Operation, _ path: String, code: Int32, reason: String) {
    self.operation = operation
    self.path = path
    self.code = code
    self.reason = reason
  }
}

extension FileError: CustomStringConvertible {
  /// One line.
  package var description: String { "\(path): \(operation.rawValue) failed: \(reason)" }
}
