import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The control socket of a running air.
package enum ControlSocket {
  /// The default path: in the user's runtime folder (XDG_RUNTIME_DIR) or, without one, in a folder of the user in /tmp.
  package static var defaultPath: String {
    let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? ""
    let folder = runtime.isEmpty ? "/tmp/ble-\(getuid())" : runtime + "/ble"
    return folder + "/air.sock"
  }

  /// Creates the folder of the default path, which only its owner may enter.
  static func makeFolder(of path: String) throws(AirError) {
    let folder = (path as NSString).deletingLastPathComponent
    if mkdir(folder, 0o700) == 0 { return }
    var status = stat()
    guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid() else {
      throw AirError(
        "can't use \(folder) for the control socket: it is not a folder of this user; use --control for another path")
    }
    _ = chmod(folder, 0o700)
  }

  /// The error that the air did not answer in time.
  package struct NoAnswer: Error, CustomStringConvertible {
    let path: String
    let limit: TimeAmount

    package var description: String {
      "the air at \(path) has not answered within \(Double(limit.nanoseconds) / 1e9) s; allow more time with --timeout"
    }
  }

  /// The error that no air is running at a path.
  package struct NoAir: Error, CustomStringConvertible {
    let path: String

    package var description: String {
      "no air is running at \(path); start one with ble air, or select one with --control"
    }
  }

  /// Sends a request to the air at `path`, and returns its answer.
  ///
  /// - Parameter limit: the time for the whole exchange.
  /// - Throws: `NoAir`, `NoAnswer`, or one line with the reason of the failure.
  package static func ask(
    _ request: ControlRequest, at path: String, within limit: TimeAmount = .seconds(10)
  ) throws -> ControlAnswer {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    defer { try? group.syncShutdownGracefully() }
    let promise = group.next().makePromise(of: ControlAnswer.self)
    let isLate = NIOLockedValueBox(false)
    let channel: any Channel
    do {
      channel = try ClientBootstrap(group: group).connectTimeout(limit)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(AnswerHandler(promise))
          }
        }
        .connect(unixDomainSocketPath: path).wait()
    } catch {
      promise.fail(error)
      if case ChannelError.connectTimeout = error { throw NoAnswer(path: path, limit: limit) }
      throw NoAir(path: path)
    }
    var line = ByteBuffer(bytes: try JSONEncoder().encode(request))
    line.writeInteger(UInt8(ascii: "\n"))
    channel.writeAndFlush(line, promise: nil)
    // Closing the channel ends both waits below.
    channel.eventLoop.scheduleTask(in: limit) {
      isLate.withLockedValue { $0 = true }
      channel.close(promise: nil)
    }
    func checkTime() throws {
      if isLate.withLockedValue({ $0 }) { throw NoAnswer(path: path, limit: limit) }
    }
    let answer: ControlAnswer
    do { answer = try promise.futureResult.wait() } catch {
      try checkTime()
      throw error
    }
    // An air that stops closes the connection when everything is written.
    if request.verb == .stop, answer.error == nil {
      try? channel.closeFuture.wait()
      try checkTime()
    }
    try? channel.close().wait()
    if let error = answer.error { throw AirError(error) }
    return answer
  }

  /// The handler that reads the answer, a single line.
  private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let promise: EventLoopPromise<ControlAnswer>
    private var received = ByteBuffer()
    private var isDone = false

    init(_ promise: EventLoopPromise<ControlAnswer>) { self.promise = promise }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var part = unwrapInboundIn(data)
      received.writeBuffer(&part)
      guard !isDone, received.readableBytesView.last == UInt8(ascii: "\n") else { return }
      isDone = true
      promise.completeWith(
        Result { try JSONDecoder().decode(ControlAnswer.self, from: Data(received.readableBytesView)) })
    }

    func channelInactive(context: ChannelHandlerContext) {
      if !isDone { promise.fail(AirError("the air closed the connection without an answer")) }
      isDone = true
    }
  }
}
