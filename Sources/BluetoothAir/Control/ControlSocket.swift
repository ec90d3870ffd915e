import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The socket by which an air that runs is asked for things.
package enum ControlSocket {
  /// Where it is unless something else is said: in the user's folder for what runs, else in a folder of the user's own in
  /// the system's temporary one.
  package static var defaultPath: String {
    let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? ""
    let folder = runtime.isEmpty ? "/tmp/ble-\(getuid())" : runtime + "/ble"
    return folder + "/air.sock"
  }

  /// Makes the folder of the standard path, which nobody but its owner may enter.
  static func makeFolder(of path: String) throws(AirError) {
    let folder = (path as NSString).deletingLastPathComponent
    if mkdir(folder, 0o700) == 0 { return }
    var status = stat()
    guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid() else {
      throw AirError(
        "\(folder) can't be the control socket's folder: it is not this user's; --control names another path")
    }
    _ = chmod(folder, 0o700)
  }

  /// The air did not answer in time.
  package struct NoAnswer: Error, CustomStringConvertible {
    let path: String
    let limit: TimeAmount

    package var description: String {
      "the air at \(path) has not answered within \(Double(limit.nanoseconds) / 1e9) s; --timeout allows more time"
    }
  }

  /// Asks the air at `path` for something.
  ///
  /// - Parameter limit: the time for all of it.
  /// - Throws: `NoAnswer`, or one line that says why it can't be done.
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
      throw AirError("no air runs at \(path): ble air begins one, and --control says where")
    }
    var line = ByteBuffer(bytes: try JSONEncoder().encode(request))
    line.writeInteger(UInt8(ascii: "\n"))
    channel.writeAndFlush(line, promise: nil)
    // Closing ends both waits below.
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
    // An air that is to end closes when everything is written.
    if request.verb == .stop, answer.error == nil {
      try? channel.closeFuture.wait()
      try checkTime()
    }
    try? channel.close().wait()
    if let error = answer.error { throw AirError(error) }
    return answer
  }

  /// Reads the one line that comes.
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
      if !isDone { promise.fail(AirError("the air has ended before it answered")) }
      isDone = true
    }
  }
}
