// Design: the page of an air
//
// A viewer of the page can change the air, so the page is for the user of this machine: `PageAccess` has the rules. The
// page's server has a thread of its own (`HTTPListener`). `PageFeed` asks the world for its state 20 times a second,
// only while there are viewers; the world's thread copies what has happened (`AirRecorder`, `AirCollector`), and the
// page's thread finds out what has changed (`PageModel`) and makes one message of it for all viewers. Commands are the
// requests of the control socket (`ControlService`). What a device sends is text in JSON strings, and never markup.

import BluetoothLab
import BluetoothRadio
import BluetoothTransport
import BluetoothWire
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// The settings of a page.
package struct PageOptions: Sendable {
  package var host = "127.0.0.1"
  /// The port; 0: the system chooses one.
  package var port = 0
  /// True if the address may be reachable from other machines. The connection is not encrypted.
  package var isPublic = false
  /// The name of the program, for the page's title.
  package var program = "ble air"

  package init() {}

  /// The address that options choose if they name none: any free port of the loopback.
  package static let standardAddress = "127.0.0.1:0"

  /// Reads an address.
  ///
  /// - Parameters:
  ///   - address: `HOST:PORT`.
  ///   - allowsPublic: true if the address may be reachable from other machines.
  package init(address: String, allowsPublic: Bool, program: String) throws(SpecifierProblem) {
    let specifier = try TransportSpecifier("tcp:" + address)
    guard case .tcp(let host, let port) = specifier else {
      throw SpecifierProblem(description: "expected HOST:PORT")
    }
    guard allowsPublic || specifier.isLocal else {
      throw SpecifierProblem(
        description: "reachable from other machines, without encryption; use --public to allow it")
    }
    (self.host, self.port, isPublic, self.program) = (host, port, !specifier.isLocal, program)
  }
}

/// A page on this machine that shows a world as it lives, and changes it.
package final class AirPage: Sendable {
  /// The URL of the page, with the token that it needs.
  package let url: String
  private let group: MultiThreadedEventLoopGroup
  private let listener: HTTPListener
  private let feed: PageFeed
  private let run: PageRun?

  /// Starts to serve the page of a world.
  ///
  /// - Parameters:
  ///   - world: the world; nil: the page shows only apps.
  ///   - apps: the apps of a server; nil: there are none.
  ///   - isAir: true if the world can be saved as a world file.
  ///   - reserve: reserves the name of a device.
  ///   - perform: executes a request of the control socket. It is called on the loop that it gets.
  /// - Throws: an error if the address can't be used.
  init(
    of world: World?, isAir: Bool = false, apps: PageApps? = nil, _ options: PageOptions,
    reserve: @escaping @Sendable (String, any EventLoop) -> EventLoopFuture<Bool>,
    perform: @escaping @Sendable (ControlRequest, any EventLoop) -> EventLoopFuture<ControlAnswer>
  ) throws {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let gate = PageGate(loop)
    let run = world.flatMap { $0.realTimeRunner == nil ? PageRun($0) : nil }
    self.run = run
    let hello = Self.hello(world, isAir: isAir, hasApps: apps != nil, options)
    let feed = PageFeed(world, apps, run, hello: hello, gate: gate)
    self.feed = feed
    let gatt = world.map { world in PageGATT(world, on: loop) { reserve($0, loop) } }
    let commands = PageCommands(feed: feed, perform: { perform($0, loop) }, run: run, gatt: gatt, apps: apps)
    // The port is known only when the listener has it.
    let access = NIOLoopBoundBox<PageAccess?>.makeBoxSendingValue(nil, eventLoop: loop)
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: ViewerHandler.longestMessage,
      shouldUpgrade: { channel, head in
        let decision = access.value?.decide(head, needsOrigin: true)
        return channel.eventLoop.makeSucceededFuture(decision == .allowed("events") ? HTTPHeaders() : nil)
      },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          let aggregator = NIOWebSocketFrameAggregator(
            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 64,
            maxAccumulatedFrameSize: ViewerHandler.longestMessage)
          try channel.pipeline.syncOperations.addHandlers(aggregator, ViewerHandler(feed, commands))
        }
      })
    do {
      listener = try HTTPListener(host: options.host, port: options.port, on: loop, webSockets: upgrader) { head in
        loop.makeSucceededFuture(Self.answer(to: head, access.value, feed))
      }
    } catch {
      try? group.syncShutdownGracefully()
      throw error
    }
    let rules = PageAccess(host: options.host, port: listener.port, isPublic: options.isPublic)
    url = rules.url
    try loop.submit { access.value = rules }.wait()
  }

  /// Starts to serve the page of a world that is no air, or that of a server.
  ///
  /// - Throws: `AirError` if the address can't be used.
  package convenience init(of world: World?, apps: PageApps? = nil, _ options: PageOptions) throws {
    do {
      try self.init(of: world, apps: apps, options) { name, loop in
        loop.makeSucceededFuture(!(world?.deviceNames.contains(name) ?? true))
      } perform: { request, loop in
        guard let world else {
          return loop.makeSucceededFuture(ControlAnswer(error: "this server has no simulated adapter"))
        }
        let connections = NIOLoopBoundBox([ControlHandler](), eventLoop: loop)
        return ControlService(world: world, hosts: nil, loop: loop, connections: connections, stop: {}).answer(request)
      }
    } catch {
      throw AirError("can't serve the page at \(options.host):\(options.port): \(error)")
    }
  }

  /// Lets the viewers run a world in virtual time, on this thread, until one of them says that the program goes on. Does
  /// nothing in real time.
  @available(*, noasync, message: "it blocks the thread")
  package func runWorld() { run?.serve() }

  /// Ends the connections of all viewers, and closes the socket. Must not be called on the thread of the world.
  package func close(_ reason: String = "the air ended") {
    run?.end()
    let feed = feed
    try? listener.close().wait()
    try? feed.gate.loop.submit { feed.close(reason) }.wait()
    feed.gate.close()
    try? group.syncShutdownGracefully()
  }

  /// The number of viewers.
  package var viewerCount: Int {
    let feed = feed
    return (try? feed.gate.loop.submit { feed.viewerCount }.wait()) ?? 0
  }

  private static func hello(_ world: World?, isAir: Bool, hasApps: Bool, _ options: PageOptions) -> JSONText {
    let isReal = world.map { $0.realTimeRunner != nil } ?? true
    var features: [String] = []
    if world != nil {
      features += [
        "move", "radio", "power", "fault", "packets", "packet", "capture", "channels", "links", "energy", "add",
        "remove", "gatt",
      ]
      features += isReal ? ["stats", "speed", "pause", "step"] : ["speed", "pause", "run"]
    }
    if isAir { features.append("save") }
    if hasApps { features.append("apps") }
    return .object([
      ("type", .text("hello")), ("protocol", .number("1")), ("program", .text(options.program)),
      ("time", .text(isReal ? "real" : "virtual")), ("features", .list(features.map { .text($0) })),
      ("kinds", .list(AccessoryKind.all.map { .text($0.shape.name) })),
      (
        "limits",
        .object([
          ("packetsPerTick", .whole(PageModel.packetsPerTick)), ("packetsKept", .whole(PacketLog.capacity)),
          ("message", .whole(ViewerHandler.longestMessage)),
        ])
      ),
    ])
  }

  // MARK: Files

  private static func answer(to head: HTTPRequestHead, _ access: PageAccess?, _ feed: PageFeed) -> HTTPAnswer {
    guard let access else { return .line(.serviceUnavailable, "not ready") }
    var answer: HTTPAnswer
    switch access.decide(head, needsOrigin: false) {
    case .forbidden: answer = .line(.forbidden, "forbidden")
    case .notFound: answer = .line(.notFound, "not found; the address of the page is in the program's output")
    case .allowed where head.method != .GET && head.method != .HEAD:
      answer = .line(.methodNotAllowed, "method not allowed")
    // A browser's WebSocket without the origin of the page, or a request for something else than a WebSocket.
    case .allowed("events"): answer = .line(.forbidden, "forbidden")
    case .allowed("capture.pcapng"):
      answer = HTTPAnswer(
        .ok, type: "application/vnd.tcpdump.pcap", ByteBuffer(bytes: feed.capture),
        fields: [("Content-Disposition", "attachment; filename=\"air.pcapng\"")])
    case .allowed(let path):
      let name = path.isEmpty ? "index.html" : path
      answer = PageFiles.all[name].map { HTTPAnswer(.ok, type: $0.type, $0.octets) } ?? .line(.notFound, "not found")
    }
    // `decide` has compared it with the names of this server.
    let host = head.headers["Host"].first { _ in answer.status != .forbidden } ?? ""
    answer.fields += securityFields(host)
    return answer
  }

  private static func securityFields(_ host: String) -> [(String, String)] {
    let sockets = host.isEmpty ? "" : " ws://\(host)"
    let policy =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'\(sockets); "
      + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    return [
      ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
      ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
      ("X-Frame-Options", "DENY"), ("Cache-Control", "no-store"),
    ]
  }
}

extension PageAccess {
  fileprivate func decide(_ head: HTTPRequestHead, needsOrigin: Bool) -> Decision {
    decide(
      head.uri, hosts: head.headers["Host"], origins: head.headers["Origin"], needsOrigin: needsOrigin,
      site: head.headers["Sec-Fetch-Site"].first)
  }
}
