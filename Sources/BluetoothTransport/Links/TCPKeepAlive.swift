import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The TCP keepalive settings, which detect that the other end of a connection has vanished without closing it.
struct TCPKeepAlive {
  typealias Value = ChannelOptions.Types.SocketOption.Value

  /// The idle time in seconds before the first keepalive probe.
  var idle: Value
  /// The time in seconds between two probes.
  var interval: Value
  /// The number of unanswered probes after which the connection is considered lost.
  var count: Value
  /// The time in milliseconds for which sent octets may remain unacknowledged; nil for the system's default.
  var unacknowledged: Value?

  /// Settings for the connection to a controller: considered lost after 25 s, with or without data in flight.
  static let ofController = TCPKeepAlive(idle: 10, interval: 5, count: 3, unacknowledged: 25_000)
  /// Settings for the connection of a host: considered lost after 60 s. Unacknowledged data does not shorten that time,
  /// because the host may be stopped in a debugger.
  static let ofHost = TCPKeepAlive(idle: 30, interval: 10, count: 3, unacknowledged: nil)

  /// The socket options that the system supports.
  var options: [(ChannelOptions.Types.SocketOption, Value)] {
    var result = [(option(.socket, .so_keepalive), Value(1))]
    #if os(Linux)
      func add(_ name: CInt, _ value: Value) { result.append((option(.tcp, .init(rawValue: name)), value)) }
      add(TCP_KEEPIDLE, idle)
      add(TCP_KEEPINTVL, interval)
      add(TCP_KEEPCNT, count)
      if let unacknowledged { add(TCP_USER_TIMEOUT, unacknowledged) }
    #endif
    return result
  }

  private func option(
    _ level: NIOBSDSocket.OptionLevel, _ name: NIOBSDSocket.Option
  ) -> ChannelOptions.Types.SocketOption {
    ChannelOptions.Types.SocketOption(level: level, name: name)
  }
}
