import BluetoothWire
import DequeModule
import NIOCore

/// The user of one end of an H4 link. All methods are called on the link's event loop.
package protocol H4Receiver: AnyObject {
  /// The link is open: packets may be sent.
  func opened(_ link: H4Handler)
  /// A complete packet has arrived. Packets sent during this call leave with the next `flush`.
  func receive(_ packet: HCI.Packet, on link: H4Handler)
  /// Packet boundaries have been lost. The handler discards octets until HCI_Reset or its Command Complete event, which
  /// is the next packet delivered · Vol 4, Part A, 4. On a three-wire UART: the other side has been reset, and gets no
  /// packet that was sent before; nothing is discarded.
  func synchronizationLost(on link: H4Handler)
  /// All octets that had arrived have been delivered. The receiver sends its responses and calls `flush` here.
  func receivedAll(on link: H4Handler)
  /// Flow control of the outgoing direction has changed; see `H4Handler.isWritable`.
  func writabilityChanged(on link: H4Handler)
  /// The link is closed. No other method is called afterwards.
  func closed(_ ending: H4Ending, on link: H4Handler)
}

extension H4Receiver {
  package func opened(_ link: H4Handler) {}
  package func writabilityChanged(on link: H4Handler) {}
}

/// The reason why an H4 link has ended.
package struct H4Ending: Error, Sendable, CustomStringConvertible {
  /// The text of a system error; nil if one of the two sides closed the link.
  package var reason: String?
  /// The number of octets received of an incomplete packet.
  package var cut: Int

  package var description: String {
    var text = reason ?? "closed"
    if cut > 0 { text += ", \(cut) octets into a packet" }
    return text
  }
}

/// One end of an H4 link. It splits the incoming stream into packets and batches outgoing packets, so that all
/// packets that are ready leave in one write. Confined to the event loop of its channel · Vol 4, Part A.
package final class H4Handler: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  /// The way in which packets are written to the channel.
  package enum Writing: Sendable {
    /// As a stream of octets.
    case stream
    /// One packet per write, as the kernel's HCI sockets and the three-wire UART require.
    case packets
  }

  /// The side of HCI that this handler serves.
  let side: H4Decoder.Side
  private let pool: PacketPool
  private let writing: Writing
  private let receiver: any H4Receiver
  // Unchecked: only one thread accesses these properties, and no access is in progress while another object is called.
  // The run-time exclusivity checks would cost more than a small packet.
  @exclusivity(unchecked) private var decoder: H4Decoder
  @exclusivity(unchecked) private var context: ChannelHandlerContext?
  @exclusivity(unchecked) private var pending = ByteBuffer()
  /// Packets queued behind a write that is in progress; only for `Writing.packets`.
  private var waiting: Deque<ByteBuffer> = []
  private var isWriting = false
  /// The text of the error that closes the link.
  private var failure: String?

  /// The maximum capacity in octets of the buffer that is kept for reuse. Larger buffers are released after the
  /// write.
  private static let keptCapacity = 65_536

  /// Creates the handler of one end of a link.
  ///
  /// - Parameters:
  ///   - side: the side of HCI that this handler serves, host or controller.
  ///   - pool: the pool for received octets, which belongs to the event loop.
  ///   - receiver: the delegate, retained until the link is closed.
  package init(
    for side: H4Decoder.Side, pool: PacketPool, writing: Writing = .stream, receiver: any H4Receiver
  ) {
    self.side = side
    self.pool = pool
    self.writing = writing
    self.receiver = receiver
    decoder = H4Decoder(for: side, pool: pool)
  }

  /// The number of complete packets that were dropped because they could not be decoded.
  package var dropped: Int { decoder.dropped }

  /// True while the channel accepts outgoing packets. While false, the other side does not read fast enough, and
  /// packets accumulate here. Also false after the link is closed.
  package var isWritable: Bool { takesMore }
  // The storage of `isWritable`: a separate property, because `@exclusivity(unchecked)` has no effect across modules.
  @exclusivity(unchecked) private var takesMore = false

  /// True while the link is open.
  package var isOpen: Bool { context != nil }

  /// The event loop to which the link is confined; nil while the link is not open.
  package var eventLoop: (any EventLoop)? { context?.eventLoop }

  // MARK: Sending

  /// Queues `packet` for the next `flush`. Does nothing if the link is not open.
  package func send(_ packet: HCI.Packet) {
    guard context != nil else { return }
    pending.writeHCIPacket(packet)
    if writing == .packets { flush() }
  }

  /// Queues arbitrary octets for the next `flush`, for tests of the other side's decoder.
  package func send(octets: [UInt8]) {
    if context != nil { pending.writeBytes(octets) }
  }

  /// True if octets are queued for `flush`.
  package var hasPending: Bool { pending.readableBytes > 0 }

  /// Writes all queued octets.
  package func flush() {
    guard let context, pending.readableBytes > 0 else { return }
    // Writing may call back synchronously, and the callee may send and flush more.
    var octets = ByteBuffer()
    swap(&octets, &pending)
    // A buffer grows to the next power of two, so its capacity does not exceed the limit if its content does not.
    let isKept = octets.readableBytes <= Self.keptCapacity
    switch writing {
    case .stream: context.writeAndFlush(wrapOutboundOut(octets), promise: nil)
    case .packets: write(octets, context)
    }
    guard isKept, pending.readableBytes == 0, self.context != nil else { return }
    octets.clear()
    pending = octets
  }

  /// Writes one packet at a time: the channel would merge two pending packets into one write.
  private func write(_ packet: ByteBuffer, _ context: ChannelHandlerContext) {
    guard !isWriting else { return waiting.append(packet) }
    isWriting = true
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { [self] _ in
      isWriting = false
      if let context = self.context, let next = waiting.popFirst() { write(next, context) }
    }
    context.writeAndFlush(wrapOutboundOut(packet), promise: promise)
  }

  /// Closes the link and notifies the receiver.
  package func close() { context?.close(promise: nil) }

  // MARK: Reading

  /// Starts or stops reading. A receiver that can't keep up stops reading; transport flow control then stops the other
  /// side.
  package func setReading(_ isReading: Bool) {
    guard let context else { return }
    context.channel.setOption(.autoRead, value: isReading).whenFailure { _ in }
  }

  // MARK: ChannelInboundHandler

  package func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { open(context) }
  }

  package func channelActive(context: ChannelHandlerContext) { open(context) }

  private func open(_ context: ChannelHandlerContext) {
    guard self.context == nil else { return }
    self.context = context
    takesMore = context.channel.isWritable
    receiver.opened(self)
  }

  package func handlerRemoved(context: ChannelHandlerContext) { end() }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    var octets = buffer.withUnsafeReadableBytes { ByteSlice($0, in: pool) }
    while self.context != nil, let output = decoder.next(&octets) {
      switch output {
      case .packet(let packet): receiver.receive(packet, on: self)
      case .synchronizationLost: receiver.synchronizationLost(on: self)
      }
    }
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    guard self.context != nil else { return }
    receiver.receivedAll(on: self)
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    guard self.context != nil else { return }
    takesMore = context.channel.isWritable
    receiver.writabilityChanged(on: self)
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is PeerReset else { return context.fireUserInboundEventTriggered(event) }
    guard self.context != nil else { return }
    // The packets were for the state that the other side has lost.
    pending.clear()
    waiting = []
    decoder = H4Decoder(for: side, pool: pool)
    receiver.synchronizationLost(on: self)
    receiver.receivedAll(on: self)
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    failure = TransportError.text(error)
    context.close(promise: nil)
  }

  package func channelInactive(context: ChannelHandlerContext) { end() }

  private func end() {
    guard context != nil else { return }
    context = nil
    takesMore = false
    pending = ByteBuffer()
    waiting = []
    receiver.closed(H4Ending(reason: failure, cut: decoder.keptCount), on: self)
  }
}

/// Confined to its event loop, where NIO retains it.
@available(*, unavailable)
extension H4Handler: Sendable {}
