import BluetoothAdapters
import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothHost
import BluetoothLab
import BluetoothServer
import BluetoothTransport
import BluetoothWire
import CAllocationCount
import Dispatch
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A server in this process that shares one adapter, and its clients.
final class AdapterServer {
  private let folder: URL
  private let server: DaemonServer

  /// - Parameter group: the thread of the server; nil: a thread of its own.
  init(_ adapter: any DaemonAdapter, on group: MultiThreadedEventLoopGroup? = nil) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("served-\(getpid())-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var limits = ServerLimits()
    limits.apps = 256
    let count = NIOLockedValueBox(0)
    var setup = AppsSetup()
    // All clients are this program, so each counts as another app.
    setup.identify = { _ in
      let number = count.withLockedValue { count in
        count += 1
        return count
      }
      return AppIdentity(name: "app \(number)")
    }
    server = DaemonServer([ServedAdapter(name: "adapter", adapter: adapter)], limits: limits, apps: setup, on: group)
    try server.listen(atPath: path)
  }

  deinit {
    server.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  private var path: String { folder.appendingPathComponent("b.sock").path }

  /// Creates the adapter of a client.
  func makeClient(on loop: any EventLoop) -> ServerAdapter {
    ServerAdapter(ServerSpecifier(.unix(path: path), adapter: ""), program: "benchmarks", on: loop)
  }
}

/// The cost of apps whose daemon is in a server, beside that of apps whose daemon is in their process, in the same run.
enum ServedApps {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("served reads", reads), ("served memory", memory), ("served idle", idle),
  ]

  private static let appCount = 100
  private static let linkCount = 10

  @Sendable private static func reads(divisor: Int) throws -> Measurement {
    let count = 50_000 / divisor
    func rate(_ reader: DistantReads.Reader) throws -> Double {
      let app = try DistantApp(reader)
      app.read(1_000)
      return Double(count) / bestTime(of: 3) { app.read(count) }
    }
    let own = try rate(.session)
    let served = try rate(.served)
    return Measurement(
      name: "reads per second through a server",
      result: "\(Int(served).grouped), in one process \(Int(own).grouped):"
        + " \((own / served).rounded(to: 2)) times the time",
      aim: "—",
      method: "\(count.grouped) reads of 20 octets, each begun in the callback of the one before, of a controller on"
        + " another thread that answers at once; the client has a thread, the server and the daemon share one, and a"
        + " Unix socket is between them; best of 3")
  }

  @Sendable private static func memory(divisor: Int) throws -> Measurement {
    let controller = try CannedController()
    controller.start()
    let configuration = DaemonConfiguration(name: "served", host: HostConfiguration(deviceName: "served"))
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let adapter = TransportAdapter(
      configuration, to: .tcp(host: "127.0.0.1", port: controller.port), on: group.next())
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    let server = try AdapterServer(adapter, on: group)
    let first = [IdleClient(adapter), IdleClient(server.makeClient(on: loop))]
    for client in first { client.ready.wait() }
    let own = octets { IdleClient(adapter) }
    let served = octets { IdleClient(server.makeClient(on: loop)) }
    withExtendedLifetime((controller, server, first)) {}
    let ratio = own.flatMap { own in served.map { "\(($0 / max(own, 1)).rounded(to: 0)) times" } } ?? "not counted"
    func text(_ octets: Double?) -> String { octets.map { "\(Int($0).grouped) octets" } ?? "can't be counted here" }
    return Measurement(
      name: "memory per client of a server", result: "\(text(served)), in one process \(text(own)): \(ratio)",
      aim: "64 KiB",
      method: "heap of the server and the clients together, with \(appCount) clients that have a central manager's"
        + " session each, divided by their number; without the kernel's buffers")
  }

  /// Returns the heap octets for each of the clients that `make` creates; nil if they cannot be counted.
  private static func octets(_ make: () -> IdleClient) -> Double? {
    guard allocation_count_is_available() else { return nil }
    var clients: [IdleClient] = []
    clients.reserveCapacity(appCount)
    let before = allocation_octets_in_use()
    for _ in 0..<appCount { clients.append(make()) }
    for client in clients { client.ready.wait() }
    let used = Int(allocation_octets_in_use()) - Int(before)
    withExtendedLifetime(clients) {}
    return Double(used) / Double(appCount)
  }

  @Sendable private static func idle(divisor: Int) throws -> Measurement {
    let seconds = max(0.2, 20 / Double(divisor))
    let apps = divisor > 1 ? 10 : appCount
    func share(isServed: Bool) throws -> Double {
      let world = World(seed: 1, time: .real(speed: 1))
      let phone = world.makeDevice(named: "phone")
      for number in 0..<linkCount { world.add(Flashlight(), named: "flashlight \(number)") }
      let server = isServed ? try AdapterServer(phone.adapter) : nil
      let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
      let clients = (0..<apps).map { _ in
        let adapter: any DaemonAdapter = if let server { server.makeClient(on: loop) } else { phone.adapter }
        return IdleClient(adapter, links: linkCount)
      }
      for client in clients { client.ready.wait() }
      // The world runs in real time, because processor time per second of it is what is measured. First the system reads
      // names and databases, which is not a part of being idle.
      Thread.sleep(forTimeInterval: min(5, seconds))
      let before = processorTime()
      Thread.sleep(forTimeInterval: seconds)
      let used = processorTime() - before
      withExtendedLifetime((world, server, clients)) {}
      return 100 * used / seconds
    }
    let own = try share(isServed: false)
    let served = try share(isServed: true)
    return Measurement(
      name: "\(apps) idle apps that share \(linkCount) links, through a server",
      result: "\(served.rounded(to: 1)) % of a core, in one process \(own.rounded(to: 1)) %:"
        + " \((served / max(own, 0.01)).rounded(to: 2)) times",
      aim: "25 %",
      method: "processor time of server, clients, controllers and air together in \(Int(seconds)) s; the apps share"
        + " \(linkCount) links at an interval of 30 ms")
  }

  /// The processor time of this process in seconds.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// A client that connects to some peripherals and then does nothing.
private final class IdleClient: CentralClient, @unchecked Sendable {
  // Unchecked: the lock guards the variables. It is recursive because `openCentralSession` may call `receive` at once.

  /// Signalled when the links exist; without links, when the adapter is on.
  let ready = DispatchSemaphore(value: 0)
  private let lock = NSRecursiveLock()
  private let adapter: any DaemonAdapter
  private let linkCount: Int
  private var session: CentralSession?
  private var found: Set<PeerHandle> = []
  private var connected: Set<PeerHandle> = []

  init(_ adapter: any DaemonAdapter, links: Int = 0) {
    self.adapter = adapter
    linkCount = links
    lock.withLock { session = adapter.openCentralSession(for: self) }
  }

  func receive(_ event: CentralEvent) {
    lock.withLock {
      switch event {
      case .stateChanged(.poweredOn):
        if linkCount == 0 { ready.signal() }
        let request = ScanRequest(services: [Flashlight.service], solicitedServices: [], allowsDuplicates: true)
        if linkCount > 0 { session?.send(.scan(request)) }
      case .discovered(let discovery):
        guard found.insert(discovery.peer.handle).inserted else { return }
        session?.send(.connect(discovery.peer.handle, delay: .zero, reconnects: false))
        if found.count == linkCount { session?.send(.stopScan) }
      case .connected(let peer, _):
        if connected.insert(peer).inserted, connected.count == linkCount { ready.signal() }
      default: break
      }
    }
  }
}
