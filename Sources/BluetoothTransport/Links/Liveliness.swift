import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How the other end of a TCP connection is noticed to have vanished without a word.
struct Liveliness {
  typealias Value = ChannelOptions.Types.SocketOption.Value

  /// Seconds in which nothing comes before the other end is asked whether it is there, and those between two such questions;
  /// how many of them remain unanswered before it counts as gone.
  var idle: Value
  var interval: Value
  var count: Value
  /// Milliseconds for which octets may wait to be acknowledged; nil: as long as the system waits.
  var unacknowledged: Value?

  /// A controller is gone after 25 s, whether anything is on its way to it or not.
  static let ofController = Liveliness(idle: 10, interval: 5, count: 3, unacknowledged: 25_000)
  /// A host keeps its place for a minute: it may have been stopped by somebody who looks for a fault in it.
  static let ofHost = Liveliness(idle: 30, interval: 10, count: 3, unacknowledged: nil)

  /// The options of a connection, where the system has them.
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
