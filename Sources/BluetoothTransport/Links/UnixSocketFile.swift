#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A socket in the file system that its owner alone may connect to.
package struct UnixSocketFile: Sendable {
  package let path: String
  /// Bound, not listening yet. Whoever takes it closes it.
  package let descriptor: CInt
  private let device: dev_t
  private let inode: ino_t

  /// Makes the file, in place of one at which nobody listens any more.
  package init(path: String) throws(TransportError) {
    // An empty one would be no file: anybody could connect.
    guard !path.isEmpty, path.utf8.count <= TransportSpecifier.longestPath, !path.utf8.contains(0) else {
      throw TransportError("a socket's path has 1 to \(TransportSpecifier.longestPath) octets")
    }
    try Self.removeStale(path)
    let descriptor = try Self.newSocket()
    // A file that others can reach must not exist for a moment: the system takes the mode from the socket.
    fchmod(descriptor, 0o600)
    guard Self.withAddress(path, { systemBind(descriptor, $0, $1) }) == 0 else {
      let code = errno
      close(descriptor)
      throw TransportError("a socket can't be made there: \(TransportError.reason(code))")
    }
    chmod(path, 0o600)
    var status = stat()
    lstat(path, &status)
    self.path = path
    self.descriptor = descriptor
    device = status.st_dev
    inode = status.st_ino
  }

  /// Removes the file, unless it is another one's by now.
  package func remove() {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
    unlink(path)
  }

  private static func removeStale(_ path: String) throws(TransportError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard UInt32(status.st_mode) & UInt32(S_IFMT) == UInt32(S_IFSOCK) else {
      throw TransportError("there is a file that is no socket: it is left alone")
    }
    let descriptor = try newSocket()
    defer { close(descriptor) }
    guard withAddress(path, { systemConnect(descriptor, $0, $1) }) != 0, errno == ECONNREFUSED else {
      throw TransportError("somebody listens there already")
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
    guard descriptor >= 0 else { throw TransportError("there is no socket to be had: \(TransportError.reason(errno))") }
    return descriptor
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
  ) -> CInt {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // Specifiers have no longer paths: the octet that ends it is there.
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
