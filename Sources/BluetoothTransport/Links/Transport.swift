import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Connects to controllers.
package enum Transport {
  /// The maximum number of octets per read. It must exceed the longest HCI packet: a read from a kernel HCI socket
  /// returns one packet, and discards the octets that exceed the buffer.
  private static let receiveCapacity = 16_384

  /// The maximum time to establish a TCP or Unix socket connection.
  private static let connectTime = TimeAmount.seconds(10)

  /// Connects to the controller that `specifier` names, and adds `link` to the connection's pipeline. The future fails
  /// with a `TransportError`.
  ///
  /// Must be called on `loop`, to which `link` is confined from then on.
  package static func connect(
    _ specifier: TransportSpecifier, with link: H4Handler, on loop: any EventLoop
  ) -> EventLoopFuture<Void> {
    let bound = NIOLoopBound(link, eventLoop: loop)
    let channel: EventLoopFuture<any Channel>
    switch specifier {
    case .tcp(let host, let port): channel = tcp(on: loop).connect(host: host, port: port)
    case .unix(let path): channel = client(on: loop).connect(unixDomainSocketPath: path)
    case .serial(let device, let baud):
      channel = pipe(on: loop) { () throws(TransportError) in try SerialLine.open(device, baud: baud) }
    case .hci(let number):
      channel = pipe(on: loop) { () throws(TransportError) in try UserChannel.open(number) }
    }
    return channel.flatMapThrowing { try install(bound.value, on: $0) }
      .flatMapErrorThrowing { throw TransportError(connectingTo: specifier, $0) }
  }

  /// Connects through a descriptor that is already open. The descriptor is closed with `link`, or if this function
  /// fails. Must be called on `loop`.
  package static func adopt(
    _ descriptor: CInt, with link: H4Handler, on loop: any EventLoop
  ) -> EventLoopFuture<Void> {
    let bound = NIOLoopBound(link, eventLoop: loop)
    return pipe(on: loop) { () throws(TransportError) in descriptor }
      .flatMapThrowing { try install(bound.value, on: $0) }
  }

  private static func install(_ link: H4Handler, on channel: any Channel) throws {
    channel.simplifyLoopback()
    try channel.pipeline.syncOperations.addHandler(link)
    try channel.syncOptions?.setOption(.autoRead, value: true)
  }

  private static func client(on loop: any EventLoop) -> ClientBootstrap {
    // Data that arrives before the link is installed stays in the system's buffers.
    ClientBootstrap(group: loop).channelOption(.autoRead, value: false)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: receiveCapacity))
      .connectTimeout(connectTime)
  }

  private static func tcp(on loop: any EventLoop) -> ClientBootstrap {
    var bootstrap = client(on: loop).channelOption(.tcpOption(.tcp_nodelay), value: 1)
    for (option, value) in TCPKeepAlive.ofController.options {
      bootstrap = bootstrap.channelOption(option, value: value)
    }
    return bootstrap
  }

  private static func pipe(
    on loop: any EventLoop, open: () throws(TransportError) -> CInt
  ) -> EventLoopFuture<any Channel> {
    do throws(TransportError) {
      let descriptor = try open()
      return NIOPipeBootstrap(group: loop).channelOption(.autoRead, value: false)
        .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: receiveCapacity))
        .takingOwnershipOfDescriptor(inputOutput: descriptor)
        .flatMapErrorThrowing {
          SerialLine.close(descriptor)
          throw $0
        }
    } catch {
      return loop.makeFailedFuture(error)
    }
  }
}

extension TransportSpecifier {
  /// The way in which packets are written to this transport.
  package var writing: H4Handler.Writing {
    if case .hci = self { .packets } else { .stream }
  }
}
