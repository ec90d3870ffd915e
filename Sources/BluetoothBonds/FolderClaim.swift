import BluetoothDaemon

/// An adapter's folder that one program has for itself, by a lock on a file in it. The system lets the lock go when the
/// program ends, however it does.
final class FolderClaim: Sendable {
  /// The file, which stays and says nothing: one that is removed could be locked by two.
  static let fileName = "in-use.lock"

  private let file: OpenFile
  private let files: SystemFiles

  /// nil: somebody else has it.
  init?(folder: String, files: SystemFiles) throws(FileError) {
    guard let file = try files.claim(folder + "/" + Self.fileName) else { return nil }
    self.file = file
    self.files = files
  }

  /// Marks the file: its time of change is now.
  func touch() { files.touch(file) }

  deinit { files.close(file) }
}

extension FileBondStore {
  /// How many programs may use an adapter at a time, each as a device of its own.
  static let maximumClaims = 256

  /// The store of an adapter that nobody else is to be: the adapter's folder, or, as long as another program has that, the
  /// first numbered one beside it that is free. It is this store's, and that of its copies, until the last of them is gone.
  ///
  /// So programs that use one adapter at the same time are different devices, and each is who it was if they are started in
  /// the same order.
  package static func claimed(
    folder: String, adapter: String, limit: Int = SystemProfile.apple.bondLimit
  ) throws(BondStoreError) -> FileBondStore {
    for number in 1...maximumClaims {
      var store = FileBondStore(
        folder: folder, adapter: adapter, number: number, limit: limit, process: processNumber(), files: SystemFiles())
      if try store.claimFolder() { return store }
    }
    throw .crowded(limit: maximumClaims)
  }

  private mutating func claimFolder() throws(BondStoreError) -> Bool {
    files.close(try open())
    let folder = path
    claim = try system { () throws(FileError) in try FolderClaim(folder: folder, files: SystemFiles()) }
    return claim != nil
  }
}
