import ArgumentParser
import NIOCore
import NIOPosix

extension AirLoad {
  /// Answers each command with Command Complete and success, and does nothing else. It measures the cost of the sockets
  /// alone.
  struct NullServer: ParsableCommand {
    @OptionGroup var target: Target

    func run() throws {
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let channel = try ServerBootstrap(group: group)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2_048))
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Answers()) }
        }
        .bind(host: "127.0.0.1", port: target.port).wait()
      try channel.closeFuture.wait()
    }
  }

  /// The handler of a connection. It assumes that each read returns complete commands, as is the case for
  /// `round-trips`.
  private final class Answers: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private var answer = ByteBuffer()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var buffer = unwrapInboundIn(data)
      answer.clear()
      while let command = buffer.readBytes(length: 4) {
        buffer.moveReaderIndex(forwardBy: min(Int(command[3]), buffer.readableBytes))
        // The return parameters have the length of those of Read Local Version Information.
        answer.writeBytes([4, 0x0E, 12, 1, command[1], command[2], 0, 13, 1, 0, 13, 0xFF, 0xFF, 1, 0])
      }
      context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
    }
  }
}
