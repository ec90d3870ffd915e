import BluetoothWire
import DequeModule
import NIOCore

/// Who is at one end of an H4 link. Everything is told on the link's event loop.
package protocol H4Receiver: AnyObject {
  /// The link is there: packets may be sent.
  func opened(_ link: H4Handler)
  /// A whole packet has come. What is sent meanwhile goes out with the next `flush`.
  func receive(_ packet: HCI.Packet, on link: H4Handler)
  /// It is not known any more where packets begin; the next one is that of a Reset · Vol 4, Part A, 4.
  func synchronizationLost(on link: H4Handler)
  /// Everything that had arrived has been told. To send in answer to all of it, and to `flush`, is for here.
  func receivedAll(on link: H4Handler)
  /// Whether the other side takes what is sent has changed; see `H4Handler.isWritable`.
  func writabilityChanged(on link: H4Handler)
  /// The link is gone, and nothing more is told of it.
  func closed(_ ending: H4Ending, on link: H4Handler)
}

extension H4Receiver {
  package func opened(_ link: H4Handler) {}
  package func writabilityChanged(on link: H4Handler) {}
}

/// Why an H4 link has ended.
package struct H4Ending: Error, Sendable, CustomStringConvertible {
  /// The system's reason; nil: one of both sides has closed it.
  package var reason: String?
  /// How many octets of a packet had come whose rest did not.
  package var cut: Int

  package var description: String {
    var text = reason ?? "closed"
    if cut > 0 { text += ", \(cut) octets into a packet" }
    return text
  }
}

/// One end of an H4 link: cuts what comes into packets, and gathers what is sent, so that all packets that are ready leave in
/// one write. Confined to the event loop of its channel · Vol 4, Part A.
package final class H4Handler: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  /// How packets leave.
  package enum Writing: Sendable {
    /// As a stream of octets.
    case stream
    /// One packet in each write, as sockets of a kernel's HCI want it.
    case packets
  }

  private let pool: PacketPool
  private let writing: Writing
  private let receiver: any H4Receiver
  // One thread works here, and no access lasts while somebody else is called: checking that at run time costs more than a
  // small packet.
  @exclusivity(unchecked) private var decoder: H4Decoder
  @exclusivity(unchecked) private var context: ChannelHandlerContext?
  @exclusivity(unchecked) private var pending = ByteBuffer()
  /// Packets behind one that the system has not taken yet; of `Writing.packets` only.
  private var waiting: Deque<ByteBuffer> = []
  private var isWriting = false
  private var failure: String?

  /// A link that has much to say keeps no more memory than this for it once it has been said.
  private static let keptCapacity = 65_536

  /// - Parameters:
  ///   - side: who reads here.
  ///   - pool: where the octets that come are kept; it belongs to the event loop.
  ///   - receiver: who is told; it is kept until the link is gone.
  package init(
    for side: H4Decoder.Side, pool: PacketPool, writing: Writing = .stream, receiver: any H4Receiver
  ) {
    self.pool = pool
    self.writing = writing
    self.receiver = receiver
    decoder = H4Decoder(for: side, pool: pool)
  }

  /// Packets that were complete and that nobody could read.
  package var dropped: Int { decoder.dropped }

  /// Whether the other side takes in what it is sent; if not, more of it waits here. False when the link is gone.
  package var isWritable: Bool { takesMore }
  // Other modules, which don't know that it needs no check, ask for the one above.
  @exclusivity(unchecked) private var takesMore = false

  /// Whether the link is there.
  package var isOpen: Bool { context != nil }

  /// What the link is confined to; nil: it is not there.
  package var eventLoop: (any EventLoop)? { context?.eventLoop }

  // MARK: Sending

  /// Sends `packet` with the next `flush`; nothing if the link is gone.
  package func send(_ packet: HCI.Packet) {
    guard context != nil else { return }
    pending.writeHCIPacket(packet)
    if writing == .packets { flush() }
  }

  /// Sends octets that need not be packets with the next `flush`, for tests of who reads them.
  package func send(octets: [UInt8]) {
    if context != nil { pending.writeBytes(octets) }
  }

  /// Whether something waits for `flush`.
  package var hasPending: Bool { pending.readableBytes > 0 }

  /// Writes everything that was sent.
  package func flush() {
    guard let context, pending.readableBytes > 0 else { return }
    // Writing may call back, and whoever is called may send and flush more.
    var octets = ByteBuffer()
    swap(&octets, &pending)
    // A buffer that was never filled further has no more room than that.
    let isKept = octets.readableBytes <= Self.keptCapacity
    switch writing {
    case .stream: context.writeAndFlush(wrapOutboundOut(octets), promise: nil)
    case .packets: write(octets, context)
    }
    guard isKept, pending.readableBytes == 0, self.context != nil else { return }
    octets.clear()
    pending = octets
  }

  /// Two packets that wait in the channel would leave it in one write.
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

  /// Ends the link; the receiver is told.
  package func close() { context?.close(promise: nil) }

  // MARK: Reading

  /// Whether packets are taken in; whoever does not keep up with them stops them at the other side.
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

/// Confined to its event loop, where NIO keeps it.
@available(*, unavailable)
extension H4Handler: Sendable {}
