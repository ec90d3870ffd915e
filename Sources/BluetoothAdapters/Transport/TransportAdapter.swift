import BluetoothDaemon
import BluetoothTransport
import NIOCore
import NIOPosix

/// A device whose controller is somewhere else: another process, a serial line, an adapter of the kernel's.
package final class TransportAdapter: Adapter, Sendable {
  package let directory = PeerDirectory()
  package var deliversInPlace: Bool { false }
  private let mailbox = Mailbox()
  private let executor: TransportExecutor

  /// Makes the way to a controller, at whose end `link` is then; on the event loop.
  package typealias Connector = @Sendable (_ link: H4Handler, _ loop: any EventLoop) -> EventLoopFuture<Void>

  /// Looks for the controller from now on, until this adapter is gone.
  ///
  /// - Parameters:
  ///   - writing: how packets leave on that way.
  ///   - loop: what everything runs on.
  package init(
    _ configuration: DaemonConfiguration, writing: H4Handler.Writing, on loop: any EventLoop,
    connector: @escaping Connector
  ) {
    let executor = TransportExecutor(loop: loop)
    self.executor = executor
    directory.access = configuration.knownAccess
    mailbox.setExecutor(executor)
    let (mailbox, directory) = (mailbox, directory)
    loop.execute {
      executor.begin(
        TransportRunner(
          configuration, writing: writing, on: loop, mailbox: mailbox, directory: directory, connector: connector))
    }
  }

  package convenience init(
    _ configuration: DaemonConfiguration, to specifier: TransportSpecifier, on loop: any EventLoop
  ) {
    self.init(configuration, writing: specifier.writing, on: loop) { link, loop in
      Transport.connect(specifier, with: link, on: loop)
    }
  }

  /// The adapter that this process's environment describes, on a thread of its own.
  convenience init(_ specifier: TransportSpecifier) {
    self.init(
      .ofProcess(adapter: "\(specifier)"), to: specifier, on: MultiThreadedEventLoopGroup(numberOfThreads: 1).next())
  }

  deinit { executor.end() }

  package func absoluteTime() -> Double { WallClock.secondsSince2001 }

  package func openCentralSession(for client: any CentralClient) -> CentralSession {
    CentralSession(client: client, mailbox: mailbox)
  }

  package func openPeripheralSession(for client: any PeripheralClient) -> PeripheralSession {
    PeripheralSession(client: client, mailbox: mailbox)
  }
}

/// Tells an adapter's event loop of mail.
private final class TransportExecutor: AdapterExecutor, @unchecked Sendable {
  private let loop: any EventLoop
  /// The loop's alone.
  private var runner: TransportRunner?

  init(loop: any EventLoop) { self.loop = loop }

  /// On the loop.
  func begin(_ runner: TransportRunner) {
    self.runner = runner
    runner.begin()
  }

  func wake() {
    // Whoever is called back by the runner, and calls back, is heard without another turn of the loop.
    if loop.inEventLoop, let runner, runner.isPumping { return runner.wakeWhilePumping() }
    loop.execute { self.runner?.pump() }
  }

  func end() {
    loop.execute { [self] in
      runner?.end()
      runner = nil
    }
  }
}
