import BluetoothTransport
import NIOCore
import NIOPosix

/// An HTTP server whose answer to every request is the text of a registry.
final class MetricsEndpoint: Sendable {
  /// The maximum number of connections at a time, so that they leave the file descriptors of the process to the clients
  /// of the server. A further connection closes an older one.
  private static let maximumConnections = 16

  private typealias Connections = NIOLoopBoundBox<StrangerTable<Handler>>

  private let group: MultiThreadedEventLoopGroup
  private let channel: any Channel
  /// The port, chosen by the system if 0 was requested.
  let port: Int

  /// Starts to listen.
  init(_ registry: MetricsRegistry, host: String, port: Int) throws {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let connections = Connections.makeBoxSendingValue(
      StrangerTable(limit: Self.maximumConnections), eventLoop: group.next())
    do {
      channel = try ServerBootstrap(group: group).serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
          }
        }
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(Handler(registry, connections))
          }
        }
        .bind(host: host, port: port).wait()
      self.port = channel.localAddress?.port ?? port
    } catch {
      try? group.syncShutdownGracefully()
      throw error
    }
  }

  func stop() { try? group.syncShutdownGracefully() }

  /// Answers one request and closes the connection.
  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The maximum length of a request, and the time for it.
    private static let limit = 8_192
    private static let time = TimeAmount.seconds(5)

    private let registry: MetricsRegistry
    private let connections: Connections
    private var channel: (any Channel)?
    private var received: [UInt8] = []
    private var timer: Scheduled<Void>?

    init(_ registry: MetricsRegistry, _ connections: Connections) {
      self.registry = registry
      self.connections = connections
    }

    func channelActive(context: ChannelHandlerContext) {
      let channel = context.channel
      self.channel = channel
      timer = context.eventLoop.scheduleTask(in: Self.time) { channel.close(promise: nil) }
      let displaced = connections.value.add(self, from: ConnectionOrigin(channel.remoteAddress))
      displaced?.channel?.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      timer?.cancel()
      connections.value.remove(self)
      channel = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      received += unwrapInboundIn(data).readableBytesView
      guard received.count <= Self.limit else { return context.close(promise: nil) }
      let text = String(decoding: received, as: UTF8.self)
      guard text.contains("\r\n\r\n") || text.contains("\n\n") else { return }
      received.removeAll()
      let isFound = text.hasPrefix("GET /metrics ") || text.hasPrefix("GET / ")
      let body = isFound ? registry.text : "not found\n"
      let head =
        "HTTP/1.1 \(isFound ? "200 OK" : "404 Not Found")\r\nContent-Type: text/plain; version=0.0.4\r\n"
        + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
      let channel = context.channel
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head + body))).whenComplete { _ in
        channel.close(promise: nil)
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}
