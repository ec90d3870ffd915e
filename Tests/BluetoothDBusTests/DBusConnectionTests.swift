import BluetoothDBus
import NIOConcurrencyHelpers
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite("Connections to a message bus", .enabled(if: PrivateBus.isAvailable, needsBus), .timeLimit(.minutes(1)))
struct DBusConnectionTests {
  private let name = "org.example.Test"
  private let interface = "org.example.Test1"
  private let peer = "org.freedesktop.DBus.Peer"

  /// Returns a bus with two connections.
  private func pair() async throws -> (bus: PrivateBus, client: DBusConnection, service: DBusConnection) {
    let bus = try await privateBus()
    let client = try await DBusConnection.open(.address(bus.address))
    return (bus, client, try await DBusConnection.open(.address(bus.address)))
  }

  /// Returns the error of a call; nil: it has none.
  private func error(
    _ client: DBusConnection, _ member: String, at path: String = "/test", on destination: String,
    _ arguments: [DBusValue] = [], timeout: Duration = .seconds(25)
  ) async -> DBusError? {
    do throws(DBusError) {
      try await client.call(member, of: interface, at: path, on: destination, arguments, timeout: timeout)
      return nil
    } catch { return error }
  }

  @Test("A value of each type arrives as it was sent")
  func values() async throws {
    let (bus, client, service) = try await pair()
    defer { bus.stop() }
    let method = DBusMethod("Echo", in: ["value": "v"], out: ["value": "v"]) { $1.reply($0.arguments) }
    service.export([DBusInterface(interface, methods: [method])], at: "/test")
    let values: [DBusValue] = [
      .byte(255), .bool(true), .int16(-2), .uint16(65_535), .int32(-3), .uint32(.max), .int64(.min), .uint64(.max),
      .double(-0.5), .string("Wörter ✓"), .path("/a/b"), .signature("a{sv}"), .bytes([]), .bytes([0, 1, 255]),
      .strings([]), .strings(["a", ""]), .paths(["/", "/a"]), .properties([:]),
      .properties(["a": .byte(1), "b": .strings(["c"]), "d": .variant(.bool(false))]),
      .dictionary([.uint16(0x4C): .variant(.bytes([1, 2]))], key: "q", value: "v"),
      .dictionary([:], key: "o", value: "a{sa{sv}}"),
      .structure([.string("a"), .array([.structure([.byte(1), .bool(false)])], of: "(yb)")]),
      .array([.bytes([1]), .bytes([])], of: "ay"), .array([], of: "(sv)"),
    ]
    for value in values {
      let reply = try await client.call("Echo", of: interface, at: "/test", on: service.uniqueName, [.variant(value)])
      #expect(reply.body == [.variant(value)])
      #expect(reply.sender == service.uniqueName)
    }
  }

  @Test("Values that the protocol does not permit are refused before they are sent")
  func invalidValues() async throws {
    let (bus, client, service) = try await pair()
    defer { bus.stop() }
    var nested = DBusValue.byte(1)
    for _ in 0..<40 { nested = .variant(nested) }
    let taken = DBusFileDescriptor(owning: -1)
    _ = taken.take()
    let values: [DBusValue] = [
      .string("a\0b"), .path("a"), .path("/a/"), .signature("{"), .array([.byte(1)], of: "s"), .array([], of: "x+"),
      .structure([]), .dictionary([:], key: "v", value: "s"),
      .dictionary([.string("a"): .byte(1)], key: "s", value: "v"), nested, .fileDescriptor(taken),
    ]
    for value in values {
      #expect(
        await error(client, "Ping", on: service.uniqueName, [value])?.name == DBusError.Name.invalidArguments,
        "\(value)")
    }
    #expect(await error(client, "Ping", at: "a", on: ":1.0")?.name == DBusError.Name.invalidArguments)
    #expect(await error(client, "a b", on: ":1.0")?.name == DBusError.Name.invalidArguments)
    #expect(await error(client, "Ping", on: "no name")?.name == DBusError.Name.invalidArguments)
    let long = DBusValue.bytes(Array(repeating: 0, count: 5 << 20))
    #expect(await error(client, "Ping", on: service.uniqueName, [long])?.name == DBusError.Name.limitsExceeded)
    try await client.call("Ping", of: peer, at: "/", on: service.uniqueName)
  }

  @Test("A file descriptor arrives open, and is closed with its object")
  func fileDescriptors() async throws {
    let (bus, client, service) = try await pair()
    defer { bus.stop() }
    var ends: [CInt] = [0, 0]
    try #require(pipe(&ends) == 0)
    let (readEnd, writeEnd) = (ends[0], ends[1])
    let method = DBusMethod("Acquire", out: ["fd": "h", "mtu": "q"]) { _, responder in
      responder.reply([.fileDescriptor(DBusFileDescriptor(owning: writeEnd)), .uint16(23)])
    }
    service.export([DBusInterface(interface, methods: [method])], at: "/test")
    var reply: DBusReply? = try await client.call("Acquire", of: interface, at: "/test", on: service.uniqueName)
    #expect(reply?.body.last == .uint16(23))
    let descriptor = try #require(reply?.body.first?.descriptor?.take())
    #expect(reply?.body.first?.descriptor?.take() == nil, "it was given away")
    reply = nil
    #expect(write(descriptor, "x", 1) == 1)
    close(descriptor)
    // The service has sent its message before it answers another call.
    try await client.call("Ping", of: peer, at: "/", on: service.uniqueName)
    var octets: [UInt8] = [0, 0]
    #expect(read(readEnd, &octets, 2) == 1)
    #expect(read(readEnd, &octets, 2) == 0, "the copies of both programs are closed")
    close(readEnd)
  }

  @Test("A call without a reply fails at its deadline, and a service that forgets its responder is an error")
  func noReply() async throws {
    let (bus, client, service) = try await pair()
    defer { bus.stop() }
    let kept = NIOLockedValueBox<[DBusResponder]>([])
    let methods = [
      DBusMethod("Wait") { _, responder in kept.withLockedValue { $0.append(responder) } },
      DBusMethod("Forget") { _, _ in },
    ]
    service.export([DBusInterface(interface, methods: methods)], at: "/test")
    #expect(
      await error(client, "Wait", on: service.uniqueName, timeout: .milliseconds(30))?.name
        == DBusError.Name.noReply)
    #expect(
      await error(client, "Forget", on: service.uniqueName)
        == DBusError(DBusError.Name.failed, "the service has not answered"))
    let diary = Diary<String>()
    client.call("Wait", of: interface, at: "/test", on: service.uniqueName, timeout: nil) { result in
      if case .failure(let error) = result { diary.add(error.name) }
    }
    client.whenClosed { diary.add("closed") }
    client.close()
    #expect(await diary.next(2) == [DBusError.Name.disconnected, "closed"])
    #expect(await error(client, "Wait", on: service.uniqueName)?.name == DBusError.Name.disconnected)
  }

  @Test("A client that floods a service is refused, and no other client")
  func flood() async throws {
    let (bus, client, other) = try await pair()
    defer { bus.stop() }
    var limits = DBusConnection.Limits()
    limits.callsPerSender = 3
    let service = try await DBusConnection.open(.address(bus.address), limits: limits)
    let kept = NIOLockedValueBox<[DBusResponder]>([])
    let methods = [
      DBusMethod("Wait") { _, responder in kept.withLockedValue { $0.append(responder) } },
      DBusMethod("Answer") { $1.reply() },
    ]
    service.export([DBusInterface(interface, methods: methods)], at: "/test")
    let diary = Diary<String>()
    for number in 0..<5 {
      client.call("Wait", of: interface, at: "/test", on: service.uniqueName) { result in
        switch result {
        case .success: diary.add("\(number): done")
        case .failure(let error): diary.add("\(number): \(error.name)")
        }
      }
    }
    #expect(await diary.next(2) == [3, 4].map { "\($0): \(DBusError.Name.limitsExceeded)" })
    #expect(await error(other, "Answer", on: service.uniqueName) == nil)
    for responder in kept.withLockedValue({ $0 }) { responder.reply() }
    #expect(await diary.next(3) == ["0: done", "1: done", "2: done"])
    #expect(await error(client, "Answer", on: service.uniqueName) == nil)
  }

  @Test("A well-known name has one owner; its watchers see it come and go, and only its owner's signals are taken")
  func names() async throws {
    let (bus, client, service) = try await pair()
    defer { bus.stop() }
    let diary = Diary<String>()
    let watch = client.watchName(name) { diary.add("owner \($0 ?? "none")") }
    let subscription = client.subscribe(DBusMatchRule(sender: name, interface: interface)) { signal in
      diary.add("\(signal.member) \(signal.body.first?.integer ?? 0)")
    }
    #expect(await diary.next(1) == ["owner none"])
    service.emit("Changed", of: interface, at: "/", [.int32(1)])
    #expect(try await service.requestName(name))
    #expect(try await client.requestName(name) == false)
    #expect(try await service.requestName(name))
    service.emit("Changed", of: interface, at: "/", [.int32(2)])
    client.emit("Changed", of: interface, at: "/", [.int32(3)])
    service.emit("Changed", of: interface, at: "/", [.int32(4)])
    #expect(await diary.next(3) == ["owner \(service.uniqueName)", "Changed 2", "Changed 4"])
    let vanished = client.whenVanished(service.uniqueName) { diary.add("vanished") }
    service.close()
    #expect(Set(await diary.next(2)) == ["owner none", "vanished"])
    let already = client.whenVanished(":1.9999") { diary.add("was never there") }
    #expect(await diary.next(1) == ["was never there"])
    withExtendedLifetime((watch, subscription, vanished, already)) {}
  }

  @Test("A subscription ends with its object")
  func subscriptions() async throws {
    let (bus, client, service) = try await pair()
    defer { bus.stop() }
    let diary = Diary<String>()
    let kept = client.subscribe(DBusMatchRule(pathNamespace: "/a")) { diary.add("kept \($0.path)") }
    let quoted = client.subscribe(DBusMatchRule(path: "/q", argument0: "it's")) { diary.add("quoted \($0.path)") }
    var dropped: DBusSubscription? = client.subscribe(DBusMatchRule(path: "/a/b")) { diary.add("dropped \($0.path)") }
    // The bus has the rules when it has passed on a later call.
    try await client.call("Ping", of: peer, at: "/", on: service.uniqueName)
    for path in ["/a/b", "/ab", "/a"] { service.emit("Changed", of: interface, at: path) }
    service.emit("Changed", of: interface, at: "/q", [.string("it's")])
    #expect(await diary.next(4) == ["kept /a/b", "dropped /a/b", "kept /a", "quoted /q"])
    dropped?.cancel()
    dropped = nil
    try await client.call("Ping", of: peer, at: "/", on: service.uniqueName)
    for path in ["/a/b", "/a/c"] { service.emit("Changed", of: interface, at: path) }
    #expect(await diary.next(2) == ["kept /a/b", "kept /a/c"])
    withExtendedLifetime((kept, quoted)) {}
  }

  @Test("The end of the bus ends a connection, and a bus that is not there is an error")
  func end() async throws {
    let (bus, client, service) = try await pair()
    let diary = Diary<String>()
    client.whenClosed { diary.add("closed") }
    bus.stop()
    #expect(await diary.next(1) == ["closed"])
    client.whenClosed { diary.add("closed before") }
    #expect(await diary.next(1) == ["closed before"])
    withExtendedLifetime(service) {}
    for address in [bus.address, "unix:path=/nowhere", "nonsense"] {
      await #expect(throws: DBusError.self) { _ = try await DBusConnection.open(.address(address)) }
    }
  }

  @Test("The handlers run on the executor, in the order of the messages, and the thread does not read far ahead")
  func executor() async throws {
    let (bus, _, service) = try await pair()
    defer { bus.stop() }
    let jobs = Diary<@Sendable () -> Void>()
    let runner = Task { while let job = await jobs.next(1).first { job() } }
    defer { runner.cancel() }
    let client = try await DBusConnection.open(.address(bus.address)) { jobs.add($0) }
    let diary = Diary<Int>()
    let subscription = client.subscribe(DBusMatchRule(member: "Counted")) { diary.add($0.body.first?.integer ?? -1) }
    try await client.call("Ping", of: peer, at: "/", on: service.uniqueName)
    for number in 0..<5_000 { service.emit("Counted", of: interface, at: "/", [.int32(Int32(number))]) }
    #expect(await diary.next(5_000) == Array(0..<5_000))
    withExtendedLifetime(subscription) {}
    client.close()
  }
}
