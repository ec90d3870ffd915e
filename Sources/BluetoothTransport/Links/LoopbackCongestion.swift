import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Channel {
  /// Selects the simple congestion control algorithm Reno for a TCP connection within this machine, where no packet
  /// is lost and no other traffic competes. BBR, the default of many systems for the Internet, takes 1.7 µs of a
  /// round trip of 25 µs.
  ///
  /// Must be called on the channel's event loop. Has no effect on channels that are not local TCP connections, or if
  /// the system does not support the option.
  func simplifyLoopback() {
    guard let remoteAddress, remoteAddress.isLoopback, let options = self as? any SocketOptionProvider else { return }
    // The name, padded with zeros.
    let reno = (UInt8(ascii: "r"), UInt8(ascii: "e"), UInt8(ascii: "n"), UInt8(ascii: "o"), UInt8(0))
    #if os(Linux)
      options.unsafeSetSocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_CONGESTION), value: reno)
        .whenFailure { _ in }
    #endif
  }
}

extension SocketAddress {
  /// True if the address belongs to this machine.
  var isLoopback: Bool {
    guard let ipAddress else { return false }
    return ipAddress == "::1" || ipAddress.hasPrefix("127.") || ipAddress.hasPrefix("::ffff:127.")
  }
}
