import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothLab
import BluetoothServer
import BluetoothTransport
import BluetoothWire
import NIOCore
import NIOPosix
import Requirements
import TestSupport
import Testing

/// A program that sends each client the same octets.
private final class FixedGreeting: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let greeting: ByteBuffer

  private init(_ greeting: ByteBuffer) { self.greeting = greeting }

  static func listen(_ path: String, _ greeting: ByteBuffer) async throws -> any Channel {
    try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(FixedGreeting(greeting))
        }
      }
      .bind(unixDomainSocketPath: path).get()
  }

  func channelActive(context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(greeting), promise: nil)
  }
}

/// Tests of the states that apps see when their server stops, comes back, or is another program.
@Suite(.timeLimit(.minutes(10)))
struct ServerLossTests {
  @Test(
    "Apps see resetting when the server stops and poweredOn when it is back, and can connect again",
    .requirement("L010"))
  func restart() async throws {
    let bench = try ServerBench()
    let app = RemoteCentral(bench.adapter())
    let session = app.adapter.openCentralSession(for: app)
    try await app.state(.poweredOn)
    let peer = try await app.find(Flashlight.service, by: session)
    _ = try await app.connect(to: peer.handle, service: Flashlight.service, by: session)
    let credits = session.writeCredits(for: peer.handle)
    while credits.take() {}
    bench.server.stop()
    try await app.state(.resetting)
    #expect(app.adapter.directory.connectedPeers(offering: [Flashlight.service]).isEmpty)
    #expect(credits.isAvailable)
    // A command of the app to the server that is gone does nothing; a barrier is answered.
    session.send(.connect(peer.handle, delay: .zero, reconnects: false))
    session.send(.barrier(7))
    #expect(try await app.first(\.barrier) == 7)
    try bench.restart()
    try await app.state(.poweredOn)
    #expect(app.adapter.directory.peer(peer.identifier)?.handle == peer.handle)
    _ = try await app.connect(to: peer.handle, service: Flashlight.service, by: session)
  }

  @Test("After a crash of the server, an app connects to a peer without a bond, which the new daemon has not heard")
  func crash() async throws {
    let bench = try ServerBench()
    let app = RemoteCentral(bench.adapter())
    let session = app.adapter.openCentralSession(for: app)
    try await app.state(.poweredOn)
    let peer = try await app.find(Flashlight.service, by: session)
    bench.server.stop()
    try await app.state(.resetting)
    try bench.restartDaemons()
    try await app.state(.poweredOn)
    let adapter = try #require(bench.served.first?.adapter)
    let address = try #require(app.adapter.directory.address(of: peer.handle))
    func isKnown() -> Bool {
      var index: UInt32 = 0
      while let known = adapter.directory.address(of: PeerHandle(index: index)), known != address { index += 1 }
      return adapter.directory.address(of: PeerHandle(index: index)) != nil
    }
    #expect(!isKnown())
    _ = try await app.connect(to: peer.handle, service: Flashlight.service, by: session)
    #expect(isKnown())
  }

  @Test("A session that is opened before the server runs is served when it does")
  func lateServer() async throws {
    let bench = try ServerBench()
    bench.server.stop()
    let app = RemoteCentral(bench.adapter())
    let session = app.adapter.openCentralSession(for: app)
    try await app.state(.resetting)
    try bench.restart()
    try await app.state(.poweredOn)
    session.close()
  }

  @Test("Another program's socket, another version and an unknown adapter are unsupported")
  func unsupported() async throws {
    let log = LogRecorder()
    let bench = try ServerBench()
    let mail = ByteBuffer(string: "220 mail.example ESMTP\r\n")
    let refusal = ServerMessage.refused(Refusal(.version, "this server speaks version 2")).encode(.none).frame()
    let later = ByteBuffer(bytes: try #require(refusal))
    let (other, new) = (bench.folder.file("other.sock"), bench.folder.file("new.sock"))
    let listeners = [try await FixedGreeting.listen(other, mail), try await FixedGreeting.listen(new, later)]
    let group = MultiThreadedEventLoopGroup.singleton
    let specifiers = [
      ServerSpecifier(.unix(path: other)), ServerSpecifier(.unix(path: new)),
      ServerSpecifier(.unix(path: bench.path), adapter: "toaster"),
    ]
    for specifier in specifiers {
      let app = RemoteCentral(ServerAdapter(specifier, program: "app", greetingTime: .hours(1), on: group.next()))
      let session = app.adapter.openCentralSession(for: app)
      try await app.state(.unsupported)
      session.close()
    }
    for listener in listeners { try await listener.close() }
    let advice = "server:\(new): this server speaks version 2: update this program or btserver"
    #expect(log.lines(containing: advice).count == 1)
  }

  @Test("Over TCP, a server takes clients with its token only; others are unauthorized")
  func token() async throws {
    let bench = try ServerBench()
    let secret = Array("0123456789abcdef".utf8)
    let port = try bench.server.listen(host: "127.0.0.1", port: 0, token: secret)
    let place = ServerSpecifier.Place.tcp(host: "127.0.0.1", port: port)
    for (token, state) in [(secret, AdapterState.poweredOn), ([], .unauthorized), (secret + [0], .unauthorized)] {
      let adapter = ServerAdapter(
        ServerSpecifier(place), program: "app", token: token, greetingTime: .hours(1),
        on: MultiThreadedEventLoopGroup.singleton.next())
      let app = RemoteCentral(adapter)
      let session = adapter.openCentralSession(for: app)
      try await app.state(state)
      #expect(adapter.directory.access == (state == .poweredOn ? .allowed : .denied))
      session.close()
    }
  }

  @Test("A server's socket file is for its group, replaces a stale file, and is removed with the server")
  func socketFile() throws {
    let bench = try ServerBench()
    #expect(bench.folder.names.contains("server.sock"))
    #expect(throws: ServerError.self) { try bench.server.listen(atPath: bench.path) }
    bench.server.stop()
    #expect(!bench.folder.names.contains("server.sock"))
  }

  @Test(
    "The specifier of a server has a path or an address, and the name of an adapter",
    arguments: [
      ("server:/run/b.sock", "server:/run/b.sock"), ("server:/run/b.sock,lamp", "server:/run/b.sock,lamp"),
      ("server:tcp:host:99,lamp", "server:tcp:host:99,lamp"),
      ("server", "server:\(ServerSpecifier.defaultPath)"),
      ("server,lamp", "server:\(ServerSpecifier.defaultPath),lamp"),
    ])
  func specifiers(text: String, meaning: String) throws {
    #expect("\(try ServerSpecifier(text))" == meaning)
  }

  @Test("Invalid specifiers of a server are refused", arguments: ["servers", "server:/a,", "server:tcp:host"])
  func invalidSpecifiers(text: String) {
    #expect(throws: SpecifierProblem.self) { try ServerSpecifier(text) }
  }
}
