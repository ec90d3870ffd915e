import BluetoothDaemon

/// The system calls of a store on disk. Each is a separate operation, so that tests can stop the store after any of
/// them.
protocol FileSystem: Sendable {
  /// Returns the status of `path` without following a symbolic link; nil: nothing is there.
  func status(of path: String) throws(FileError) -> FileStatus?
  /// Creates a folder that only this user can access.
  func makeFolder(_ path: String) throws(FileError)
  func setMode(_ mode: UInt32, of path: String) throws(FileError)
  /// Returns the names in a folder, in no particular order.
  func names(in folder: String) throws(FileError) -> [String]
  /// Reads a regular file; returns at most `limit` + 1 octets.
  func read(_ path: String, limit: Int) throws(FileError) -> [UInt8]
  /// Creates a file that only this user can access. It must not exist yet.
  func create(_ path: String) throws(FileError) -> OpenFile
  /// Writes a prefix of `bytes` and returns its length.
  func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(FileError) -> Int
  func openFolder(_ path: String) throws(FileError) -> OpenFile
  /// Locks out other programs that lock the same folder, until it is closed. With `waits` the call waits for the lock
  /// for a while and then throws, so that a stopped program that holds the lock does not block other programs
  /// indefinitely.
  ///
  /// - Returns: true if no other program holds the lock.
  func lock(_ folder: OpenFile, waits: Bool) throws(FileError) -> Bool
  /// Synchronizes a file's data or a folder's list to disk, so that it survives a loss of power.
  func sync(_ handle: OpenFile) throws(FileError)
  func close(_ handle: OpenFile)
  /// Renames a file, replacing an existing file with the new name.
  func rename(_ path: String, to new: String) throws(FileError)
  func remove(_ path: String) throws(FileError)
}

/// An open file or folder.
struct OpenFile: Hashable, Sendable {
  let number: Int32
  let path: String
}

struct FileStatus: Hashable, Sendable {
  enum Kind: Hashable, Sendable { case file, folder, other }

  var kind: Kind
  /// The nine permission bits and the three bits above them.
  var mode: UInt32
  /// True if it belongs to the user who runs this process.
  var isOwn: Bool
  /// The modification time, in nanoseconds since 1970-01-01 00:00:00 UTC.
  var modified: Int64 = 0
}
