import BluetoothDaemon
import NIOCore

/// The receiver of what a server sends.
protocol ServerChannelReceiver: AnyObject {
  func received(_ frame: Frame, on channel: ServerChannel)
  /// All frames that have arrived have been received.
  func receivedAll(on channel: ServerChannel)
  /// The connection has ended. `violation`: the octets were none of this protocol; nil: the other side has closed it.
  func closed(_ channel: ServerChannel, violation: String?)
}

/// The connection to a server: frames in both directions. Confined to the event loop.
final class ServerChannel: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The maximum number of octets that wait for a server that does not read.
  private static let maximumWaiting = 4 << 20

  private weak var receiver: (any ServerChannelReceiver)?
  private var context: ChannelHandlerContext?
  private var parser = FrameParser(maximumLength: DaemonProtocol.maximumHelloLength)
  /// The octets that the socket has no room for, and those of the current turn.
  private var waiting: [UInt8] = []
  private var hasEnded = false

  init(_ receiver: any ServerChannelReceiver) { self.receiver = receiver }

  /// Accepts frames of all lengths from now on: the other side has proved to be a server.
  func acceptLongFrames() {
    context?.eventLoop.preconditionInEventLoop()
    parser.maximumLength = DaemonProtocol.maximumFrameLength
  }

  /// Appends a frame to the output, which `flush` writes.
  func send(_ frame: [UInt8]) {
    context?.eventLoop.assertInEventLoop()
    guard !hasEnded else { return }
    waiting += frame
    if waiting.count > Self.maximumWaiting { end(violation: nil) }
  }

  /// Writes the output if the socket has room.
  func flush() {
    context?.eventLoop.assertInEventLoop()
    guard let context, !waiting.isEmpty, context.channel.isWritable else { return }
    let octets = waiting
    waiting.removeAll(keepingCapacity: octets.count <= 1 << 16)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: octets)), promise: nil)
  }

  /// Closes the connection without a report.
  func close() {
    context?.eventLoop.preconditionInEventLoop()
    hasEnded = true
    context?.close(promise: nil)
    context = nil
  }

  private func end(violation: String?) {
    guard !hasEnded else { return }
    close()
    receiver?.closed(self, violation: violation)
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !hasEnded else { return }
    parser.append(unwrapInboundIn(data).readableBytesView)
    do throws(FrameParser.InvalidLength) {
      while !hasEnded, let frame = try parser.next() { receiver?.received(frame, on: self) }
    } catch {
      end(violation: "a message of \(error.length) octets")
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if !hasEnded { receiver?.receivedAll(on: self) }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) { flush() }

  func channelInactive(context: ChannelHandlerContext) { end(violation: nil) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { end(violation: nil) }
}
