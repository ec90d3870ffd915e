import BluetoothTransport
import DequeModule
import Dispatch
import NIOCore
import NIOPosix

/// A socket with packet boundaries: that of a characteristic which BlueZ gives to one program, or that of an L2CAP
/// channel. Confined to its event loop.
final class BlueZSocket: ChannelInboundHandler, @unchecked Sendable {
  // Unchecked: only code on the event loop uses the variables.
  typealias InboundIn = ByteBuffer

  /// The longest packet.
  private static let maximumLength = 65_535

  private let loop: any EventLoop
  private let receive: ([UInt8]) -> Void
  private var ended: (() -> Void)?
  private var channel: (any Channel)?
  private var isPaused = false
  /// The packets that wait: a second one in the same write would lose the boundary between both.
  private var waiting: Deque<(packet: [UInt8], then: (Bool) -> Void)> = []
  /// Gets the end of the write that runs; nil: none runs.
  private var sent: ((Bool) -> Void)?
  private var isClosed = false
  private var closesWhenSent = false

  /// Takes over a descriptor that does not block.
  ///
  /// - Parameters:
  ///   - receive: takes a packet.
  ///   - ended: called once, when either side has closed the socket.
  init(
    _ descriptor: CInt, on loop: any EventLoop, receive: @escaping ([UInt8]) -> Void, ended: @escaping () -> Void
  ) {
    (self.loop, self.receive, self.ended) = (loop, receive, ended)
    NIOPipeBootstrap(group: loop).channelOption(.autoRead, value: false)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.maximumLength))
      .takingOwnershipOfDescriptor(inputOutput: descriptor)
      .whenComplete { [self] result in
        switch result {
        case .success(let channel): opened(channel)
        case .failure:
          closeDescriptor(descriptor)
          finish()
        }
      }
  }

  private func opened(_ channel: any Channel) {
    guard !isClosed else { return channel.close(promise: nil) }
    self.channel = channel
    do { try channel.pipeline.syncOperations.addHandler(self) } catch { return finish() }
    setReading()
    sendNext()
  }

  /// Stops and continues to take packets, so that the other side waits.
  func setPaused(_ isPaused: Bool) {
    loop.preconditionInEventLoop()
    guard self.isPaused != isPaused else { return }
    self.isPaused = isPaused
    setReading()
  }

  private func setReading() {
    _ = try? channel?.syncOptions?.setOption(.autoRead, value: !isPaused)
  }

  /// Sends a packet when there is room, and then calls `then` with false if it was lost.
  func send(_ packet: [UInt8], then: @escaping (Bool) -> Void = { _ in }) {
    guard !isClosed else { return then(false) }
    waiting.append((packet, then))
    sendNext()
  }

  private func sendNext() {
    guard let channel, sent == nil else { return }
    guard let (packet, then) = waiting.popFirst() else {
      if closesWhenSent { close() }
      return
    }
    sent = then
    channel.writeAndFlush(ByteBuffer(bytes: packet)).whenComplete { [self] result in
      let then = sent.take()
      if case .success = result { then?(true) } else { then?(false) }
      sendNext()
    }
  }

  /// Closes the socket after the packets that wait.
  func closeWhenSent() {
    closesWhenSent = true
    sendNext()
  }

  /// Closes the socket. Packets that wait are lost.
  func close() {
    guard !isClosed else { return }
    if let channel { channel.close(promise: nil) } else { finish() }
  }

  private func finish() {
    guard !isClosed else { return }
    isClosed = true
    let lost = waiting
    waiting = []
    for (_, then) in lost { then(false) }
    let ended = ended.take()
    ended?()
  }

  // MARK: ChannelInboundHandler

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    if let octets = buffer.readBytes(length: buffer.readableBytes), !octets.isEmpty { receive(octets) }
  }

  func channelInactive(context: ChannelHandlerContext) { finish() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Waits for a descriptor that becomes readable or writable, on an event loop.
final class BlueZDescriptorWatch: @unchecked Sendable {
  // Unchecked: the functions of a source can be called from any thread.
  private let source: any DispatchSourceProtocol

  /// - Parameter body: called on the event loop for each event, until `cancel`, which the owner must call. The
  ///   descriptor stays that of the owner.
  init(_ descriptor: CInt, forWriting: Bool, on loop: any EventLoop, _ body: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "CoreBluetooth.bluez")
    source =
      forWriting
      ? DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
      : DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler { [self] in
      // The next event comes after this one is handled.
      source.suspend()
      loop.execute {
        body()
        self.source.resume()
      }
    }
    source.activate()
  }

  /// Ends the watch, and then calls `then` on any thread.
  func cancel(then: @escaping @Sendable () -> Void) {
    source.setCancelHandler(handler: then)
    source.cancel()
  }
}
