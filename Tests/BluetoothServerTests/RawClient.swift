import BluetoothDaemon
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@testable import BluetoothDaemonProtocol

/// A client that speaks to a server's socket by itself.
final class RawClient: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer

  private struct State {
    var parser = FrameParser(maximumLength: DaemonProtocol.maximumFrameLength)
  }

  private let state = NIOLockedValueBox(State())
  let messages: AsyncStream<ServerMessage>
  private let continuation: AsyncStream<ServerMessage>.Continuation
  private static let numbering = PeerNumbering(number: { $0.index }, peer: { PeerHandle(index: $0) })

  private init() { (messages, continuation) = AsyncStream.makeStream() }

  static func connect(_ path: String, reads: Bool = true) async throws -> (RawClient, any Channel) {
    let client = RawClient()
    return (client, try await client.bootstrap(reads: reads).connect(unixDomainSocketPath: path).get())
  }

  /// Connects to a port of this machine.
  static func connect(port: Int) async throws -> (RawClient, any Channel) {
    let client = RawClient()
    return (client, try await client.bootstrap(reads: true).connect(host: "127.0.0.1", port: port).get())
  }

  private func bootstrap(reads: Bool) -> ClientBootstrap {
    ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.autoRead, value: reads)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(self) }
      }
  }

  static func frame(_ message: ClientMessage) throws -> ByteBuffer {
    ByteBuffer(bytes: try #require(message.encode(numbering).frame()))
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    state.withLockedValue { state in
      state.parser.append(buffer.readableBytesView)
      while let frame = try? state.parser.next() {
        if let message = try? ServerMessage(frame, Self.numbering) { continuation.yield(message) }
      }
    }
  }

  func channelInactive(context: ChannelHandlerContext) { continuation.finish() }
  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// Returns the reason with which the server has closed the connection; nil: it gave none.
  func refusal() async -> RefusalReason? {
    var result: RefusalReason?
    for await message in messages {
      if case .refused(let refusal) = message { result = refusal.reason }
    }
    return result
  }
}
