import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The place of a message bus · D-Bus Specification, "Server Addresses".
package struct MessageBus: Hashable, Sendable {
  enum Place: Hashable, Sendable {
    case path(String)
    /// A name of Linux's abstract sockets.
    case abstract(String)
  }

  let place: Place

  /// Reads the first address that this program can use; nil: there is none.
  package init?(address: String) {
    for address in address.split(separator: ";") where address.hasPrefix("unix:") {
      for part in address.dropFirst("unix:".count).split(separator: ",") {
        guard let equals = part.firstIndex(of: "="), let value = Self.unescaped(part[part.index(after: equals)...])
        else { continue }
        switch part[..<equals] {
        case "path": place = .path(value)
        case "abstract": place = .abstract(value)
        default: continue
        }
        return
      }
    }
    return nil
  }

  /// The bus of the user's session; nil: this process belongs to no such session.
  package static func ofSession(_ environment: [String: String]) -> MessageBus? {
    if let address = environment["DBUS_SESSION_BUS_ADDRESS"] { return MessageBus(address: address) }
    guard let folder = environment["XDG_RUNTIME_DIR"], access(folder + "/bus", F_OK) == 0 else { return nil }
    return MessageBus(address: "unix:path=\(folder)/bus")
  }

  /// Replaces octets that are written as % and two digits.
  private static func unescaped(_ text: Substring) -> String? {
    var octets: [UInt8] = []
    var rest = text.utf8[...]
    while let octet = rest.popFirst() {
      guard octet == UInt8(ascii: "%") else {
        octets.append(octet)
        continue
      }
      guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
      octets.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: octets, as: UTF8.self)
  }

  /// Connects, and adds a handler to the connection.
  package func connect(on loop: any EventLoop, _ handler: DBusHandler) -> EventLoopFuture<any Channel> {
    let bootstrap = ClientBootstrap(group: loop).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler) }
    }
    switch place {
    case .path(let path): return bootstrap.connect(unixDomainSocketPath: path)
    case .abstract(let name):
      guard let descriptor = Self.connect(abstract: name) else {
        return loop.makeFailedFuture(IOError(errnoCode: errno, reason: "connect"))
      }
      return bootstrap.withConnectedSocket(descriptor)
    }
  }

  /// Connects to a Unix socket without a file. Returns the descriptor; nil: that fails, and `errno` has the reason.
  static func connect(abstract name: String) -> CInt? {
    #if os(Linux)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let octets: [UInt8] = [0] + Array(name.utf8)
      guard octets.count <= MemoryLayout.size(ofValue: address.sun_path) else {
        errno = ENAMETOOLONG
        return nil
      }
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
      // The programs that this one starts must not inherit the connection.
      #if canImport(Musl)
        let descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)
      #else
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      #endif
      guard descriptor >= 0 else { return nil }
      let length = socklen_t(MemoryLayout<sa_family_t>.size + octets.count)
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { systemConnect(descriptor, $0, length) }
      }
      guard result == 0 else {
        let code = errno
        close(descriptor)
        errno = code
        return nil
      }
      return descriptor
    #else
      return nil
    #endif
  }
}

/// The function of the system, whose name is that of a method.
private func systemConnect(_ descriptor: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
  connect(descriptor, address, length)
}
