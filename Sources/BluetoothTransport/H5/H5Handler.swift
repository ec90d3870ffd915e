import BluetoothWire
import DequeModule
import NIOCore

/// Carries the packets of an `H4Handler` over a three-wire UART. When the link is established, the handler adds the
/// `H4Handler` behind itself. Confined to the event loop of its channel · Vol 4, Part D.
final class H5Handler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The maximum time of link establishment.
  static let establishmentTime = TimeAmount.seconds(10)

  private let upper: H4Handler
  private let established: EventLoopPromise<Void>
  /// The event loop's time when the handler was added: the zero of the link's time.
  private var origin = NIODeadline.uptimeNanoseconds(0)
  private var link: ThreeWireLink
  private var context: ChannelHandlerContext?
  private var isEstablished = false
  /// The promises of packets that wait for the window, oldest first.
  private var waiting: Deque<EventLoopPromise<Void>?> = []
  private var timer: (time: Instant, task: Scheduled<Void>)?
  private var limit: Scheduled<Void>?

  /// - Parameters:
  ///   - upper: the handler of the HCI packets, with `Writing.packets`: each write is one packet.
  ///   - octetTime: the duration of an octet on the line.
  ///   - established: succeeds when the link is established; fails with a `TransportError` if it can't be.
  init(for upper: H4Handler, octetTime: TimeSpan, established: EventLoopPromise<Void>) {
    self.upper = upper
    self.established = established
    link = ThreeWireLink(for: upper.side, octetTime: octetTime)
  }

  private var now: Instant {
    context.map { Instant(nanoseconds: ($0.eventLoop.now - origin).nanoseconds) } ?? .zero
  }

  // MARK: Beginning and end

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    origin = context.eventLoop.now
    limit = context.eventLoop.assumeIsolated().scheduleTask(in: Self.establishmentTime) { [self] in
      fail(
        TransportError("no answer to SYNC messages: check that the controller uses H5, the baud rate and the parity"))
    }
    link.start(at: now)
    finish()
  }

  func channelInactive(context: ChannelHandlerContext) {
    end(TransportError("the line was closed during link establishment", isLasting: false))
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    end(TransportError("the line was closed during link establishment", isLasting: false))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !isEstablished else { return context.fireErrorCaught(error) }
    fail(TransportError(TransportError.text(error), isLasting: false))
  }

  private func fail(_ error: TransportError) {
    guard !isEstablished, let context else { return }
    end(error)
    context.close(promise: nil)
  }

  private func end(_ error: TransportError) {
    guard context != nil else { return }
    context = nil
    limit?.cancel()
    timer?.task.cancel()
    timer = nil
    if !isEstablished { established.fail(error) }
    let waiting = waiting
    self.waiting = []
    for promise in waiting { promise?.fail(ChannelError.ioOnClosedChannel) }
  }

  // MARK: Input

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    link.receive(unwrapInboundIn(data).readableBytesView, at: now)
    deliver()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // The answers to the packets carry the acknowledgment.
    context.fireChannelReadComplete()
    finish()
  }

  private func deliver() {
    while let context, let event = link.takeEvent() {
      switch event {
      case .established where !isEstablished: establish(context)
      case .established: break
      case .packet(let kind, let payload):
        var buffer = context.channel.allocator.buffer(capacity: payload.count + 1)
        // The types of HCI packets are their packet indicators in H4.
        buffer.writeInteger(kind.rawValue)
        buffer.writeBytes(payload)
        if [.command, .acl, .event].contains(kind) { context.fireChannelRead(wrapInboundOut(buffer)) }
      case .peerReset: context.fireUserInboundEventTriggered(PeerReset())
      }
    }
  }

  private func establish(_ context: ChannelHandlerContext) {
    isEstablished = true
    limit?.cancel()
    do {
      try context.pipeline.syncOperations.addHandler(upper, position: .after(self))
      established.succeed()
    } catch {
      established.fail(error)
      context.close(promise: nil)
    }
  }

  // MARK: Output

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    var buffer = unwrapOutboundIn(data)
    guard let kind = buffer.readInteger(as: UInt8.self).flatMap({ ThreeWirePacket.Kind(rawValue: $0) }) else {
      promise?.succeed()
      return
    }
    waiting.append(promise)
    link.send(kind, Array(buffer.readableBytesView), at: now)
  }

  func flush(context: ChannelHandlerContext) { finish() }

  /// Writes the output of the link, completes the writes of packets that have been sent, and sets the timer.
  private func finish() {
    guard let context else { return }
    let octets = link.takeOctets()
    if !octets.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: octets)), promise: nil) }
    setTimer(context)
    // A promise can call `write` again.
    while waiting.count > link.queuedCount, let promise = waiting.popFirst() { promise?.succeed() }
  }

  private func setTimer(_ context: ChannelHandlerContext) {
    guard timer?.time != link.deadline else { return }
    timer?.task.cancel()
    timer = link.deadline.map { time in
      let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: origin + .nanoseconds(time.nanoseconds)) {
        [self] in
        timer = nil
        link.timeReached(now)
        finish()
      }
      return (time, task)
    }
  }
}

/// Confined to its event loop, where NIO retains it.
@available(*, unavailable)
extension H5Handler: Sendable {}
