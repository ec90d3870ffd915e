// Overview
//
// Other programs (Linux's or a phone's host stack, firmware in an emulator, another process of this package) can join a
// simulated air by HCI. BluetoothAir is that air: HCI servers, files that describe worlds, and a control socket.
//
// The idea: a world, the sockets of its hosts and its control socket are on one event loop. A command is answered in
// the turn in which it arrives, without a thread hop, and everything that is ready for a host leaves in one write when
// the world pauses (`RunnerDelegate`).
//
// Callers: `ble air` runs an `AirServer`, `ble lockstep` a `Lockstep` (an air in a virtual time that it shares with
// unchanged programs: Documentation/Lockstep.md); `ble`, `btserver` and CoreBluetoothWorld read world files
// (`WorldFile`). The module calls BluetoothLab for the world, BluetoothSimulation for controllers, BluetoothTransport
// for sockets.
//
// Invariants:
// - A host gets an `ExternalHostDevice`: a device that has a controller while a host is connected. Devices cannot be
//   removed from worlds, so these devices are reused; delayed packets that a host has left behind are dropped.
// - If a host does not read, everything that would grow stops: its packets stay in its controller, which accepts no
//   more data of its peers, and the server does not read from the host.
// - An event loop runs all tasks that are due before it checks its sockets. So a world that is behind continues after
//   10 µs (50 µs in debug builds), not at once.
// - With `--speed max` only the timer runs ahead, in slices of 0.5 ms, so that everything that has arrived is processed
//   first, and only while data moves: data that has not moved for 5 s of radio time (longer than any connection
//   interval) is assumed to wait for something outside the air. The wall clock starts again at each such slice.
// - The loop executes commands of the control socket between two events.
// - The fields of world files are described once (`WorldFields.swift`, `AccessoryFields.swift` and their neighbours):
//   reader, schema and the lists of the page follow from that.
//
// Where to begin: this file, then `HostTable.swift` and `ExternalHostDevice.swift` for hosts, `EventLoopExecutor.swift`
// for time; `WorldReader.swift` for files; `ControlService.swift` for the control socket; `AirPage.swift` for the page.
//
// Specification: Vol 4, Part A (H4 on the sockets). Documentation/World-files.md is for users.

import BluetoothCapture
import BluetoothDaemon
import BluetoothLab
import BluetoothRadio
import BluetoothTransport
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A simulated radio environment ("air") that external hosts join over HCI: each connection gets a new controller.
///
/// World, sockets and timers share one thread, so a packet from a host is answered without a thread switch.
package final class AirServer: Sendable {
  package let world: World
  private let group: MultiThreadedEventLoopGroup
  private let loop: any EventLoop
  private let executor: EventLoopExecutor
  private let hosts: HostTable
  private let ending: EventLoopPromise<Void>
  private let usedFiles: [ClaimedFile]
  private let pages = NIOLockedValueBox<[AirPage]>([])

  /// Creates an air without hosts, and starts it.
  package init(_ options: AirOptions = AirOptions()) {
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
  /// - Throws: an error that is described in one line, if the file can't be created.
  package func capture(to path: String, decryptsAir: Bool = false, writesKeys: Bool = false) throws {
    let world = world
    try onLoop { world.startCapture(try Capture(path: path, decryptsAir: decryptsAir, writesKeys: writesKeys)) }
  }

  // MARK: Listening

  /// Starts listening for hosts at `specifier`, a TCP port or a Unix socket.
  ///
  /// - Returns: the address, with the port that the system has chosen if `specifier` has port 0.
  /// - Throws: `AirError` if listening fails.
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
  /// - Throws: `AirError` if the socket can't be created.
  package func openControl(at path: String) throws {
    if path == ControlSocket.defaultPath { try ControlSocket.makeFolder(of: path) }
    let (world, hosts, ending) = (world, hosts, ending)
    let connections = NIOLoopBoundBox.makeBoxSendingValue([ControlHandler](), eventLoop: loop)
    do {
      let file = try UnixSocketFile(path: path)
      // Backs off while no descriptor is available for another connection.
      let bootstrap = ServerBootstrap(group: loop).serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
        }
      }
      let channel = try bootstrap.childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let service = ControlService(world: world, hosts: hosts, loop: channel.eventLoop, connections: connections) {
            ending.succeed()
          }
          try channel.pipeline.syncOperations.addHandler(ControlHandler(service: service))
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

  /// Serves a page that shows the air and changes it.
  ///
  /// - Returns: the URL of the page.
  /// - Throws: `AirError` if the address can't be used.
  package func openPage(_ options: PageOptions = PageOptions()) throws -> String {
    let (world, hosts, loop) = (world, hosts, loop)
    let connections = NIOLoopBoundBox.makeBoxSendingValue([ControlHandler](), eventLoop: loop)
    do {
      let page = try AirPage(of: world, isAir: true, options) { name, _ in
        loop.submit { hosts.reserve(name) }
      } perform: { request, _ in
        loop.flatSubmit {
          ControlService(world: world, hosts: hosts, loop: loop, connections: connections, stop: {}).answer(request)
        }
      }
      pages.withLockedValue { $0.append(page) }
      return page.url
    } catch {
      throw AirError("can't serve the page at \(options.host):\(options.port): \(error)")
    }
  }

  // MARK: The end

  /// Requests the end of the air, so that `waitForEnd` returns. May be called from any thread, and more than once.
  package func requestEnd() { ending.succeed() }

  /// Waits until the end of the air is requested.
  package func waitForEnd() { try? ending.futureResult.wait() }

  /// Ends the air: closes the connections of hosts, closes all sockets and removes their files, and finishes the
  /// capture.
  ///
  /// - Throws: an error that is described in one line, if the capture can't be written.
  package func stop() throws {
    ending.succeed()
    let open = pages.withLockedValue { pages in
      defer { pages = [] }
      return pages
    }
    for page in open { page.close() }
    hosts.stop()
    let world = world
    defer { try? group.syncShutdownGracefully() }
    let executor = executor
    try onLoop {
      executor.close()
      try world.finishCapture()
    }
  }

  // MARK: Controllers and hosts

  /// The devices for hosts, in the order of their creation.
  package var controllerSlots: [ControllerSlot] {
    let hosts = hosts
    // `onLoop` fails only after the air has ended; the air then has no devices.
    return (try? onLoop { hosts.controllerSlots }) ?? []
  }

  /// Calls `observer` now and after each arrival or departure of a host, with the number of hosts, on the air's thread;
  /// nil ends these calls.
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
