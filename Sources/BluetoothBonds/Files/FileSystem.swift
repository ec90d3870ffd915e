import BluetoothDaemon

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
