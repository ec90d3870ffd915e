import BluetoothCapture
import BluetoothDaemon
import BluetoothLab
import BluetoothRadio
import BluetoothTransport
import BluetoothWire
import Logging
import NIOCore
import NIOPosix

/// A simulated air that external hosts join: each connection to it is a new controller.
///
/// World, sockets and timers share one thread, so a packet from a host is answered before the thread does anything
/// else.
package final class AirServer: Sendable {
  /// The speed of the air's time.
  package enum Speed: Hashable, Sendable {
    /// Radio seconds per second, 0.001 to 1,000.
    case times(Double)
    /// Real time, except while a controller holds data of its host: the air then proceeds to its next event as soon as
    /// all data from the sockets have been processed.
    case maximum
  }

  /// The options of an air.
  package struct Options: Sendable {
    /// The seed for all randomness in the air.
    package var seed: UInt64 = 0
    package var speed = Speed.times(1)
    /// The number of ACL packets that a controller can hold for its host, 1 to 65,535.
    package var aclBuffers = 64
    /// The world file with the devices of the world and the places of hosts, in the order in which they join. Further
    /// hosts are placed at the origin.
    package var file: WorldFile?
    /// Other files that this program reads or writes, which no capture may replace.
    package var usedFiles: [String] = []
    /// The largest number of hosts at a time.
    package var hostLimit = 10_000
    /// The number of pending packets above which a host that reads none loses its connection.
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

  /// Creates an air without hosts, and starts it.
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

  /// Captures the air and the HCI of every host to `path`, until the air ends or until a request ends or replaces the
  /// capture. If `path` is a FIFO, the capture begins when a program opens it for reading.
  ///
  /// - Throws: one line if the file can't be created.
  package func capture(to path: String, decryptsAir: Bool = false, writesKeys: Bool = false) throws {
    let world = world
    try onLoop { world.startCapture(try Capture(path: path, decryptsAir: decryptsAir, writesKeys: writesKeys)) }
  }

  // MARK: Listening

  /// Starts listening for hosts at `specifier`, a TCP port or a Unix socket.
  ///
  /// - Returns: the address, with the port that the system has chosen if `specifier` has port 0.
  /// - Throws: one line if listening fails.
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
      throw AirError("can't listen for hosts at \(specifier): \(error)")
    }
  }

  /// Answers requests at the control socket `path`, which only this user may access.
  ///
  /// - Throws: one line if the socket can't be opened.
  package func openControl(at path: String) throws {
    if path == ControlSocket.defaultPath { try ControlSocket.makeFolder(of: path) }
    let (world, hosts, ending) = (world, hosts, ending)
    let connections = ControlService.Connections()
    do {
      let file = try UnixSocketFile(path: path)
      // If no descriptor is free for another connection, accepting pauses before it is tried again.
      let bootstrap = ServerBootstrap(group: loop).serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
        }
      }
      let channel = try bootstrap.childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let desk = ControlService(world: world, hosts: hosts, loop: channel.eventLoop, connections: connections) {
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
        "can't create the control socket at \(path): \((error as? TransportError)?.description ?? "\(error)"); "
          + "use --control for another path")
    }
  }

  // MARK: The end

  /// Makes `waitForEnd` return. May be called from any thread, and more than once.
  package func requestEnd() { ending.succeed() }

  /// Waits until the end of the air is requested.
  package func waitForEnd() { try? ending.futureResult.wait() }

  /// Ends the air: closes the connections of hosts, closes all sockets and removes their files, and finishes the
  /// capture.
  ///
  /// - Throws: one line if the capture can't be written.
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

  // MARK: Places and hosts

  /// A controller that a host can use.
  package struct Place: Sendable {
    package let name: String
    package let address: DeviceAddress
    /// True if a host uses it.
    package let isTaken: Bool
  }

  /// All places, in the order of their creation.
  package var places: [Place] {
    let hosts = hosts
    // `hosts.places` throws nothing. An air that has ended has no places.
    return (try? onLoop { hosts.places }) ?? []
  }

  /// Calls `observer` now and after each arrival or departure of a host, with the number of hosts, on the air's thread;
  /// nil ends it.
  package func observeHosts(_ observer: (@Sendable (Int) -> Void)?) throws {
    let hosts = hosts
    try onLoop { hosts.observeHosts(observer) }
  }

  /// Runs `body` on the air's thread, and returns its result.
  package func onLoop<R: Sendable>(_ body: @escaping @Sendable () throws -> R) throws -> R {
    if loop.inEventLoop { return try body() }
    return try loop.submit(body).wait()
  }
}

/// The reason why a request to an air failed, in one line.
package struct AirError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
