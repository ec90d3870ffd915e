import BluetoothWire
import Foundation
import NIOCore
import NIOPosix

/// A connection to the control socket: one JSON request per line, one JSON answer per line.
final class ControlHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The maximum length of a request in octets, enough for a large fault plan. A longer line closes the connection.
  static let longestLine = 1 << 20

  private let service: ControlService
  /// Nil after the end of the connection.
  private var context: ChannelHandlerContext?
  private var received = ByteBuffer()
  /// True while a request is being carried out; the next request waits.
  private var isWorking = false
  /// True while `answerLines` runs.
  private var isAnswering = false

  init(service: ControlService) { self.service = service }

  /// Notes the connection. If there are too many, closes the oldest one that waits for no answer, so that connections
  /// neither use up all file descriptors nor keep others away.
  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    service.connections.value.append(self)
    guard service.connections.value.count > DescriptorReserve.controlConnections else { return }
    // This connection has sent no request, so there is one.
    service.connections.value.first { !$0.isWorking }?.displace()
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    service.connections.value.removeAll { $0 === self }
  }

  private func displace() {
    guard let context else { return }
    service.connections.value.removeAll { $0 === self }
    write(
      ControlAnswer(error: "too many control connections: \(DescriptorReserve.controlConnections) are open"), context)
    context.close(promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var part = unwrapInboundIn(data)
    received.writeBuffer(&part)
    answerLines(context)
    if received.lengthOfLine > Self.longestLine {
      received.clear()
      write(ControlAnswer(error: "request too long: expected at most \(Self.longestLine) octets"), context)
      context.close(promise: nil)
    }
    updateReading(context)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    answerLines(context)
    updateReading(context)
  }

  /// Reads requests only while the client reads its answers, and while the requests behind the present one are few.
  private func updateReading(_ context: ChannelHandlerContext) {
    let reads = context.channel.isWritable && (!isWorking || received.readableBytes <= Self.longestLine)
    context.channel.setOption(.autoRead, value: reads).whenFailure { _ in }
  }

  private func answerLines(_ context: ChannelHandlerContext) {
    // A request that is answered at once calls this function recursively; the outer call continues with the next line.
    guard !isAnswering else { return }
    isAnswering = true
    defer { isAnswering = false }
    while !isWorking, context.channel.isWritable,
      let end = received.readableBytesView.firstIndex(of: UInt8(ascii: "\n"))
    {
      let line = received.readSlice(length: end - received.readerIndex) ?? ByteBuffer()
      received.moveReaderIndex(forwardBy: 1)
      answer(line, context)
    }
    received.discardReadBytes()
  }

  private func answer(_ line: ByteBuffer, _ context: ChannelHandlerContext) {
    do {
      let request = try Self.request(Data(line.readableBytesView))
      isWorking = true
      service.answer(request).assumeIsolated().whenSuccess { [self] answer in
        isWorking = false
        write(answer, context)
        answerLines(context)
        updateReading(context)
      }
    } catch {
      write(ControlAnswer(error: "invalid request: \(ControlRequest.reason(error))"), context)
    }
  }

  private static func request(_ line: Data) throws -> ControlRequest {
    let request = try JSONDecoder().decode(ControlRequest.self, from: line)
    guard let name = JSONMembers.duplicate(in: line) else { return request }
    throw Swift.DecodingError.dataCorrupted(
      Swift.DecodingError.Context(codingPath: [], debugDescription: "duplicate field \"\(name.printable)\""))
  }

  private func write(_ answer: ControlAnswer, _ context: ChannelHandlerContext) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let json = (try? encoder.encode(answer)) ?? Data(#"{"error":"can't encode the answer"}"#.utf8)
    var buffer = context.channel.allocator.buffer(capacity: json.count + 1)
    buffer.writeBytes(json)
    buffer.writeInteger(UInt8(ascii: "\n"))
    context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

extension ByteBuffer {
  /// The number of readable octets before the first line feed, or of all readable octets if there is none.
  fileprivate var lengthOfLine: Int {
    let view = readableBytesView
    return view.firstIndex(of: UInt8(ascii: "\n")).map { $0 - view.startIndex } ?? view.count
  }
}

extension ControlRequest {
  /// Returns the reason why a JSON text is no request, in one line.
  static func reason(_ error: any Error) -> String {
    switch error {
    case Swift.DecodingError.keyNotFound(let key, let context): text(context.codingPath + [key], "missing field")
    case Swift.DecodingError.dataCorrupted(let context), Swift.DecodingError.typeMismatch(_, let context),
      Swift.DecodingError.valueNotFound(_, let context):
      text(context.codingPath, context.debugDescription)
    default: "\(error)"
    }
  }

  private static func text(_ path: [any CodingKey], _ reason: String) -> String {
    path.isEmpty ? reason : path.map(\.stringValue.printable).joined(separator: ".") + ": " + reason
  }
}
