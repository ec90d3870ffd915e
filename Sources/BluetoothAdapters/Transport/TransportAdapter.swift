import BluetoothDaemon
import BluetoothTransport
import NIOCore

/// An adapter with an external controller: in another process, on a serial line, or a Bluetooth adapter of the kernel.
package final class TransportAdapter: AppAdapter, Sendable {
  package let directory = PeerDirectory()
  package var deliversInPlace: Bool { false }
  private let sessions = LocalSessions()
  private let executor: TransportExecutor

  /// A function that connects to a controller and adds `link` to the connection's pipeline. Called on the event loop.
  package typealias Connector = @Sendable (_ link: H4Handler, _ loop: any EventLoop) -> EventLoopFuture<Void>

  /// Creates the adapter, which connects and reconnects to its controller until the adapter is deallocated.
  ///
  /// - Parameters:
  ///   - writing: the way in which packets are written to the transport.
  ///   - loop: the event loop that runs the host, the daemon and the transport.
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

  deinit { executor.end() }

  package func absoluteTime() -> Double { WallClock.secondsSince2001 }

  package func openCentralSession(for client: any CentralClient, owner: SessionOwner?) -> CentralSession {
    CentralSession(client: client, owner: owner, in: sessions)
  }

  package func openPeripheralSession(for client: any PeripheralClient, owner: SessionOwner?) -> PeripheralSession {
    PeripheralSession(client: client, owner: owner, in: sessions)
  }

  package func setClient(_ client: any AppClient, ofApp app: String) { sessions.setClient(client, ofApp: app) }

  package func send(_ request: AppRequest, ofApp app: String) { sessions.send(request, ofApp: app) }

  package func setSystemClient(_ client: any SystemClient) { sessions.setSystemClient(client) }

  package func send(_ request: SystemRequest) { sessions.requests.post(.system(request)) }

  package func setHCIObserver(_ observer: (any HCIObserver)?) { executor.setHCIObserver(observer) }
}

/// An executor that makes an adapter's event loop handle the requests to the adapter.
private final class TransportExecutor: AdapterExecutor, @unchecked Sendable {
  private let loop: any EventLoop
  /// Accessed only on the loop.
  private var runner: TransportRunner?

  init(loop: any EventLoop) { self.loop = loop }

  /// Starts the runner. Called on the loop.
  func begin(_ runner: TransportRunner) {
    loop.preconditionInEventLoop()
    self.runner = runner
    runner.begin()
  }

  func wake() {
    // The running pump handles requests that a client posts in a callback on the loop; this avoids scheduling another
    // task on the loop.
    if loop.inEventLoop, let runner, runner.isPumping { return runner.wakeWhilePumping() }
    loop.execute { self.runner?.pump() }
  }

  func setHCIObserver(_ observer: (any HCIObserver)?) {
    loop.execute { self.runner?.observer = observer }
  }

  func end() {
    loop.execute { [self] in
      runner?.end()
      runner = nil
    }
  }
}
