import BluetoothWire
import NIOCore
import NIOWebSocket

/// The connection of a viewer of the page: events to it, commands from it. Confined to the page's event loop.
final class ViewerHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  /// The maximum number of octets of a message from the viewer.
  static let longestMessage = 65_536
  /// The maximum number of octets that wait for a viewer: one that has more stops reading, and is cut off.
  static let maximumBacklog = 4 << 20
  /// The maximum number of its messages that wait for their answers.
  private static let maximumQuestions = 64

  private let feed: PageFeed
  private let commands: PageCommands
  private var channel: (any Channel)?
  private var backlog = 0
  private var questions = 0
  private var isClosing = false
  /// True if the viewer has got the whole world.
  var knowsWorld = false

  init(_ feed: PageFeed, _ commands: PageCommands) { (self.feed, self.commands) = (feed, commands) }

  // The channel is active when the upgrade adds this handler.
  func handlerAdded(context: ChannelHandlerContext) {
    channel = context.channel
    if !feed.add(self) { close("too many viewers: \(PageFeed.maximumViewers) are connected") }
  }

  func handlerRemoved(context: ChannelHandlerContext) { end() }

  func channelInactive(context: ChannelHandlerContext) { end() }

  private func end() {
    feed.remove(self)
    channel = nil
  }

  // MARK: To the viewer

  func send(_ message: JSONText) { send(ByteBuffer(string: message.line)) }

  func send(_ octets: ByteBuffer) {
    guard let channel, !isClosing else { return }
    guard backlog + octets.readableBytes <= Self.maximumBacklog else {
      // It would read the reason only after the backlog.
      isClosing = true
      return channel.close(promise: nil)
    }
    write(octets, channel)
  }

  private func write(_ octets: ByteBuffer, _ channel: any Channel) {
    let count = octets.readableBytes
    backlog += count
    channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .text, data: octets)).assumeIsolated().whenComplete {
      [self] _ in backlog -= count
    }
  }

  /// Sends a last message, and closes the connection.
  func close(_ reason: String) {
    guard let channel, !isClosing else { return }
    write(ByteBuffer(string: JSONText.object([("type", .text("bye")), ("reason", .text(reason))]).line), channel)
    isClosing = true
    var code = channel.allocator.buffer(capacity: 2)
    code.write(webSocketErrorCode: .goingAway)
    channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .connectionClose, data: code)).whenComplete { _ in
      channel.close(promise: nil)
    }
  }

  // MARK: From the viewer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text: receive(frame.unmaskedData)
    case .ping:
      context.writeAndFlush(
        wrapOutboundOut(WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)), promise: nil)
    case .connectionClose: context.close(promise: nil)
    case .pong: break
    default: context.close(promise: nil)
    }
  }

  private func receive(_ octets: ByteBuffer) {
    guard !isClosing else { return }
    let message: PageMessage
    do { message = try PageMessage(octets) } catch {
      return send(PageCommands.answer(to: error.id, error: error.reason))
    }
    guard questions < Self.maximumQuestions else {
      return send(
        PageCommands.answer(to: message.id, error: "\(Self.maximumQuestions) messages wait for their answers"))
    }
    guard let channel else { return }
    questions += 1
    let (gate, own) = (feed.gate, NIOLoopBound(self, eventLoop: channel.eventLoop))
    commands.carryOut(message) { answer in
      gate.execute {
        own.value.questions -= 1
        own.value.send(answer)
      }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
