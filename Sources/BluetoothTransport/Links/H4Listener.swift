import NIOCore
import NIOPosix

/// Listens for incoming connections of hosts or controllers. Each connection is a separate H4 link.
package final class H4Listener: Sendable {
  /// The address of the listener, with the port that the system has assigned if port 0 was requested.
  package let specifier: TransportSpecifier
  private let channel: any Channel
  private let file: UnixSocketFile?

  private init(_ specifier: TransportSpecifier, channel: any Channel, file: UnixSocketFile?) {
    self.specifier = specifier
    self.channel = channel
    self.file = file
  }

  /// The size of the receive buffer of a connection, in octets. It is small at first, because there may be thousands of
  /// connections; on a busy connection it grows up to the total size of a controller's ACL data buffers.
  private static let receiveCapacity = AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1_024, maximum: 16_384)
  /// The maximum number of connections that the system queues before they are accepted.
  private static let backlog: ChannelOptions.Types.SocketOption.Value = 1_024

  /// Starts to listen. The future fails with a `TransportError`.
  ///
  /// - Parameters:
  ///   - specifier: `tcp` or `unix`. The file of a Unix domain socket has mode 0600. It replaces a stale socket file
  ///     and is removed when the listener closes.
  ///   - accept: creates the link of a connection, on the connection's event loop.
  package static func bind(
    _ specifier: TransportSpecifier, on group: any EventLoopGroup, accept: @escaping @Sendable () -> H4Handler
  ) -> EventLoopFuture<H4Listener> {
    let bootstrap = ServerBootstrap(group: group).serverChannelOption(.backlog, value: Int32(backlog))
      // Accepts one connection per read event: a rejected connection has released its descriptor before the next one is
      // accepted, so that the number of the lowest free descriptor shows how many are in use.
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      // Backs off while no descriptor is available.
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
        }
      }
      .childChannelOption(.recvAllocator, value: receiveCapacity)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          channel.simplifyLoopback()
          try channel.pipeline.syncOperations.addHandler(accept())
        }
      }
    switch specifier {
    case .tcp(let host, let port):
      var tcp = bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      for (option, value) in TCPKeepAlive.ofHost.options { tcp = tcp.childChannelOption(option, value: value) }
      return tcp.bind(host: host, port: port)
        .map { H4Listener(.tcp(host: host, port: $0.localAddress?.port ?? port), channel: $0, file: nil) }
        .flatMapErrorThrowing { throw TransportError(TransportError.text($0)) }
    case .unix(let path):
      do throws(TransportError) {
        let file = try UnixSocketFile(path: path)
        return bootstrap.withBoundSocket(file.descriptor)
          .map { H4Listener(specifier, channel: $0, file: file) }
          .flatMapErrorThrowing {
            file.remove()
            throw TransportError(TransportError.text($0))
          }
      } catch {
        return group.any().makeFailedFuture(error)
      }
    case .serial, .hci:
      return group.any().makeFailedFuture(TransportError("can't listen on this transport: expected tcp or unix"))
    }
  }

  /// Stops accepting connections. Established connections stay open.
  package func close() -> EventLoopFuture<Void> {
    file?.remove()
    return channel.close().flatMapErrorThrowing { error in
      guard case ChannelError.alreadyClosed = error else { throw error }
    }
  }
}
