import BluetoothTransport
import BluetoothWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The output file of a capture: a regular file, a device, or a FIFO that a program reads. Confined to one thread at a
/// time.
package final class CaptureFile {
  /// An error that prevented the creation or writing of a file.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    package let path: String
    package let reason: String
    /// True if the reader of a pipe has closed it.
    package let isReaderGone: Bool

    package init(path: String, reason: String) {
      (self.path, self.reason, isReaderGone) = (path, reason, false)
    }

    /// Creates a failure with the message of the C library.
    ///
    /// - Parameter code: the C library's error number.
    init(path: String, code: Int32) {
      (self.path, reason, isReaderGone) = (path, String(cString: strerror(code)), code == EPIPE)
    }

    static func claimed(_ path: String) -> Failure {
      Failure(path: path, reason: "this program already reads or writes the file, possibly under another name")
    }

    package var description: String { "\(path.printable): \(reason)" }
  }

  package let path: String
  /// The file descriptor; negative while a FIFO has no reader, and after the end.
  private var descriptor: Int32 = -1
  private var claim: ClaimedFile?
  /// True for a FIFO, which can be opened again for another reader; false for an anonymous pipe.
  private let isFIFO: Bool
  /// The watch on the FIFO's readers; nil if the file is not a FIFO, or without inotify.
  private let watch: PipeWatch?
  /// True if the file has a size and can be rewound, unlike a pipe or a terminal.
  package let isRegular: Bool

  /// Creates the file, or empties the existing one. Does not wait for a FIFO's reader: without one, the FIFO is opened
  /// later, by `openIfRead` or `append`.
  ///
  /// - Parameters:
  ///   - isPrivate: true if only the owner may read the file.
  ///   - isNew: true to delete an existing file, link or FIFO at `path` first; false to write to it.
  /// - Throws: `Failure`, also if this process reads or writes the file already.
  package init(path: String, isPrivate: Bool = false, isNew: Bool = false) throws(Failure) {
    self.path = path
    // The C library would cut the path at the NUL.
    guard !path.utf8.contains(0) else { throw Failure(path: path, reason: "a path can't contain a NUL") }
    var status = stat()
    if isNew {
      if lstat(path, &status) == 0, ClaimedFile.isClaimed(status) { throw Failure.claimed(path) }
      unlink(path)
    }
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
    isFIFO = Self.isKind(status, S_IFIFO)
    watch = isFIFO ? PipeWatch(path: path) : nil
    claim = ClaimedFile(writing: status)
    guard claim != nil else { throw Failure.claimed(path) }
    guard isRegular else { return }
    guard ftruncate(descriptor, 0) == 0 else { throw Failure(path: path, code: errno) }
    // An existing file keeps its mode when it is opened.
    if isPrivate { fchmod(descriptor, 0o600) }
  }

  /// Takes over an open descriptor, such as one end of a pipe. The descriptor must be in non-blocking mode.
  package init(descriptor: Int32, path: String) {
    (self.path, self.descriptor, isRegular, isFIFO, watch) = (path, descriptor, false, false, nil)
  }

  deinit { close() }

  /// Closes the file and ends the claim on it, so that another capture may write the file.
  package func close() {
    // The claim is released first: a file that is created right after the close may get the same inode number.
    claim = nil
    closeDescriptor()
  }

  private func closeDescriptor() {
    if descriptor >= 0 { _ = systemClose(descriptor) }
    descriptor = -1
  }

  /// Writes all of `bytes`, and waits for the reader of a pipe.
  ///
  /// - Parameter replaced: the number of octets at the file's end to overwrite; 0 for a pipe.
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

  /// True if another file may be created in the same folder; false for a device such as /dev/null.
  package var mayHaveCompanion: Bool { isRegular || isFIFO }

  /// True if the file is open; false while a FIFO has no reader.
  package var isOpen: Bool { descriptor >= 0 }

  /// Opens a FIFO if a program has opened it for reading.
  ///
  /// - Returns: true if the file is open now or was open before.
  package func openIfRead() throws(Failure) -> Bool {
    if isOpen { return true }
    switch open(O_WRONLY | O_CLOEXEC | O_NONBLOCK) {
    case 0: return true
    case ENXIO: return false
    case let code: throw Failure(path: path, code: code)
    }
  }

  // MARK: The reader of a FIFO

  /// The change of a FIFO's reader since the last call of `takeReaderChange`.
  enum ReaderChange {
    case none
    /// No program reads the FIFO any more. The capture has closed the FIFO; `openIfRead` opens it again.
    case gone
    /// A program has closed the FIFO, but a program still reads the FIFO: a new reader, or one of several. The unread
    /// data of the former reader are discarded.
    case replaced
  }

  /// A descriptor that becomes readable when the reader may have changed; nil without a watch. Without a watch, only a
  /// failed write shows a change.
  var changeDescriptor: Int32? { watch?.descriptor }

  /// Returns the change of the reader since the last call. Closes the FIFO if it has no reader any more.
  func takeReaderChange() -> ReaderChange {
    guard let watch, watch.takeClosing(), isOpen else { return .none }
    if isReaderMissing {
      closeForReaders()
      return .gone
    }
    discardUnread()
    // Ignore the close by `discardUnread` itself.
    _ = watch.takeClosing()
    return .replaced
  }

  /// Closes a FIFO, to open it again when another program reads it.
  ///
  /// - Returns: false if the file is not a FIFO, or if `close` has been called.
  @discardableResult
  func closeForReaders() -> Bool {
    guard isFIFO, claim != nil else { return false }
    closeDescriptor()
    _ = watch?.takeClosing()
    return true
  }

  private var isReaderMissing: Bool {
    var status = pollfd(fd: descriptor, events: 0, revents: 0)
    return poll(&status, 1, 0) > 0 && status.revents & Int16(POLLERR) != 0
  }

  /// Empties the FIFO: its content was meant for the former reader and may begin in the middle of a packet.
  private func discardUnread() {
    let reader = systemOpen(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
    guard reader >= 0 else { return }
    var octets = [UInt8](repeating: 0, count: 1 << 16)
    while read(reader, &octets, octets.count) > 0 {}
    _ = systemClose(reader)
  }

  /// Opens the file. Returns the C library's error number; 0 on success.
  private func open(_ flags: Int32) -> Int32 {
    guard claim != nil else { return EBADF }
    repeat { descriptor = systemOpen(path, flags, 0) } while descriptor < 0 && errno == EINTR
    return descriptor < 0 ? errno : 0
  }

  /// Writes `bytes` from the beginning, as many as the file accepts.
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
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&request, 1, milliseconds) == 0 { return 0 }
      default: throw Failure(path: path, code: code)
      }
    }
  }

  private static func isKind(_ status: stat, _ kind: mode_t) -> Bool {
    UInt32(status.st_mode) & UInt32(S_IFMT) == UInt32(kind)
  }
}

// Inside `CaptureFile`, methods of the same names hide these functions.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
private func systemWrite(_ descriptor: Int32, _ octets: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, octets, count)
}
