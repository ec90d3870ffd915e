import NIOConcurrencyHelpers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The file of a Unix domain socket.
package struct UnixSocketFile: Sendable {
  package let path: String
  /// The bound socket, which is not listening yet. The caller owns it and must close it.
  package let descriptor: CInt
  private let device: dev_t
  private let inode: ino_t

  /// The files that have been created and not removed.
  private static let existing = NIOLockedValueBox<[UnixSocketFile]>([])

  /// Binds a socket to `path`. Replaces a stale socket file, on which no process listens.
  ///
  /// - Parameter mode: who may connect, as in `chmod`; without it, only the owner of the file.
  package init(path: String, mode: mode_t = 0o600) throws(TransportError) {
    // An empty path would name an abstract socket instead of a file: any user could connect.
    guard !path.isEmpty, path.utf8.count <= TransportSpecifier.longestPath, !path.utf8.contains(0) else {
      throw TransportError("invalid socket path: expected 1 to \(TransportSpecifier.longestPath) octets")
    }
    try Self.removeStale(path)
    let descriptor = try Self.newSocket()
    // The lock, so that there is no file that `removeAll` does not know.
    let result: Result<UnixSocketFile, TransportError> = Self.existing.withLockedValue { existing in
      do throws(TransportError) {
        let file = try UnixSocketFile(binding: descriptor, to: path, mode: mode)
        existing.append(file)
        return .success(file)
      } catch { return .failure(error) }
    }
    self = try result.get()
  }

  private init(binding descriptor: CInt, to path: String, mode: mode_t) throws(TransportError) {
    // `bind` gives the file the mode of the socket, so that other users can't access the file even for a moment.
    fchmod(descriptor, mode)
    guard Self.withAddress(path, { systemBind(descriptor, $0, $1) }) == 0 else {
      let code = errno
      close(descriptor)
      throw TransportError("can't create the socket: \(TransportError.reason(code))")
    }
    chmod(path, mode)
    var status = stat()
    lstat(path, &status)
    self.path = path
    self.descriptor = descriptor
    device = status.st_dev
    inode = status.st_ino
  }

  /// Removes all files, before a signal ends the program.
  package static func removeAll() {
    let files = existing.withLockedValue { files in
      defer { files = [] }
      return files
    }
    for file in files { file.removeFile() }
  }

  /// Removes the file, unless another process has replaced it.
  package func remove() {
    Self.existing.withLockedValue { $0.removeAll { $0.descriptor == descriptor && $0.inode == inode } }
    removeFile()
  }

  private func removeFile() {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
    unlink(path)
  }

  private static func removeStale(_ path: String) throws(TransportError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard UInt32(status.st_mode) & UInt32(S_IFMT) == UInt32(S_IFSOCK) else {
      throw TransportError("the file exists and is not a socket")
    }
    let descriptor = try newSocket()
    defer { close(descriptor) }
    guard withAddress(path, { systemConnect(descriptor, $0, $1) }) != 0, errno == ECONNREFUSED else {
      throw TransportError("another program is already listening on this socket")
    }
    unlink(path)
  }

  private static func newSocket() throws(TransportError) -> CInt {
    #if canImport(Darwin)
      let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
    #elseif canImport(Musl)
      let descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
    #else
      let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      let descriptor = socket(AF_UNIX, kind, 0)
    #endif
    guard descriptor >= 0 else { throw TransportError("can't create a socket: \(TransportError.reason(errno))") }
    return descriptor
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
  ) -> CInt {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // Paths are at most `longestPath` octets long, so the terminating zero is present.
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

private func systemBind(_ socket: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
  bind(socket, address, length)
}

private func systemConnect(_ socket: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
  connect(socket, address, length)
}
