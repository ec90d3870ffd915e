// Overview
//
// A controller may be outside the process: behind TCP, a Unix socket, a serial line or Linux's kernel.
// BluetoothTransport carries HCI packets to it and from it, and knows nothing of what they mean.
//
// The idea: one handler for all ways. An `H4Handler` at each end turns octets into HCI packets and back, and tells its
// `H4Receiver` when the link opens, delivers, loses synchronization or closes. The ways differ only below: the channel
// that `Transport.connect` opens at the host's end, or `H4Listener` at the controller's end. On a three-wire UART an
// `H5Handler` is between the line and the `H4Handler`.
//
// Callers: BluetoothAdapters' `TransportRunner` connects a host to its controller; BluetoothAir's servers listen for
// hosts; BluetoothServer and the programs use the same sockets, paths and limits. The folder `System` has what modules
// above need of the operating system.
//
// Invariants:
// - All code of a link runs on its event loop.
// - Received octets are copied once, into the adapter's pool, regardless of their segmentation; packets that are ready
//   leave in one write.
// - A stream that loses packet boundaries reports it once and skips octets up to the Reset that resynchronizes both
//   sides (BluetoothWire's `H4Decoder`).
// - Packets that wait are bounded: `H4Handler.isWritable` is the flow control of the outgoing direction.
// - Connections of clients that have not said who they are are limited, and displace each other fairly
//   (`StrangerTable.swift`).
//
// Where to begin: `TransportSpecifier.swift` for the forms of addresses, this file for connecting, `H4Handler.swift`
// for the stream; `ThreeWireLink.swift` for H5; `UserChannel.swift` and `SerialLine.swift` for the system calls, whose
// C side is CBluetoothTransport.
//
// Specification: Vol 4, Part A (UART transport, H4); Vol 4, Part D (three-wire UART, H5).

import BluetoothWire
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
    var framing = SerialFraming.h4
    var octetTime = TimeSpan.zero
    switch specifier {
    case .tcp(let host, let port): channel = tcp(on: loop).connect(host: host, port: port)
    case .unix(let path): channel = client(on: loop).connect(unixDomainSocketPath: path)
    case .serial(let device, let baud, let line):
      framing = line
      octetTime = .nanoseconds(line.bitsPerOctet * 1_000_000_000 / Int64(baud))
      channel = pipe(on: loop) { () throws(TransportError) in try SerialLine.open(device, baud: baud, line) }
    case .hci(let number):
      channel = pipe(on: loop) { () throws(TransportError) in try UserChannel.open(number) }
    }
    let (chosen, time) = (framing, octetTime)
    return channel.flatMap { install(bound, chosen, octetTime: time, on: $0) }
      .flatMapErrorThrowing { throw TransportError(connectingTo: specifier, $0) }
  }

  /// Connects through a descriptor that is already open. The descriptor is closed with `link`, or if this function
  /// fails. Must be called on `loop`.
  package static func adopt(
    _ descriptor: CInt, _ framing: SerialFraming = .h4, with link: H4Handler, on loop: any EventLoop
  ) -> EventLoopFuture<Void> {
    let bound = NIOLoopBound(link, eventLoop: loop)
    return pipe(on: loop) { () throws(TransportError) in descriptor }
      .flatMap { install(bound, framing, octetTime: .zero, on: $0) }
  }

  /// Adds `link` to the pipeline; for H5, when the link is established.
  private static func install(
    _ link: NIOLoopBound<H4Handler>, _ framing: SerialFraming, octetTime: TimeSpan, on channel: any Channel
  ) -> EventLoopFuture<Void> {
    channel.simplifyLoopback()
    let established = channel.eventLoop.makePromise(of: Void.self)
    do {
      switch framing {
      case .h4:
        try channel.pipeline.syncOperations.addHandler(link.value)
        established.succeed()
      case .h5:
        try channel.pipeline.syncOperations.addHandler(
          H5Handler(for: link.value, octetTime: octetTime, established: established))
      }
      try channel.syncOptions?.setOption(.autoRead, value: true)
    } catch {
      established.fail(error)
    }
    return established.futureResult
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
    switch self {
    case .hci, .serial(_, _, .h5): .packets
    case .tcp, .unix, .serial(_, _, .h4): .stream
    }
  }
}
