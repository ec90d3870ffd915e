import BluetoothTransport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// An answer to an HTTP request.
package struct HTTPAnswer: Sendable {
  package var status: HTTPResponseStatus
  package var fields: [(String, String)]
  package var body: ByteBuffer

  package init(_ status: HTTPResponseStatus, type: String, _ body: ByteBuffer, fields: [(String, String)] = []) {
    self.status = status
    self.fields = [("Content-Type", type)] + fields
    self.body = body
  }

  /// An answer with a line of text.
  package static func line(_ status: HTTPResponseStatus, _ text: String) -> HTTPAnswer {
    HTTPAnswer(status, type: "text/plain; charset=utf-8", ByteBuffer(string: text + "\n"))
  }
}

/// A small HTTP server: each connection has one request without a body, or becomes a WebSocket.
package final class HTTPListener: Sendable {
  /// The maximum number of connections that have not become WebSockets. A further one closes an older one.
  private static let maximumConnections = 16
  /// The maximum number of octets of a request, and the time for it.
  static let requestLimit = 16_384
  static let requestTime = TimeAmount.seconds(5)

  typealias Connections = NIOLoopBoundBox<StrangerTable<HTTPRequestHandler>>

  private let channel: any Channel
  /// The port, chosen by the system if 0 was requested.
  package var port: Int { channel.localAddress?.port ?? 0 }

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - webSockets: what accepts requests for WebSockets and takes their channels; nil: there are none.
  ///   - answer: returns the answer to a request. On the event loop.
  /// - Throws: an error if the address can't be used.
  package convenience init(
    host: String, port: Int, on loop: any EventLoop,
    answer: @escaping @Sendable (HTTPRequestHead) -> EventLoopFuture<HTTPAnswer>
  ) throws {
    try self.init(host: host, port: port, on: loop, webSockets: nil, answer: answer)
  }

  init(
    host: String, port: Int, on loop: any EventLoop, webSockets: NIOWebSocketServerUpgrader?,
    answer: @escaping @Sendable (HTTPRequestHead) -> EventLoopFuture<HTTPAnswer>
  ) throws {
    let connections = Connections.makeBoxSendingValue(
      StrangerTable(limit: Self.maximumConnections), eventLoop: loop)
    channel = try ServerBootstrap(group: loop).serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
        }
      }
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try Self.configure(channel, connections, webSockets, answer)
        }
      }
      .bind(host: host, port: port).wait()
  }

  private static func configure(
    _ channel: any Channel, _ connections: Connections, _ webSockets: NIOWebSocketServerUpgrader?,
    _ answer: @escaping @Sendable (HTTPRequestHead) -> EventLoopFuture<HTTPAnswer>
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    let limit = RequestLimitHandler()
    try pipeline.addHandler(limit)
    let handler = HTTPRequestHandler(connections, answer)
    // The upgrade removes the handlers of HTTP.
    let handlers = NIOLoopBound((handler, limit), eventLoop: channel.eventLoop)
    var upgrade: NIOHTTPServerUpgradeConfiguration?
    if let webSockets {
      upgrade = (
        upgraders: [webSockets],
        completionHandler: { context in
          let (handler, limit) = handlers.value
          context.pipeline.syncOperations.removeHandler(handler, promise: nil)
          context.pipeline.syncOperations.removeHandler(limit, promise: nil)
        }
      )
    }
    try pipeline.configureHTTPServerPipeline(withServerUpgrade: upgrade, withErrorHandling: true)
    try pipeline.addHandler(handler)
  }

  /// Closes the listening socket.
  package func close() -> EventLoopFuture<Void> { channel.close() }
}

/// Closes a connection whose request is too long.
final class RequestLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  private var count = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    count += unwrapInboundIn(data).readableBytes
    guard count <= HTTPListener.requestLimit else { return context.close(promise: nil) }
    context.fireChannelRead(data)
  }
}

/// Answers one request and closes the connection.
final class HTTPRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let connections: HTTPListener.Connections
  private let answer: @Sendable (HTTPRequestHead) -> EventLoopFuture<HTTPAnswer>
  private var channel: (any Channel)?
  private var timer: Scheduled<Void>?
  private var head: HTTPRequestHead?

  init(
    _ connections: HTTPListener.Connections,
    _ answer: @escaping @Sendable (HTTPRequestHead) -> EventLoopFuture<HTTPAnswer>
  ) {
    (self.connections, self.answer) = (connections, answer)
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    self.channel = channel
    timer = context.eventLoop.scheduleTask(in: HTTPListener.requestTime) { channel.close(promise: nil) }
    let displaced = connections.value.add(self, from: ConnectionOrigin(channel.remoteAddress))
    displaced?.channel?.close(promise: nil)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { end() }

  private func end() {
    timer?.cancel()
    connections.value.remove(self)
    channel = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body: break
    case .end:
      guard let head else { return }
      self.head = nil
      let context = NIOLoopBound(context, eventLoop: context.eventLoop)
      answer(head).hop(to: context.eventLoop).assumeIsolated().whenComplete { [self] result in
        write((try? result.get()) ?? .line(.internalServerError, "failed"), head, context.value)
      }
    }
  }

  private func write(_ answer: HTTPAnswer, _ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
    // The connection may have ended while the answer was made.
    guard let channel else { return }
    var fields = HTTPHeaders(answer.fields)
    fields.add(name: "Content-Length", value: "\(answer.body.readableBytes)")
    fields.add(name: "Connection", value: "close")
    context.write(
      wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: answer.status, headers: fields))), promise: nil)
    if request.method != .HEAD {
      context.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A refused WebSocket is answered as any other request.
    if !(error is NIOWebSocketUpgradeError) { context.close(promise: nil) }
  }
}
