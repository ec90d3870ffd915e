import BluetoothDaemon
import BluetoothTransport
import NIOCore
import NIOPosix

/// A device whose controller is outside this process: in another process, on a serial line, or an adapter of the
/// kernel.
package final class TransportAdapter: Adapter, Sendable {
  package let directory = PeerDirectory()
  package var deliversInPlace: Bool { false }
  private let sessions = LocalSessions()
  private let executor: TransportExecutor

  /// A function that connects to a controller and puts `link` at the end of the connection. Called on the event loop.
  package typealias Connector = @Sendable (_ link: H4Handler, _ loop: any EventLoop) -> EventLoopFuture<Void>

  /// Creates the adapter, which looks for its controller until the adapter is deallocated.
  ///
  /// - Parameters:
  ///   - writing: the way packets are written to that transport.
  ///   - loop: the event loop that runs everything.
  package init(
    _ configuration: DaemonConfiguration, writing: H4Handler.Writing, on loop: any EventLoop,
    connector: @escaping Connector
  ) {
    let executor = TransportExecutor(loop: loop)
    self.executor = executor
    directory.access = configuration.knownAccess
    sessions.requests.setExecutor(executor)
    let (sessions, directory) = (sessions, directory)
    loop.execute {
      executor.begin(
        TransportRunner(
          configuration, writing: writing, on: loop, sessions: sessions, directory: directory, connector: connector))
    }
  }

  package convenience init(
    _ configuration: DaemonConfiguration, to specifier: TransportSpecifier, on loop: any EventLoop
  ) {
    self.init(configuration, writing: specifier.writing, on: loop) { link, loop in
      Transport.connect(specifier, with: link, on: loop)
    }
  }

  /// Creates the adapter as this process's environment variables describe it, with a thread for itself.
  convenience init(_ specifier: TransportSpecifier) {
    self.init(
      .ofProcess(adapter: "\(specifier)"), to: specifier, on: MultiThreadedEventLoopGroup(numberOfThreads: 1).next())
  }

  deinit { executor.end() }

  package func absoluteTime() -> Double { WallClock.secondsSince2001 }

  package func openCentralSession(for client: any CentralClient) -> CentralSession {
    CentralSession(client: client, in: sessions)
  }

  package func openPeripheralSession(for client: any PeripheralClient) -> PeripheralSession {
    PeripheralSession(client: client, in: sessions)
  }
}

/// Announces requests to an adapter's event loop.
private final class TransportExecutor: AdapterExecutor, @unchecked Sendable {
  private let loop: any EventLoop
  /// Accessed only on the loop.
  private var runner: TransportRunner?

  init(loop: any EventLoop) { self.loop = loop }

  /// Starts the runner. Called on the loop.
  func begin(_ runner: TransportRunner) {
    self.runner = runner
    runner.begin()
  }

  func wake() {
    // Handles requests that a client posts during a callback of the runner without another turn of the loop.
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
