// Design: files on disk
//
// - A file is written under a temporary name, synchronized, renamed, and then the folder is synchronized. The next load
//   removes leftovers, unless a process holds the folder's lock, as writers do. A writer waits for the lock for a
//   second and then fails with an error, so that a stopped program does not stop other programs.
// - A file that cannot be read is reported, hides no other file, and stays as it is. The adapter's own file is the
//   exception: if it cannot be read, that is an error, since with new keys no peer would know the adapter.
// - Files have the mode 0600, the adapter's folder 0700. More permissive modes are corrected, and for files this is
//   reported. The lists about apps (`apps.json`, `sessions.json`) have no keys and count also if other users can read
//   them; a list that others can write is removed. Symbolic links and files of other owners are not read.

import BluetoothDaemon

/// The file operations of `FileBondStore`.
extension FileBondStore {
  /// Turns a failed system call into an error of the store.
  func system<T>(_ body: () throws(FileError) -> T) throws(BondStoreError) -> T {
    do { return try body() } catch { throw .file(error) }
  }

  // MARK: The folder

  /// Restricts the folder to this user; throws if it belongs to another user.
  func protect(_ status: FileStatus) throws(BondStoreError) {
    guard status.kind == .folder, status.isOwn else { throw .untrustedFolder(path) }
    if status.mode & 0o077 != 0 {
      try system { () throws(FileError) in try files.setMode(0o700, of: path) }
    }
  }

  /// Creates the folder if necessary, and restricts it to this user. Waits for no other program.
  func prepareFolder() throws(BondStoreError) {
    if let status = try system({ () throws(FileError) in try files.status(of: path) }) {
      try protect(status)
    } else {
      try system { () throws(FileError) in try makeFolders() }
    }
  }

  /// Opens the folder, creating it if necessary. No other program writes to it until it is closed.
  func open() throws(BondStoreError) -> OpenFile {
    try prepareFolder()
    return try system { () throws(FileError) in
      let folder = try files.openFolder(path)
      do throws(FileError) {
        // On file systems without locks, temporary names that differ by process keep the writers apart.
        _ = try files.lock(folder, waits: true)
        return folder
      } catch {
        files.close(folder)
        throw error
      }
    }
  }

  /// Creates the folder and its missing parents, each synchronized to disk.
  private func makeFolders() throws(FileError) {
    var missing = [path]
    while let parent = missing.last.flatMap(Self.parent(of:)), try files.status(of: parent) == nil {
      missing.append(parent)
    }
    while let folder = missing.popLast() {
      try files.makeFolder(folder)
      let parent = try files.openFolder(Self.parent(of: folder) ?? ".")
      defer { files.close(parent) }
      try files.sync(parent)
    }
  }

  /// Returns the parent folder; nil: the path has no parent other than the current folder or the root.
  static func parent(of path: String) -> String? {
    guard let slash = path.lastIndex(of: "/") else { return nil }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  // MARK: Writing

  /// Replaces the file with this name atomically: at any time, either the complete old file or the complete new file
  /// exists.
  func replace(_ name: String, by contents: [UInt8], in folder: OpenFile) throws(FileError) {
    let temporary = path + "/" + name + "." + String(process) + Self.temporarySuffix
    try files.remove(temporary)
    do {
      try write(contents, to: temporary)
      try files.rename(temporary, to: path + "/" + name)
    } catch {
      // Remove the temporary file, which may hold keys. If the removal fails, the next load tries again.
      try? files.remove(temporary)
      throw error
    }
    try files.sync(folder)
  }

  private func write(_ contents: [UInt8], to path: String) throws(FileError) {
    let file = try files.create(path)
    defer { files.close(file) }
    var rest = contents[...]
    while !rest.isEmpty {
      rest = rest.dropFirst(try files.write(rest, to: file))
    }
    try files.sync(file)
  }

  // MARK: Reading

  /// Reads all bonds in the folder.
  ///
  /// - Parameter mends: true to restrict files that other users can access, and to remove temporary files.
  func read(mends: Bool) throws(BondStoreError) -> StoredBonds {
    var result = StoredBonds()
    var leftOver: [String] = []
    for name in try system({ () throws(FileError) in try files.names(in: path) }).sorted() {
      let file = path + "/" + name
      if Self.isLeftOver(name) {
        leftOver.append(file)
      } else if name == Self.secretsName {
        _ = contents(of: file, mends: mends, &result.problems)
      } else if name == FolderLock.fileName || name == FolderLock.sessionsFileName {
        // Lock files are empty.
      } else if name == Self.appsName || name == Self.sessionsName {
        // A list that other users could write is not trusted; `permissions` and `storedApps` check that.
      } else if let identity = Self.identity(fileName: name) {
        guard let contents = contents(of: file, mends: mends, &result.problems) else { continue }
        do throws(BondDecodingError) {
          let record = try BondRecord(jsonText: contents)
          guard record.identity == identity else {
            throw .malformed("the device does not match the file name")
          }
          result.records.append(record)
        } catch {
          result.problems.append(.init(path: file, reason: .init(error)))
        }
      } else {
        result.problems.append(.init(path: file, reason: .foreign))
      }
    }
    if mends { removeLeftOver(leftOver, &result.problems) }
    return result
  }

  /// Removes the files that were being written when power was lost or a process ended. Leaves them for later while
  /// another program is writing.
  private func removeLeftOver(_ paths: [String], _ problems: inout [StoredBonds.Problem]) {
    guard !paths.isEmpty else { return }
    do throws(FileError) {
      let folder = try files.openFolder(path)
      defer { files.close(folder) }
      guard try files.lock(folder, waits: false) else { return }
      for path in paths { try files.remove(path) }
      try files.sync(folder)
    } catch {
      problems.append(.init(path: path, reason: .unreadable(error)))
    }
  }

  /// Returns the content of a file and, if `mends` is true, restricts its mode; nil: the file does not exist, or the
  /// reason is added to the problems.
  func contents(of file: String, mends: Bool = true, _ problems: inout [StoredBonds.Problem]) -> [UInt8]? {
    do throws(FileError) {
      guard let status = try files.status(of: file) else { return nil }
      guard status.kind == .file, status.isOwn else {
        problems.append(.init(path: file, reason: .untrusted))
        return nil
      }
      let contents = try files.read(file, limit: Self.maximumSize)
      if status.mode & 0o077 != 0 {
        if mends { try files.setMode(0o600, of: file) }
        let mode = status.mode & 0o777
        problems.append(.init(path: file, reason: mends ? .wasOpen(mode: mode) : .isOpen(mode: mode)))
      }
      guard contents.count <= Self.maximumSize else {
        problems.append(.init(path: file, reason: .malformed("the file is longer than \(Self.maximumSize) octets")))
        return nil
      }
      return contents
    } catch {
      problems.append(.init(path: file, reason: .unreadable(error)))
      return nil
    }
  }
}

extension StoredBonds.Problem.Reason {
  init(_ error: BondDecodingError) {
    switch error {
    case .malformed(let text): self = .malformed(text)
    case .laterFormat(let format): self = .laterFormat(format)
    }
  }
}
