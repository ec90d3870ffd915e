// Design: claimed folders
//
// A process that uses a controller elsewhere gets its store by `FileBondStore.claimed`: a lock on `in-use.lock`, held
// as long as the daemon has the store, or the first numbered folder beside it that no process holds. So two processes
// on one air are two devices. A program that only reads or changes bonds claims nothing.

import BluetoothDaemon
import BluetoothWire

/// The reservation of an adapter's folder, or of the sessions in it, for one program, by a lock on a file in it. The
/// system releases the lock when the program ends, in any way.
final class FolderLock: Sendable {
  /// The name of the lock file of a folder. Lock files are empty and are never removed: otherwise two programs could
  /// hold locks at the same time, one of them on the removed file.
  static let fileName = "in-use.lock"
  /// The name of the lock file of the sessions of apps.
  static let sessionsFileName = "sessions.lock"

  private let file: OpenFile
  private let files: SystemFiles

  /// Locks the folder, or with another file a part of it; nil if another program holds the lock.
  init?(folder: String, fileName: String = fileName, files: SystemFiles) throws(FileError) {
    guard let file = try files.claim(folder + "/" + fileName) else { return nil }
    self.file = file
    self.files = files
  }

  /// Sets the file's modification time to now.
  func touch() { files.touch(file) }

  deinit { files.close(file) }
}

extension FileBondStore {
  /// The maximum number of programs that use an adapter at the same time, each as a separate device.
  static let maximumClaims = 256

  /// Returns a store that this program alone uses: in the adapter's folder or, if another program has reserved this
  /// folder, in the first free numbered folder next to it. The reservation lasts until the last copy of the store is
  /// gone.
  ///
  /// Programs that use one adapter at the same time are therefore different devices, and each keeps its identity if
  /// they are started in the same order.
  package static func claimed(
    folder: String, adapter: String, limit: Int = PlatformPolicy.macos.bondLimit
  ) throws(BondStoreError) -> FileBondStore {
    try claimed(folder: folder, adapter: adapter, limit: limit, files: SystemFiles())
  }

  static func claimed(
    folder: String, adapter: String, limit: Int = PlatformPolicy.macos.bondLimit, files: SystemFiles
  ) throws(BondStoreError) -> FileBondStore {
    for number in 1...maximumClaims {
      var store = FileBondStore(
        folder: folder, adapter: adapter, number: number, limit: limit, process: processNumber(), files: files)
      if try store.claimFolder() { return store }
    }
    throw .crowded(limit: maximumClaims)
  }

  private mutating func claimFolder() throws(BondStoreError) -> Bool {
    try prepareFolder()
    let folder = path
    claim = try system { () throws(FileError) in try FolderLock(folder: folder, files: SystemFiles()) }
    return claim != nil
  }
}
