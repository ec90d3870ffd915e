/// Synchronization of programs that share a folder of bonds.
///
/// The program that has claimed the folder checks the folder's modification time, reads the bonds again when the time
/// has changed, and then updates the modification time of its lock file. A program that has changed a bond waits for
/// that update.
extension FileBondStore {
  /// The outcome of `reach(attempts:)`: whether the program that uses the adapter has applied a change.
  package enum Reach: Hashable, Sendable {
    /// The program has applied the change.
    case taken
    /// A program uses the adapter and has not applied the change.
    case notTaken
    /// No program uses the adapter.
    case noProgram
    /// The folder belongs to a simulated device, which does not show whether a program uses it.
    case unknown
  }

  package func lastChange() -> Int64? {
    guard let status = try? files.status(of: path) else { return 0 }
    return status.modified
  }

  package func acknowledgeChanges() { claim?.touch() }

  /// Waits until the program that uses the adapter has applied the last change.
  ///
  /// - Parameter attempts: the number of checks, 100 ms apart.
  package func reach(attempts: Int = 40) -> Reach {
    let lock = path + "/" + FolderLock.fileName
    let change = lastChange() ?? 0
    for attempt in 0..<attempts {
      switch SystemFiles().isClaimed(lock) {
      case nil: return .unknown
      case false?: return .noProgram
      case true?: break
      }
      if let mark = try? files.status(of: lock)?.modified, mark >= change { return .taken }
      if attempt < attempts - 1 { SystemFiles.pause() }
    }
    return .notTaken
  }
}
