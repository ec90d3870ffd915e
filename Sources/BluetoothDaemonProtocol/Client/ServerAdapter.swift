import BluetoothDaemon
import BluetoothTransport
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// An adapter whose daemon runs in another process, `btserver`, and is shared with other apps.
package final class ServerAdapter: DaemonAdapter, Sendable {
  package let directory = PeerDirectory()
  package var deliversInPlace: Bool { false }
  private let sessions = LocalSessions()
  private let executor: ServerExecutor
  /// True once the server has told the permission of this app, or can't be asked.
  private let hasAnswer = ConditionLock(value: false)
  /// The name of the program. The server names the app itself: this name only says that managers belong to an app.
  package let app: String?

  /// A function that ends the program, for the reason in its first argument. The second one is true if the user has
  /// ended the app. Called on the event loop.
  package typealias Stopper = @Sendable (_ reason: String, _ byUser: Bool) -> Void

  /// The time in which a server answers the greeting of a program. A program without an answer takes the socket for that
  /// of another service.
  package static let greetingTime = TimeAmount.seconds(5)

  /// Creates the adapter, which connects and reconnects to the server until the adapter is deallocated.
  ///
  /// - Parameters:
  ///   - token: what the server asks for over TCP.
  ///   - greetingTime: the time in which the server must answer the greeting.
  ///   - loop: the event loop that runs the connection.
  ///   - stop: ends the program.
  package init(
    _ specifier: ServerSpecifier, program: String, token: [UInt8] = [],
    greetingTime: TimeAmount = ServerAdapter.greetingTime, on loop: any EventLoop,
    stop: @escaping Stopper = endProgram
  ) {
    app = program
    let executor = ServerExecutor(loop: loop)
    self.executor = executor
    // The access is undetermined until the server reports it.
    directory.access = .undetermined
    sessions.requests.setExecutor(executor)
    let hello = Hello(adapter: specifier.adapter, program: program, token: ByteSlice(token))
    let (sessions, directory, hasAnswer) = (sessions, directory, hasAnswer)
    loop.execute {
      executor.begin(
        ServerRunner(
          specifier, hello, sessions: sessions, directory: directory, on: loop, greetingTime: greetingTime,
          hasAnswer: hasAnswer, stop: stop))
    }
  }

  /// Returns the permission of this app as the server tells it, also before the app has a manager. Blocks until the
  /// server has answered for the first time or can't be reached; must not be called on the event loop.
  ///
  /// - Parameter seconds: the time limit, after which the permission is undetermined.
  package func toldAccess(within seconds: Double) -> AppAccess {
    if hasAnswer.lock(whenValue: true, timeoutSeconds: seconds) { hasAnswer.unlock() }
    return access
  }

  deinit { executor.end() }

  package func absoluteTime() -> Double { WallClock.secondsSince2001 }

  package func openCentralSession(for client: any CentralClient, owner: SessionOwner?) -> CentralSession {
    CentralSession(client: client, owner: owner, in: sessions)
  }

  package func openPeripheralSession(for client: any PeripheralClient, owner: SessionOwner?) -> PeripheralSession {
    PeripheralSession(client: client, owner: owner, in: sessions)
  }
}

/// An executor that makes the event loop pass on the requests of apps.
private final class ServerExecutor: AdapterExecutor, @unchecked Sendable {
  private let loop: any EventLoop
  /// Accessed only on the loop.
  private var runner: ServerRunner?

  init(loop: any EventLoop) { self.loop = loop }

  /// Starts the runner. Called on the loop.
  func begin(_ runner: ServerRunner) {
    loop.preconditionInEventLoop()
    self.runner = runner
    runner.begin()
  }

  func wake() {
    loop.execute { self.runner?.pump() }
  }

  func end() {
    loop.execute { [self] in
      runner?.end()
      runner = nil
    }
  }
}
