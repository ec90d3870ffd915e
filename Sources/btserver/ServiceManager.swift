#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The service manager that has started this program: systemd, or one that speaks its protocols.
enum ServiceManager {
  /// The number of the first descriptor that a service manager passes · sd_listen_fds(3).
  private static let firstDescriptor: CInt = 3

  /// True if a service manager, or a program that it has started, runs this process · systemd.exec(5).
  static var runsThisProcess: Bool { variable("INVOCATION_ID") != nil }

  /// The listening sockets that the service manager has opened for this process. They are taken once.
  static func takeSockets() -> [CInt] {
    defer {
      for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) }
    }
    guard let process = variable("LISTEN_PID").flatMap({ Int32($0) }), process == getpid(),
      let count = variable("LISTEN_FDS").flatMap({ CInt($0) }), (1...64).contains(count)
    else { return [] }
    let descriptors = Array(firstDescriptor..<firstDescriptor + count)
    for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return descriptors
  }

  /// Tells the service manager a state such as `READY=1` · sd_notify(3). Does nothing if there is none.
  static func notify(_ state: String) {
    guard let path = variable("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@") else { return }
    #if os(Linux)
      #if canImport(Musl)
        let descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)
      #else
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      #endif
      guard descriptor >= 0 else { return }
      defer { close(descriptor) }
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      var octets = Array(path.utf8)
      // The name of an abstract socket begins with a zero.
      if path.hasPrefix("@") { octets[0] = 0 }
      guard octets.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
      let length = socklen_t(MemoryLayout<sa_family_t>.size + octets.count)
      let message = Array(state.utf8)
      _ = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(descriptor, message, message.count, CInt(MSG_NOSIGNAL), $0, length)
        }
      }
    #endif
  }

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
