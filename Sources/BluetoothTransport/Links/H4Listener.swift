import NIOCore
import NIOPosix

/// Where hosts, or controllers, connect from elsewhere: each connection is an H4 link of its own.
package final class H4Listener: Sendable {
  /// Where it listens, with the port that the system has chosen if 0 was asked for.
  package let specifier: TransportSpecifier
  private let channel: any Channel
  private let file: UnixSocketFile?

  private init(_ specifier: TransportSpecifier, channel: any Channel, file: UnixSocketFile?) {
    self.specifier = specifier
    self.channel = channel
    self.file = file
  }

  /// How many octets of a connection are read at a time: few, as there may be a thousand connections, and each keeps as much;
  /// more of one that has more to say, as many as a controller's buffers hold.
  private static let receiveCapacity = AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1_024, maximum: 16_384)
  /// How many connections the system keeps that were not accepted yet.
  private static let backlog: ChannelOptions.Types.SocketOption.Value = 1_024

  /// Listens. Fails with a `TransportError`.
  ///
  /// - Parameters:
  ///   - specifier: `tcp` or `unix`. A socket's file has mode 0600, takes the place of one at which nobody listens any more,
  ///     and goes with the listener.
  ///   - accept: makes the link of a connection, on the connection's event loop.
  package static func bind(
    _ specifier: TransportSpecifier, on group: any EventLoopGroup, accept: @escaping @Sendable () -> H4Handler
  ) -> EventLoopFuture<H4Listener> {
    let bootstrap = ServerBootstrap(group: group).serverChannelOption(.backlog, value: Int32(backlog))
      // One connection at a time: one that is turned away has given its descriptor back before the next one is accepted, so
      // that the lowest free descriptor tells how many are in use.
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      // Without room for another descriptor it waits before it tries again.
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
      for (option, value) in Liveliness.ofHost.options { tcp = tcp.childChannelOption(option, value: value) }
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
      return group.any().makeFailedFuture(TransportError("nobody can listen there: right would be tcp or unix"))
    }
  }

  /// Takes no more connections; those that there are stay.
  package func close() -> EventLoopFuture<Void> {
    file?.remove()
    return channel.close().flatMapErrorThrowing { error in
      guard case ChannelError.alreadyClosed = error else { throw error }
    }
  }
}
