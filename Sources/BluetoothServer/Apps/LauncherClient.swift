import BluetoothTransport
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The server's end of a connection to a launcher, which is one launch: see `AppLauncher`. Confined to its event loop.
final class LauncherClient: ChannelInboundHandler, @unchecked Sendable {
  // Unchecked: only code on the event loop uses the variables; `process` is locked.
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let loop: any EventLoop
  private let app: RegisteredApp
  private let request: LaunchRequest
  private let process = NIOLockedValueBox<Int32?>(nil)
  private var onEnd: (@Sendable (_ hasFailed: Bool) -> Void)?
  private var octets: [UInt8] = []
  private var context: ChannelHandlerContext?
  private var isStopped = false

  /// Asks the launcher for an app. The launch has no process until the launcher has started it.
  static func start(
    _ app: RegisteredApp, _ environment: [String: String], at path: String,
    _ onEnd: @escaping @Sendable (_ hasFailed: Bool) -> Void
  ) -> Launch {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let client = LauncherClient(app, environment, on: loop, onEnd)
    ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(client) }
      }
      .connect(unixDomainSocketPath: path).whenFailure { error in
        client.end(because: "\(path): \(TransportError(connectingTo: .unix(path: path), error))")
      }
    return Launch(
      process: { client.process.withLockedValue { $0 } }, stop: { loop.execute { client.stop() } })
  }

  private init(
    _ app: RegisteredApp, _ environment: [String: String], on loop: any EventLoop,
    _ onEnd: @escaping @Sendable (_ hasFailed: Bool) -> Void
  ) {
    self.loop = loop
    self.app = app
    request = LaunchRequest(app: app.name, environment: environment)
    self.onEnd = onEnd
  }

  private func end(because reason: String) {
    ServerLog.warn("\(app.name): can't start \(app.executable) by the launcher: \(reason)")
    end(hasFailed: true)
  }

  private func end(hasFailed: Bool) {
    loop.preconditionInEventLoop()
    onEnd?(hasFailed)
    onEnd = nil
    context?.close(promise: nil)
  }

  /// Asks the program to end. One that has not been started gives up its launch.
  private func stop() {
    loop.preconditionInEventLoop()
    isStopped = true
    guard let context else { return }
    guard process.withLockedValue({ $0 != nil }) else { return end(hasFailed: true) }
    write(Array("\(LaunchRequest.stop)\n".utf8), context)
  }

  private func write(_ octets: [UInt8], _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: octets)), promise: nil)
  }

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    if isStopped { return end(hasFailed: true) }
    guard let line = request.line else { return end(because: "the request is too long") }
    write(line, context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    // The service manager ends what a launcher leaves behind.
    if onEnd != nil { end(because: "the launcher has ended") }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    octets += Array(unwrapInboundIn(data).readableBytesView)
    while let index = octets.firstIndex(of: UInt8(ascii: "\n")) {
      let report = LauncherReport(line: String(decoding: octets[..<index], as: UTF8.self))
      octets.removeSubrange(...index)
      switch report {
      case .started(let number):
        process.withLockedValue { $0 = number }
        ServerLog.trace("\(app.name): process \(number)")
      case .ended(let hasFailed): end(hasFailed: hasFailed)
      case .failed(let reason): end(because: reason)
      case nil: break
      }
    }
  }
}
