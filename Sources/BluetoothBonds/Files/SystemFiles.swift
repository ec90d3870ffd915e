import BluetoothDaemon
import BluetoothTransport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The file system of this machine.
package struct SystemFiles: FileSystem {
  /// The number of attempts to get a lock that another program holds, 10 ms apart. Writing a bond takes some
  /// milliseconds.
  var lockAttempts: Int

  package init(lockAttempts: Int = 100) { self.lockAttempts = lockAttempts }

  /// Returns the folder for programs' data of this user: XDG_DATA_HOME, or else `.local/share` in the home folder; nil:
  /// neither is an absolute path · XDG Base Directory Specification.
  static func dataFolder(environment: (String) -> String?) -> String? {
    if let folder = environment("XDG_DATA_HOME"), folder.hasPrefix("/") { return folder }
    guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
    return home + (home.hasSuffix("/") ? "" : "/") + ".local/share"
  }

  /// An identifier of the machine's present run, from its start on; nil: the system has none.
  static let boot: String? = {
    #if os(Linux)
      let text = (try? SystemFiles().read("/proc/sys/kernel/random/boot_id", limit: 64)) ?? []
      let identifier = String(decoding: text.prefix { $0 > 0x20 }, as: UTF8.self)
      return identifier.isEmpty ? nil : identifier
    #else
      return nil
    #endif
  }()

  /// The host name of this machine.
  package static var machineName: String? {
    var name = [CChar](repeating: 0, count: 256)
    let isKnown = gethostname(&name, name.count - 1) == 0
    let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return isKnown && !text.isEmpty ? text : nil
  }

  private func failure(_ operation: FileError.Operation, _ path: String) -> FileError {
    let code = errno
    return FileError(operation, path, code: code, reason: String(cString: strerror(code)))
  }

  /// Repeats a call that a signal has interrupted.
  private func retried(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result >= 0 || errno != EINTR { return result }
    }
  }

  func status(of path: String) throws(FileError) -> FileStatus? {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw failure(.look, path)
    }
    let kind: FileStatus.Kind =
      switch UInt32(status.st_mode) & UInt32(S_IFMT) {
      case UInt32(S_IFREG): .file
      case UInt32(S_IFDIR): .folder
      default: .other
      }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    let modified = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    return FileStatus(
      kind: kind, mode: UInt32(status.st_mode) & 0o7777, isOwn: status.st_uid == geteuid(), modified: modified)
  }

  func makeFolder(_ path: String) throws(FileError) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(.makeFolder, path) }
  }

  func setMode(_ mode: UInt32, of path: String) throws(FileError) {
    guard chmod(path, mode_t(mode)) == 0 else { throw failure(.setMode, path) }
  }

  package func names(in folder: String) throws(FileError) -> [String] {
    guard let stream = opendir(folder) else { throw failure(.list, folder) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { buffer in
        String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  package func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    // Refuses symbolic links and does not block on FIFOs and devices.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(.read, path) }
    defer { _ = systemClose(descriptor) }
    guard let bytes = InputFile.octets(from: descriptor, upTo: limit + 1) else { throw failure(.read, path) }
    return bytes
  }

  func create(_ path: String) throws(FileError) -> OpenFile {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure(.create, path) }
    return OpenFile(number: descriptor, path: path)
  }

  func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(FileError) -> Int {
    let count = retried {
      let (count, code) = FileSignals.blocked {
        bytes.withUnsafeBytes { systemWrite(file.number, $0.baseAddress, $0.count) }
      }
      errno = code
      return count
    }
    guard count >= 0 else { throw failure(.write, file.path) }
    return count
  }

  func openFolder(_ path: String) throws(FileError) -> OpenFile {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(.open, path) }
    return OpenFile(number: descriptor, path: path)
  }

  func lock(_ folder: OpenFile, waits: Bool) throws(FileError) -> Bool {
    var attempts = waits ? lockAttempts : 1
    while retried({ Int(flock(folder.number, LOCK_EX | LOCK_NB)) }) != 0 {
      let code = errno
      attempts -= 1
      guard code == EWOULDBLOCK, attempts > 0 else { return try refusedLock(folder, code, waits: waits) }
      usleep(10_000)
    }
    return true
  }

  private func refusedLock(_ folder: OpenFile, _ code: Int32, waits: Bool) throws(FileError) -> Bool {
    switch code {
    case EWOULDBLOCK where waits:
      throw FileError(.lock, folder.path, code: code, reason: "another program holds the lock")
    case EWOULDBLOCK: return false
    // The file system has no locks. Writing is safe without them: each process writes to a separate temporary file.
    case ENOLCK, ENOTSUP, EINVAL, EBADF: return false
    default: throw FileError(.lock, folder.path, code: code, reason: String(cString: strerror(code)))
    }
  }

  /// Opens a file that only this user can access, creating it if necessary, and locks it until it is closed or this
  /// process has ended; nil: another program holds the lock.
  func claim(_ path: String) throws(FileError) -> OpenFile? {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw failure(.open, path) }
    var isTaken = true
    // A call of `isClaimed` in another program may hold the lock for a moment.
    for attempt in 0..<3 where isTaken {
      if attempt > 0 { usleep(5_000) }
      isTaken = retried({ Int(flock(descriptor, LOCK_EX | LOCK_NB)) }) != 0 && errno == EWOULDBLOCK
    }
    // On a file system without locks, other programs can't be detected.
    guard isTaken else { return OpenFile(number: descriptor, path: path) }
    _ = systemClose(descriptor)
    return nil
  }

  /// Returns true if a program has locked the file with `claim`; nil: there is no such file.
  func isClaimed(_ path: String) -> Bool? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { unlockAndClose(descriptor) }
    return retried({ Int(flock(descriptor, LOCK_SH | LOCK_NB)) }) != 0 && errno == EWOULDBLOCK
  }

  /// Sets the file's modification time to now.
  func touch(_ file: OpenFile) { futimens(file.number, nil) }

  /// Sleeps for 100 ms.
  package static func pause() { usleep(100_000) }

  func sync(_ handle: OpenFile) throws(FileError) {
    guard retried({ Int(fsync(handle.number)) }) == 0 else { throw failure(.sync, handle.path) }
  }

  func close(_ handle: OpenFile) { unlockAndClose(handle.number) }

  /// Closes a file after the release of its lock. The close alone would not release the lock at once while another
  /// thread starts a process: the process has a copy of the descriptor until it executes its program.
  private func unlockAndClose(_ descriptor: Int32) {
    _ = flock(descriptor, LOCK_UN)
    _ = systemClose(descriptor)
  }

  func rename(_ path: String, to new: String) throws(FileError) {
    guard systemRename(path, new) == 0 else { throw failure(.rename, new) }
  }

  func remove(_ path: String) throws(FileError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw failure(.remove, path) }
  }
}

// The C library's functions that have the same names as methods of `SystemFiles`

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, buffer, count)
}

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemRename(_ path: String, _ new: String) -> Int32 { rename(path, new) }

/// Returns the ID of this process.
func processNumber() -> Int32 { getpid() }
