#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that a capture goes to, written from its beginning. Confined to one thread at a time.
package final class CaptureFile {
  /// Why a file could not be made or written.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    package let path: String
    package let reason: String
    /// True if the reader of a pipe has closed it.
    package let isReaderGone: Bool

    init(path: String, reason: String) {
      (self.path, self.reason, isReaderGone) = (path, reason, false)
    }

    /// - Parameter code: the C library's error number.
    init(path: String, code: Int32) {
      (self.path, reason, isReaderGone) = (path, String(cString: strerror(code)), code == EPIPE)
    }

    package var description: String { "\(path): \(reason)" }
  }

  package let path: String
  /// Negative while a FIFO has no reader, and after the end.
  private var descriptor: Int32 = -1
  private var claim: ClaimedFile?
  /// True if the file has a size, and a beginning to go back to. A pipe or a terminal has not.
  package let isRegular: Bool

  /// Creates the file, or empties the one that is there. Never waits: a FIFO without a reader is opened when it is written.
  ///
  /// - Parameters:
  ///   - isPrivate: only the owner may read the file.
  ///   - isNew: the file replaces whatever has its name, a link or a FIFO too, instead of being written through that name.
  /// - Throws: `Failure`, also if this process reads or writes the file already.
  package init(path: String, isPrivate: Bool = false, isNew: Bool = false) throws(Failure) {
    self.path = path
    if isNew { unlink(path) }
    var status = stat()
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (isNew ? O_EXCL | O_NOFOLLOW : 0)
    descriptor = systemOpen(path, flags, isPrivate ? 0o600 : 0o644)
    if descriptor >= 0 {
      fstat(descriptor, &status)
    } else {
      let code = errno
      guard code == ENXIO, stat(path, &status) == 0, Self.isKind(status, S_IFIFO) else {
        throw Failure(path: path, code: code)
      }
    }
    isRegular = Self.isKind(status, S_IFREG)
    claim = ClaimedFile(writing: status)
    guard claim != nil else {
      throw Failure(path: path, reason: "this program reads or writes the file already, perhaps by another name")
    }
    guard isRegular else { return }
    guard ftruncate(descriptor, 0) == 0 else { throw Failure(path: path, code: errno) }
    // A file that was there has kept its mode.
    if isPrivate { fchmod(descriptor, 0o600) }
  }

  /// Takes over an open descriptor, such as one end of a pipe, which must not block.
  package init(descriptor: Int32, path: String) {
    (self.path, self.descriptor, isRegular) = (path, descriptor, false)
  }

  deinit { close() }

  /// Closes the file; another capture may write it from now on.
  package func close() {
    // The claim goes first: a file that is made right after the close may get the number of this one.
    claim = nil
    if descriptor >= 0 { _ = systemClose(descriptor) }
    descriptor = -1
  }

  /// Writes all of `bytes`. Waits for the reader of a pipe.
  ///
  /// - Parameter replaced: the number of octets at the file's end that are overwritten; a pipe has none.
  package func append(_ bytes: [UInt8], over replaced: Int = 0) throws(Failure) {
    if !isOpen { try openWaiting() }
    if replaced > 0, lseek(descriptor, off_t(-replaced), SEEK_CUR) < 0 { throw Failure(path: path, code: errno) }
    var rest = bytes[...]
    while !rest.isEmpty { rest = rest.dropFirst(try write(rest, waiting: -1)) }
  }

  private func openWaiting() throws(Failure) {
    let code = open(O_WRONLY | O_CLOEXEC)
    if code != 0 { throw Failure(path: path, code: code) }
  }

  /// False while a FIFO has no reader.
  package var isOpen: Bool { descriptor >= 0 }

  /// Opens a FIFO if it has a reader.
  ///
  /// - Returns: true if the file is open.
  package func openIfRead() throws(Failure) -> Bool {
    if isOpen { return true }
    switch open(O_WRONLY | O_CLOEXEC | O_NONBLOCK) {
    case 0: return true
    case ENXIO: return false
    case let code: throw Failure(path: path, code: code)
    }
  }

  /// Returns the C library's error number; 0: the file is open.
  private func open(_ flags: Int32) -> Int32 {
    guard claim != nil else { return EBADF }
    repeat { descriptor = systemOpen(path, flags, 0) } while descriptor < 0 && errno == EINTR
    return descriptor < 0 ? errno : 0
  }

  /// Writes a first part of `bytes`.
  ///
  /// - Parameter milliseconds: the time to wait for room in a pipe; negative: without limit.
  /// - Returns: the number of octets written; 0 if there was no room.
  package func write(_ bytes: ArraySlice<UInt8>, waiting milliseconds: Int32) throws(Failure) -> Int {
    while true {
      let (count, code) = FileSignals.blocked {
        bytes.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      }
      if count >= 0 { return count }
      switch code {
      case EINTR: continue
      case EAGAIN:
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&wanted, 1, milliseconds) == 0 { return 0 }
      default: throw Failure(path: path, code: code)
      }
    }
  }

  private static func isKind(_ status: stat, _ kind: mode_t) -> Bool {
    UInt32(status.st_mode) & UInt32(S_IFMT) == UInt32(kind)
  }
}

// Methods of the same names hide these.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
private func systemWrite(_ descriptor: Int32, _ octets: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, octets, count)
}
