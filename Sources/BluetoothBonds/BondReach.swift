/// Tells programs that share a folder of bonds of each other's changes.
///
/// The program that has claimed the folder looks at the folder's time of change, reads the bonds again when that is another
/// one, and marks its lock file afterwards. A program that has changed a bond waits for that mark.
extension FileBondStore {
  /// Tells if a change has reached the program that uses the adapter.
  package enum Reach: Hashable, Sendable {
    /// The program has taken the change in.
    case taken
    /// A program uses the adapter and has not taken the change in.
    case notTaken
    /// No program uses the adapter.
    case noProgram
    /// The folder is one of a simulated device, which does not say whether a program uses it.
    case unknown
  }

  package func lastChange() -> Int64? {
    guard let status = try? files.status(of: path) else { return 0 }
    return status.modified
  }

  package func acknowledgeChanges() { claim?.touch() }

  /// Waits until the program that uses the adapter has taken in the last change.
  ///
  /// - Parameter attempts: how often the mark is looked for, 100 ms apart.
  package func reach(attempts: Int = 40) -> Reach {
    let lock = path + "/" + FolderClaim.fileName
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
