import BluetoothDaemon
import BluetoothLab
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import BluetoothDaemonProtocol
@testable import BluetoothServer

/// Clients that violate the protocol, or do not keep up, while another app uses the same adapter.
@Suite(.timeLimit(.minutes(10)))
struct HostileClientTests {
  /// Checks that an app with a link is served as before.
  private func expectService(_ app: RemoteCentral, _ session: CentralSession, _ peer: PeerHandle) async throws {
    session.send(.readRSSI(peer))
    let rssi = try await app.first(\.rssi)
    #expect(throws: Never.self) { try rssi.get() }
  }

  /// An app with a link to the flashlight.
  private func app(_ bench: ServerBench) async throws -> (RemoteCentral, CentralSession, PeerHandle) {
    let app = RemoteCentral(bench.adapter())
    let session = app.adapter.openCentralSession(for: app)
    try await app.state(.poweredOn)
    let peer = try await app.find(Flashlight.service, by: session).handle
    session.send(.connect(peer, delay: .zero, reconnects: false))
    #expect(try await app.first(\.connected) == peer)
    return (app, session, peer)
  }

  @Test("Octets that are no message end the connection that they arrive on, and no other")
  func garbage() async throws {
    let bench = try ServerBench()
    let (app, session, peer) = try await app(bench)
    let inputs: [[UInt8]] = [
      [0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3], [0, 0, 0, 0], Array("GET / HTTP/1.1\r\n\r\n".utf8), [1, 3, 12, 0],
      [3, 0, 0, 0, 1, 0, 9],
    ]
    for input in inputs {
      let (client, channel) = try await RawClient.connect(bench.path)
      channel.writeAndFlush(ByteBuffer(bytes: input), promise: nil)
      #expect(await client.refusal() == .protocolViolation)
      try await expectService(app, session, peer)
    }
    // After the greeting, too.
    let (client, channel) = try await RawClient.connect(bench.path)
    channel.writeAndFlush(try RawClient.frame(.hello(Hello())), promise: nil)
    channel.writeAndFlush(ByteBuffer(bytes: [2, 0, 0, 0, 0x00, 0x01]), promise: nil)
    #expect(await client.refusal() == .protocolViolation)
    try await expectService(app, session, peer)
  }

  @Test("A message of an unknown type is answered, and the connection goes on")
  func unknownType() async throws {
    let bench = try ServerBench()
    let (client, channel) = try await RawClient.connect(bench.path)
    channel.writeAndFlush(try RawClient.frame(.hello(Hello(adapter: "lamp"))), promise: nil)
    channel.writeAndFlush(ByteBuffer(bytes: [4, 0, 0, 0, 0x34, 0x03, 7, 7]), promise: nil)
    channel.writeAndFlush(try RawClient.frame(.openCentral(SessionNumber(5))), promise: nil)
    var found: [String] = []
    loop: for await message in client.messages {
      switch message {
      case .welcome(let welcome): found.append("welcome \(welcome.adapter) \(welcome.version)")
      case .unknownMessage(let type): found.append("unknown \(type)")
      case .central(let number, .stateChanged(.poweredOn)):
        found.append("on \(number.value)")
        break loop
      default: break
      }
    }
    #expect(found == ["welcome lamp 1", "unknown \(0x0334)", "on 5"])
    try await channel.close()
  }

  @Test("What a client may not do ends its connection: two greetings, a session twice, too many, events never sent")
  func violations() async throws {
    let bench = try ServerBench()
    let (app, session, peer) = try await app(bench)
    let one = SessionNumber(1)
    let cases: [(messages: [ClientMessage], reason: RefusalReason)] = [
      ([.hello(Hello())], .protocolViolation),
      ([.openCentral(one), .openCentral(one)], .protocolViolation),
      ([.openCentral(one), .eventsHandled(one, count: 1_000)], .protocolViolation),
      ((1...65).map { .openPeripheral(SessionNumber($0)) }, .tooMany),
      ([.openCentral(one), .central(one, .readRSSI(PeerHandle(index: 77_777)), seenStates: 0)], .protocolViolation),
    ]
    for (index, item) in cases.enumerated() {
      let (client, channel) = try await RawClient.connect(bench.path)
      var octets = try RawClient.frame(.hello(Hello()))
      for message in item.messages {
        var frame = try RawClient.frame(message)
        octets.writeBuffer(&frame)
      }
      channel.writeAndFlush(octets, promise: nil)
      let reason = await client.refusal()
      #expect(reason == item.reason, "case \(index)")
      try await expectService(app, session, peer)
    }
  }

  @Test("The server stops to read from a client that floods it and reads nothing; another app is served")
  func flood() async throws {
    let bench = try ServerBench()
    let (app, session, peer) = try await app(bench)
    let (_, channel) = try await RawClient.connect(bench.path, reads: false)
    try await channel.writeAndFlush(try RawClient.frame(.hello(Hello())))
    // Each request has an answer, which this client does not read.
    var requests = ByteBuffer()
    for _ in 0..<2_000 {
      var frame = try RawClient.frame(.listClients)
      requests.writeBuffer(&frame)
    }
    // 18 MB, more than all buffers between the two hold.
    for _ in 0..<1_500 { channel.writeAndFlush(requests, promise: nil) }
    for _ in 0..<20 { try await expectService(app, session, peer) }
    // The rest still waits here, once the client's loop has written what it can.
    try await channel.eventLoop.submit {}.get()
    #expect(!channel.isWritable)
    try await channel.close()
    try await expectService(app, session, peer)
  }

  @Test("An app that handles no events is disconnected when the daemon holds links because of it")
  func stall() async throws {
    var limits = ServerLimits.patient
    limits.stallTime = .milliseconds(200)
    let bench = try ServerBench(limits: limits)
    let (client, channel) = try await RawClient.connect(bench.path)
    let one = SessionNumber(1)
    channel.writeAndFlush(try RawClient.frame(.hello(Hello())), promise: nil)
    channel.writeAndFlush(try RawClient.frame(.openCentral(one)), promise: nil)
    // Barriers are answered by events, which this client reads and never reports as handled.
    for number in 0..<300 as Range<UInt32> {
      channel.write(try RawClient.frame(.central(one, .barrier(number), seenStates: 0)), promise: nil)
    }
    channel.flush()
    #expect(await client.refusal() == .tooSlow)
  }

  @Test("A client that handles none of 2,048 events of a manager is disconnected, whichever role the manager has")
  func exhaustion() async throws {
    let bench = try ServerBench()
    let (app, session, peer) = try await app(bench)
    let one = SessionNumber(1)
    for isCentral in [true, false] {
      let (client, channel) = try await RawClient.connect(bench.path)
      channel.write(try RawClient.frame(.hello(Hello())), promise: nil)
      channel.write(try RawClient.frame(isCentral ? .openCentral(one) : .openPeripheral(one)), promise: nil)
      for number in 0..<UInt32(SessionLimits.maximumWaitingEvents) {
        let message: ClientMessage =
          isCentral
          ? .central(one, .barrier(number), seenStates: 0) : .peripheral(one, .barrier(number), seenStates: 0)
        channel.write(try RawClient.frame(message), promise: nil)
      }
      channel.flush()
      #expect(await client.refusal() == .tooSlow)
      try await expectService(app, session, peer)
    }
  }

  @Test("More clients than the limit are refused")
  func clientLimit() async throws {
    var limits = ServerLimits.patient
    limits.clients = 1
    var setup = AppsSetup()
    setup.mayControl = { _ in false }
    let bench = try ServerBench(limits: limits, apps: setup)
    let (app, session, peer) = try await app(bench)
    let (client, channel) = try await RawClient.connect(bench.path)
    channel.writeAndFlush(try RawClient.frame(.hello(Hello())), promise: nil)
    #expect(await client.refusal() == .tooMany)
    try await expectService(app, session, peer)
  }

  @Test("Connections without a greeting take no place of a client, and displace only each other, the oldest first")
  func strangers() async throws {
    var limits = ServerLimits.patient
    // One place for all clients on TCP.
    limits.clients = 4
    limits.strangers = 3
    let token = Array("0123456789abcdef".utf8)
    let bench = try ServerBench(limits: limits)
    let port = try bench.server.listen(host: "127.0.0.1", port: 0, token: token)
    var strangers: [(client: RawClient, channel: any Channel)] = []
    for _ in 0..<5 { strangers.append(try await RawClient.connect(port: port)) }
    for stranger in strangers.prefix(2) { #expect(await stranger.client.refusal() == .tooMany) }
    // The connection with the token displaces the third one for a moment, and gets the place.
    let (client, channel) = try await RawClient.connect(port: port)
    #expect(await strangers[2].client.refusal() == .tooMany)
    channel.writeAndFlush(try RawClient.frame(.hello(Hello(adapter: "lamp", token: ByteSlice(token)))), promise: nil)
    for await message in client.messages {
      guard case .welcome(let welcome) = message else { continue }
      #expect(welcome.adapter == "lamp")
      break
    }
    #expect(bench.server.connectedClients.count == 1)
    // A stranger becomes a client, for whom there is no place, and a program of this machine is served as before.
    strangers[3].channel.writeAndFlush(
      try RawClient.frame(.hello(Hello(token: ByteSlice(token)))), promise: nil)
    #expect(await strangers[3].client.refusal() == .tooMany)
    let (app, session, peer) = try await app(bench)
    try await expectService(app, session, peer)
    // The end of the server closes the last stranger, too.
    bench.server.stop()
    #expect(await strangers[4].client.refusal() == .stopping)
  }

  @Test("Who connects and leaves again and again causes some lines of the log in a period, and then their number")
  func logFlood() async throws {
    let log = LogRecorder()
    var limits = ServerLimits.patient
    limits.logLines = 3
    let bench = try ServerBench(limits: limits)
    let token = Array("0123456789abcdef".utf8)
    let port = try bench.server.listen(host: "127.0.0.1", port: 0, token: token)
    var ports: [Int] = []
    for _ in 0..<50 {
      let (client, channel) = try await RawClient.connect(port: port)
      ports.append(try #require(channel.localAddress?.port))
      channel.writeAndFlush(try RawClient.frame(.hello(Hello(token: ByteSlice(token)))), promise: nil)
      for await message in client.messages { if case .welcome = message { break } }
      try await channel.close()
    }
    // A program of this machine is another origin.
    let (app, session, peer) = try await app(bench)
    try await expectService(app, session, peer)
    bench.server.stop()
    // A client of another test may have the same port: 3 of the 100 lines are there because 97 are missing.
    #expect(log.lines(containing: ":\(ports[0]) ").contains { $0.contains("uses the adapter") })
    #expect(
      log.lines(containing: "97 lines are missing here, which 127.0.0.1 has caused within 3600 s").count == 1)
  }

  @Test("A user who opens as many connections as possible keeps neither apps of others nor the settings from working")
  func greedyUser() async throws {
    var limits = ServerLimits.patient
    limits.clients = 16
    let isAdministrator = NIOLockedValueBox(false)
    var setup = AppsSetup()
    setup.mayControl = { _ in isAdministrator.withLockedValue { $0 } }
    let bench = try ServerBench(limits: limits, apps: setup)
    var channels: [any Channel] = []
    var refusal: RefusalReason?
    while refusal == nil {
      let (client, channel) = try await RawClient.connect(bench.path)
      channel.writeAndFlush(try RawClient.frame(.hello(Hello())), promise: nil)
      channels.append(channel)
      for await message in client.messages {
        if case .refused(let reason) = message { refusal = reason.reason }
        if case .welcome = message { break }
      }
    }
    #expect(refusal == .tooMany)
    // The clients from now on are of the server's user.
    isAdministrator.withLockedValue { $0 = true }
    let (app, session, peer) = try await app(bench)
    try await expectService(app, session, peer)
    let question = ServerQuestion(to: ServerSpecifier(.unix(path: bench.path)), within: .hours(1))
    try await onOwnThread { try question.perform(.setPower(true)) }
    for channel in channels { try? await channel.close() }
  }

  @Test("Each user gets a quarter of the places, those who may control the server all and eight in reserve")
  func places() throws {
    var places = ClientPlaces(16)
    func fill(_ owner: ClientPlaces.Owner, mayControl: Bool = false) -> [ClientPlaces.Place] {
      var taken: [ClientPlaces.Place] = []
      while let place = try? places.take(for: owner, mayControl: mayControl) { taken.append(place) }
      return taken
    }
    let one = fill(.user(1))
    #expect(one.count == 4)
    #expect(fill(.network).count == 4)
    #expect(fill(.user(2)).count == 4)
    let own = fill(.user(1_000), mayControl: true)
    #expect(own.count == 4 + 8)
    #expect(fill(.user(0), mayControl: true).count == 8)
    #expect(fill(.user(3)).isEmpty)
    // A place that is free again serves any user; one in reserve only a user who may control the server.
    places.free(try #require(own.last))
    #expect(fill(.user(3)).isEmpty)
    #expect(fill(.user(1_000), mayControl: true).count == 1)
    places.free(try #require(one.last))
    #expect(fill(.user(3)).count == 1)
    #expect(fill(.user(1)).isEmpty)
    var single = ClientPlaces(1)
    #expect(throws: Never.self) { try single.take(for: .user(1), mayControl: false) }
    #expect(throws: ClientPlaces.Full.self) { try single.take(for: .user(2), mayControl: false) }
  }

  @Test("A program that asks again and again for an adapter that is not there gives one line, until it is accepted")
  func repeatedRefusals() async throws {
    let log = LogRecorder()
    let bench = try ServerBench()
    func connect(to adapter: String) async throws -> RefusalReason? {
      let (client, channel) = try await RawClient.connect(bench.path)
      channel.writeAndFlush(try RawClient.frame(.hello(Hello(adapter: adapter))), promise: nil)
      var reason: RefusalReason?
      for await message in client.messages {
        if case .refused(let refusal) = message { reason = refusal.reason }
        if case .welcome = message { break }
      }
      try? await channel.close()
      return reason
    }
    func warnings() -> Int {
      log.levels(ofLinesContaining: "no adapter \"kettle\"").count { $0 == "warning" }
    }
    for _ in 0..<3 { #expect(try await connect(to: "kettle") == .unknownAdapter) }
    #expect(warnings() == 1)
    #expect(try await connect(to: "lamp") == nil)
    for _ in 0..<3 { #expect(try await connect(to: "kettle") == .unknownAdapter) }
    #expect(warnings() == 2)
  }

  @Test("Messages that the log tells of give one line of each kind about a connection, and each has its answer")
  func repeatedLines() async throws {
    let log = LogRecorder()
    let count = 200
    let token = Array("0123456789abcdef".utf8)
    for mayControl in [false, true] {
      var setup = AppsSetup()
      setup.mayControl = { _ in mayControl }
      let bench = try ServerBench(apps: setup)
      // The log names a client on TCP by its port, and one on a Unix socket by its process, which is that of all tests.
      let server = try bench.server.listen(host: "127.0.0.1", port: 0, token: token)
      let (client, channel) = try await RawClient.connect(port: server)
      let port = try #require(channel.localAddress?.port)
      channel.write(try RawClient.frame(.hello(Hello(adapter: "lamp", token: ByteSlice(token)))), promise: nil)
      for number in 0..<UInt16(count) {
        // Types of a reserved group, which this server does not know.
        let type = 0x0C00 + number
        channel.write(
          ByteBuffer(bytes: [2, 0, 0, 0, UInt8(truncatingIfNeeded: type), UInt8(type >> 8)]), promise: nil)
        channel.write(try RawClient.frame(.unknownMessage(type: type)), promise: nil)
        channel.write(try RawClient.frame(.app(.setPower(true))), promise: nil)
        channel.write(try RawClient.frame(.app(.monitor)), promise: nil)
      }
      channel.flush()
      var unknown: [UInt16] = []
      var answers = 0
      for await message in client.messages {
        if case .unknownMessage(let type) = message { unknown.append(type) }
        if case .app(.done(let failure)) = message {
          #expect((failure == nil) == mayControl)
          answers += 1
        }
        if unknown.count == count, answers == 2 * count { break }
      }
      #expect(unknown == (0..<UInt16(count)).map { 0x0C00 + $0 })
      #expect(answers == 2 * count)
      try await channel.close()
      func lines(_ text: String) -> Int { log.lines(containing: "127.0.0.1:\(port) \(text)").count }
      #expect(lines("has sent a message of the unknown type 3072") == 1)
      #expect(lines("has sent a message of the unknown type") == 1)
      #expect(lines("does not know the messages of type 3072") == 1)
      #expect(lines("does not know the messages of type") == 1)
      #expect(lines("may not control the server") == (mayControl ? 0 : 1))
      #expect(lines("switches the adapter on") == (mayControl ? 1 : 0))
      #expect(lines("monitors the adapter lamp") == (mayControl ? 1 : 0))
    }
  }

  @Test("The log tells refusals of programs and reasons apart, and not the ports of clients on TCP")
  func refusalLog() {
    func process(_ program: String?, _ user: UInt32 = 1) -> ClientIdentity {
      ClientIdentity(
        process: ClientIdentity.Process(id: 7, user: user, group: 1, program: program, file: nil), address: nil)
    }
    func network(_ address: String) -> ClientIdentity { ClientIdentity(process: nil, address: address) }
    var log = RefusalLog()
    func isNew(_ reason: RefusalReason, of client: ClientIdentity) -> Bool { log.isNew(reason, of: client) }
    for client in [process("/a"), process("/b"), process("/a", 2), process(nil), network("1.2.3.4:5")] {
      #expect(isNew(.unknownAdapter, of: client))
      #expect(!isNew(.unknownAdapter, of: client))
      #expect(isNew(.version, of: client))
    }
    #expect(!isNew(.version, of: network("1.2.3.4:6")))
    #expect(isNew(.version, of: network("1.2.3.5:6")))
    log.accepted(process("/a"))
    #expect(isNew(.version, of: process("/a")))
    #expect(!isNew(.version, of: process("/b")))
    // The memory is limited: the first programs are forgotten.
    for number in 0..<5_000 { #expect(isNew(.tooMany, of: process("/\(number)"))) }
    #expect(isNew(.tooMany, of: process("/0")))
  }

  @Test(
    "A server refuses a client with which it has no version in common",
    arguments: [0...0, 2...9] as [ClosedRange<UInt16>])
  func versions(_ versions: ClosedRange<UInt16>) async throws {
    let bench = try ServerBench()
    let (client, channel) = try await RawClient.connect(bench.path)
    channel.writeAndFlush(try RawClient.frame(.hello(Hello(versions: versions))), promise: nil)
    #expect(await client.refusal() == .version)
  }

  @Test("A client that says nothing is disconnected after a time")
  func silence() async throws {
    var limits = ServerLimits.patient
    limits.greetingTime = .milliseconds(20)
    let bench = try ServerBench(limits: limits)
    let (client, _) = try await RawClient.connect(bench.path)
    #expect(await client.refusal() == .protocolViolation)
  }
}
