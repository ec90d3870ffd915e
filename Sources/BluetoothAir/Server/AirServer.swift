import BluetoothCapture
import BluetoothDaemon
import BluetoothLab
import BluetoothRadio
import BluetoothTransport
import BluetoothWire
import Logging
import NIOCore
import NIOPosix

/// An air that hosts elsewhere join: each connection to it is a new controller.
///
/// World, sockets and timers share one thread: a packet that comes is answered before the thread turns to anything else.
package final class AirServer: Sendable {
  /// How fast the air's time passes.
  package enum Speed: Hashable, Sendable {
    /// Radio seconds per second, 0.001 to 1,000.
    case times(Double)
    /// In step with the wall clock; but while a controller holds data of its host's, the air goes on to its next event as
    /// soon as what has come over the sockets is taken in.
    case maximum
  }

  /// How an air is made.
  package struct Options: Sendable {
    /// Decides all chance in the air.
    package var seed: UInt64 = 0
    package var speed = Speed.times(1)
    /// How many ACL packets of its host's a controller holds: 1 to 65,535.
    package var aclBuffers = 64
    /// What is in the world, and where the hosts that join are, in this order; those that join later are at the origin.
    package var file: WorldFile?
    /// The files that this program reads or writes besides: no capture may replace them.
    package var usedFiles: [String] = []
    /// How many hosts there may be at once.
    package var hostLimit = 10_000
    /// A host for which more packets wait, and which takes none, loses its connection.
    package var waitingLimit = 1_000

    package init() {}
  }

  package let world: World
  private let group: MultiThreadedEventLoopGroup
  private let loop: any EventLoop
  private let executor: EventLoopExecutor
  private let hosts: HostTable
  private let ending: EventLoopPromise<Void>
  private let usedFiles: [ClaimedFile]

  /// An air in which nobody is. It runs from now on.
  package init(_ options: Options = Options()) {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    loop = group.next()
    let speed =
      switch options.speed {
      case .times(let speed): speed
      case .maximum: 1.0
      }
    executor = EventLoopExecutor(loop: loop)
    world = World(seed: options.seed, time: .real(speed: speed), capture: nil, executor: executor)
    hosts = HostTable(options, world: world, loop: loop)
    ending = loop.makePromise()
    usedFiles = options.usedFiles.map(ClaimedFile.init(path:))
  }

  /// Writes the air and the HCI of every host to `path`, until the end or until something else is asked for. If `path` is a
  /// FIFO, the capture begins when a program opens it for reading.
  ///
  /// - Throws: one line if the file can't be made.
  package func capture(to path: String, decryptsAir: Bool = false, writesKeys: Bool = false) throws {
    let world = world
    try onLoop { world.startCapture(try Capture(path: path, decryptsAir: decryptsAir, writesKeys: writesKeys)) }
  }

  // MARK: Listening

  /// Hosts may join at `specifier` from now on: TCP or a Unix socket.
  ///
  /// - Returns: where that is, with the port that the system has chosen if it was to.
  /// - Throws: one line if it can't be.
  package func listen(at specifier: TransportSpecifier) throws -> TransportSpecifier {
    let hosts = hosts
    let pool = try onLoop { hosts.pool }
    do {
      let listener = try H4Listener.bind(specifier, on: loop) {
        H4Handler(for: .controller, pool: pool.value, receiver: HCIClient(table: hosts))
      }.wait()
      hosts.add { _ = listener.close() }
      return listener.specifier
    } catch {
      throw AirError("hosts can't join at \(specifier): \(error)")
    }
  }

  /// Answers requests at the control socket `path`, which is this user's only.
  ///
  /// - Throws: one line if it can't be.
  package func openControl(at path: String) throws {
    if path == ControlSocket.defaultPath { try ControlSocket.makeFolder(of: path) }
    let (world, hosts, ending) = (world, hosts, ending)
    let connections = ControlDesk.Connections()
    do {
      let file = try UnixSocketFile(path: path)
      // Without a descriptor for another connection, it waits before it tries again.
      let bootstrap = ServerBootstrap(group: loop).serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
        }
      }
      let channel = try bootstrap.childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let desk = ControlDesk(world: world, hosts: hosts, loop: channel.eventLoop, connections: connections) {
            ending.succeed()
          }
          try channel.pipeline.syncOperations.addHandler(ControlHandler(desk: desk))
        }
      }.withBoundSocket(file.descriptor).wait()
      hosts.add {
        channel.close(promise: nil)
        file.remove()
      }
    } catch {
      throw AirError(
        "there can be no control socket at \(path), --control names another place: \((error as? TransportError)?.description ?? "\(error)")"
      )
    }
  }

  // MARK: The end

  /// Has `waitForEnd` return. From any thread; more than once is once.
  package func requestEnd() { ending.succeed() }

  /// Waits until somebody wants the air to end.
  package func waitForEnd() { try? ending.futureResult.wait() }

  /// Ends everything: hosts lose their controllers, sockets are closed and their files removed, and the capture is written.
  ///
  /// - Throws: one line, if the capture can't be written.
  package func stop() throws {
    ending.succeed()
    hosts.stop()
    let world = world
    defer { try? group.syncShutdownGracefully() }
    let executor = executor
    try onLoop {
      executor.close()
      try world.finishCapture()
    }
  }

  // MARK: Who is there

  /// A place where a host can be.
  package struct Place: Sendable {
    package let name: String
    package let address: DeviceAddress
    /// Whether a host is there.
    package let isTaken: Bool
  }

  /// All places, in the order in which they came about.
  package var places: [Place] {
    let hosts = hosts
    // Nothing there throws: an air that has ended has no places.
    return (try? onLoop { hosts.places }) ?? []
  }

  /// Calls `observer` now, and whenever a host has come or gone, on the air's thread with the number of hosts; nil ends it.
  package func observeHosts(_ observer: (@Sendable (Int) -> Void)?) throws {
    let hosts = hosts
    try onLoop { hosts.observeHosts(observer) }
  }

  /// Does `body` on the air's thread.
  package func onLoop<R: Sendable>(_ body: @escaping @Sendable () throws -> R) throws -> R {
    if loop.inEventLoop { return try body() }
    return try loop.submit(body).wait()
  }
}

/// Why something can't be done with an air: one line.
package struct AirError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
