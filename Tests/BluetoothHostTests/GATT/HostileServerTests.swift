import BluetoothHost
import BluetoothWire
import Testing

/// The rows of the project's table of hostile peers for the client side of ATT and GATT, each with the general oracle.
@Suite("Hostile servers")
struct HostileServerTests {
  /// A request, the server's previous answers, and its broken answer.
  struct BrokenAnswer: CustomTestStringConvertible {
    let request: GATTRequest
    let answers: [String]
    let why: String
    var error = GATTError.invalidResponse
    init(_ request: GATTRequest, _ answers: String..., why: String) {
      (self.request, self.answers, self.why) = (request, answers, why)
    }
    /// An answer with a handle that can't be.
    init(_ request: GATTRequest, _ answers: String..., handle: String) {
      (self.request, self.answers, why, error) = (request, answers, handle, .invalidHandle)
    }
    var testDescription: String { "\(request): \(why)" }
  }

  private static let services = GATTRequest.discoverPrimaryServices
  private static let service = GATTRequest.discoverPrimaryService(0x180D)
  private static let includes = GATTRequest.findIncludedServices(in: 10...20)
  private static let characteristics = GATTRequest.discoverCharacteristics(in: 10...20)
  private static let one = GATTRequest.discoverCharacteristic(0x2A37, in: 10...20)
  private static let descriptors = GATTRequest.discoverDescriptors(in: 10...20)
  private static let values = GATTRequest.readByType(0x2A37, in: 10...20)

  private static let broken: [BrokenAnswer] = [
    BrokenAnswer(services, "1106 00000500 0018", handle: "handle 0"),
    BrokenAnswer(services, "1106 01000300 0018 04000000 e0ff", handle: "an end handle of 0"),
    BrokenAnswer(services, "1106 05000400 0018", handle: "the end before the start"),
    BrokenAnswer(services, "1106 01000500 0018 01000500 0018", handle: "the same service twice"),
    BrokenAnswer(services, "1106 01000500 0018 05000900 0118", handle: "services that overlap"),
    BrokenAnswer(services, "1106 06000900 0018 01000500 0118", handle: "services that go down"),
    BrokenAnswer(services, "1106 01000500 0018", "1106 01000500 0018", handle: "the first services again"),
    BrokenAnswer(services, "1106 01000500 0018", "1106 03000600 0018", handle: "a service before what was asked for"),
    BrokenAnswer(services, "1106 01000500 0018 0600", why: "half a service"),
    BrokenAnswer(services, "1107 0100050000180000", why: "a UUID of 24 bits"),
    BrokenAnswer(services, "1108 01000500 00180000", why: "a UUID of 32 bits"),
    BrokenAnswer(services, "1104 01000500", why: "no UUID"), BrokenAnswer(services, "1106", why: "no service"),
    BrokenAnswer(services, "1100 01000500", why: "length 0"), BrokenAnswer(services, "1103 010005", why: "length 3"),
    BrokenAnswer(services, "11", why: "no length"), BrokenAnswer(services, "11ff 01000500 0018", why: "length 255"),
    BrokenAnswer(service, "07 00000400", handle: "handle 0"),
    BrokenAnswer(service, "07 05000400", handle: "end before start"),
    BrokenAnswer(service, "07 05000900 09000a00", handle: "services that overlap"),
    BrokenAnswer(service, "07 05000900", "07 05000900", handle: "the first service again"),
    BrokenAnswer(service, "07 050009", why: "half a range"), BrokenAnswer(service, "07", why: "no service"),
    BrokenAnswer(includes, "0908 1500 01000500 0018", handle: "outside the range"),
    BrokenAnswer(includes, "0908 0900 01000500 0018", handle: "before the range"),
    BrokenAnswer(includes, "0908 0b00 05000100 0018", handle: "a service that ends before it begins"),
    BrokenAnswer(includes, "0908 0b00 00000500 0018", handle: "a service at handle 0"),
    BrokenAnswer(includes, "0908 0b00 01000500 0018 0b00 01000500 0018", handle: "the same declaration twice"),
    BrokenAnswer(includes, "0908 0b00 01000500 0018", "0908 0b00 01000500 0018", handle: "the first one again"),
    BrokenAnswer(includes, "0907 0b00 01000500 00", why: "half a UUID"),
    BrokenAnswer(includes, "0902 0b00", why: "nothing"),
    BrokenAnswer(includes, "0906 1400 01000500", "0b00", why: "a service without a UUID"),
    BrokenAnswer(includes, "0906 1400 01000500", "0b01020304", why: "a service with a UUID of 32 bits"),
    BrokenAnswer(characteristics, "0907 0b00 02 0c00 372a 0b00 02 0c00 372a", handle: "the same declaration twice"),
    BrokenAnswer(characteristics, "0907 0c00 02 0d00 372a 0b00 02 0c00 372a", handle: "declarations that go down"),
    BrokenAnswer(characteristics, "0907 1500 02 1600 372a", handle: "outside the range"),
    BrokenAnswer(characteristics, "0907 0000 02 0100 372a", handle: "handle 0"),
    BrokenAnswer(characteristics, "0907 0b00 02 0b00 372a", handle: "a value where the declaration is"),
    BrokenAnswer(characteristics, "0907 0b00 02 0000 372a", handle: "a value at handle 0"),
    BrokenAnswer(characteristics, "0907 0b00 02 1500 372a", handle: "a value outside the range"),
    BrokenAnswer(characteristics, "0907 0b00 02 0c00 372a", "0907 0b00 02 0c00 372a", handle: "the first one again"),
    BrokenAnswer(characteristics, "0906 0b00 02 0c00 37", why: "half a UUID"),
    BrokenAnswer(characteristics, "0909 0b00 02 0c00 372a0000", why: "a UUID of 32 bits"),
    BrokenAnswer(characteristics, "0905 0b00 02 0c00", why: "no UUID"),
    BrokenAnswer(characteristics, "0902 0b00", why: "nothing but a handle"),
    BrokenAnswer(characteristics, "0901 0b", why: "length 1"), BrokenAnswer(characteristics, "0900", why: "length 0"),
    BrokenAnswer(characteristics, "0907 0b00 02 0c00 372a 0d", why: "a rest"),
    BrokenAnswer(one, "0907 0b00 02 0c00 372a", "0907 0b00 02 0c00 372a", handle: "the first one again"),
    BrokenAnswer(descriptors, "0501 0a000229 0a000229", handle: "the same handle twice"),
    BrokenAnswer(descriptors, "0501 0b000229 0a000229", handle: "handles that go down"),
    BrokenAnswer(descriptors, "0501 09000229", handle: "before the range"),
    BrokenAnswer(descriptors, "0501 15000229", handle: "behind the range"),
    BrokenAnswer(descriptors, "0501 0a000229", "0501 0a000229", handle: "the first one again"),
    BrokenAnswer(descriptors, "0503 0a000229", why: "an unknown format"),
    BrokenAnswer(descriptors, "0501", why: "nothing"),
    BrokenAnswer(descriptors, "0502 0a000229", why: "a short UUID as a long one"),
    BrokenAnswer(descriptors, "0501 0a0002", why: "half a UUID"),
    BrokenAnswer(values, "0904 0900 0102", handle: "outside the range"),
    BrokenAnswer(values, "0904 0b00 0102 0b00 0102", handle: "the same handle twice"),
    BrokenAnswer(values, "0904 0b00 0102 0c", why: "a rest"), BrokenAnswer(values, "0901 0b", why: "length 1"),
  ]

  @Test("A6 Each broken answer to a discovery only ends that discovery with an error", arguments: broken)
  func brokenDiscovery(row: BrokenAnswer) {
    var server = HostileServer()
    #expect(server.ask(row.request).count == 1)
    for (index, answer) in row.answers.enumerated() {
      #expect(server.result() == nil)
      let isLast = index == row.answers.count - 1
      #expect(server.say(answer).count == (isLast ? 0 : 1))
    }
    #expect(server.result() == .failure(row.error))
    #expect(server.ask(.read(3), token: 2) == [[0x0A, 3, 0]])
    server.expectUnharmed()
  }

  @Test("A6 A server with as many services as handles gets one request for each service and no more")
  func mostServices() {
    var server = HostileServer()
    var handle: UInt16 = 1
    // Services with 128-bit UUIDs come first, so that the test ends in reasonable time: 2,048 answers.
    var sent = server.ask(.discoverPrimaryServices)
    var answers = 0
    while let request = sent.first, request[0] == 0x10, answers < 5000 {
      answers += 1
      let end = handle > UInt16.max - 32 ? UInt16.max : handle + 31
      sent = server.say([0x11, 0x06] + octets(handle) + octets(end) + [0x0D, 0x18])
      handle = end &+ 1
    }
    #expect(answers == 2048)
    guard case .success(.services(let services))? = server.result() else {
      Issue.record("no services")
      return
    }
    #expect(services.count == 2048 && services.last?.range.upperBound == 0xFFFF)
    server.expectUnharmed()
  }

  private func octets(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }

  @Test("A10 A peer that disconnects during a procedure or a write completes no request of a later link")
  func disconnectionInFlight() {
    let requests: [GATTRequest] = [
      .read(3), .discoverPrimaryServices, .write(3, pattern(200)), .writeWithoutResponse(3, [1]),
      .reliableWrite([GATTWritePart(handle: 3, offset: 0, value: [1]), GATTWritePart(handle: 4, offset: 0, value: [1])]
      ),
    ]
    for request in requests {
      var server = HostileServer()
      // The controller accepts no more packets: requests are queued or in progress.
      let link = server.handle
      for token in GATTToken(1)...20 {
        server.bench.perform { host, now in host.request(request, token: token, on: link, at: now) }
      }
      server.disconnect()
      server.bench.forget()
      server.connect()
      #expect(server.ask(.read(5), token: 30) == [[0x0A, 5, 0]])
      // The answers to the last link's requests come first, then the right answer.
      for stale in ["13", "17030000000102", "1106 01000500 0018"] { #expect(server.say(stale) == []) }
      #expect(server.say("0b07") == [])
      let completed = server.bench.events.compactMap { event -> GATTToken? in
        if case .gatt(_, .completed(let token, _)) = event { token } else { nil }
      }
      #expect(completed == [30])
      #expect(server.result(30) == .success(.value([7])))
      server.expectUnharmed()
    }
  }

  @Test("A10 A disconnection during notifications and confirmations affects nothing else")
  func disconnectionAmongUpdates() {
    var server = HostileServer()
    for _ in 0..<100 { server.bench.receive(.attribute, [0x1D, 3, 0, 1], on: server.handle) }
    server.disconnect()
    #expect(server.say("1d030001") == [])
    server.connect()
    #expect(server.say("1d030001") == [[0x1E]])
    server.expectUnharmed()
  }

  @Test("A14 A server without an answer for 30 s is disconnected; its late answers are ignored, others are served")
  func silence() {
    var server = HostileServer()
    #expect(server.ask(.read(3)) == [[0x0A, 3, 0]])
    #expect(server.ask(.write(3, [1]), token: 2) == [])
    server.bench.passToDeadline()
    #expect(server.result() == .failure(.timeout))
    #expect(server.result(2) == .failure(.timeout))
    #expect(
      server.bench.commands.contains { command in
        if case .disconnect(server.handle, _) = command { true } else { false }
      })
    #expect(server.say("0b07") == [])
    server.expectUnharmed()
    server.disconnect()
    server.connect()
    #expect(server.ask(.read(3), token: 3) == [[0x0A, 3, 0]])
  }

  @Test("A14 A server that does not answer the client's own request is disconnected in the same way")
  func noAnswerToOwnRequest() {
    var server = HostileServer()
    _ = server.ask(.discoverPrimaryServices)
    #expect(server.say("1106 01000500 0118") == [[0x10, 6, 0, 0xFF, 0xFF, 0, 0x28]])
    #expect(server.say("011006000a") == [[0x04, 1, 0, 5, 0]])
    #expect(server.ask(.read(3), token: 2) == [])
    server.bench.passToDeadline()
    #expect(server.result(2) == .failure(.timeout))
    server.expectUnharmed()
  }

  @Test("A16 Interleaved long reads, discoveries and notifications of two servers stay separate")
  func interleaved() {
    var server = HostileServer()
    let second = server.bench.link(.central, handle: 0x41, to: DeviceAddress(0xC000_0000_0BBB, .random))
    server.say("031700", on: second)
    _ = server.ask(.read(3), token: 1)
    _ = server.ask(.read(3), token: 2, on: second)
    func part(_ opcode: UInt8, _ octet: UInt8, _ count: Int) -> [UInt8] {
      [opcode] + [UInt8](repeating: octet, count: count)
    }
    #expect(server.say(part(0x0B, 0xA1, 22)) == [[0x0C, 3, 0, 22, 0]])
    #expect(server.say(part(0x0B, 0xB1, 22), on: second) == [[0x0C, 3, 0, 22, 0]])
    // A frame of the first server arrives in two packets, with a whole frame of the second one between them.
    let frame = HostHarness.frame(.attribute, part(0x1B, 0xA2, 20))
    server.bench.receive(Array(frame.prefix(9)), on: server.handle)
    server.say(part(0x1B, 0xB2, 22), on: second)
    server.bench.receive(Array(frame.dropFirst(9)), on: server.handle, .continuing)
    #expect(server.say(part(0x0D, 0xA3, 3)) == [])
    #expect(server.say(part(0x0D, 0xB3, 5), on: second) == [])
    let first = ByteSlice([UInt8](repeating: 0xA1, count: 22) + [UInt8](repeating: 0xA3, count: 3))
    let other = ByteSlice([UInt8](repeating: 0xB1, count: 22) + [UInt8](repeating: 0xB3, count: 5))
    #expect(server.result(1) == .success(.value(first)))
    #expect(server.result(2) == .success(.value(other)))
    var received: [HCI.ConnectionHandle: ByteSlice] = [:]
    for case .gatt(let link, .valueReceived(_, let value)) in server.bench.events { received[link] = value }
    #expect(received[server.handle] == ByteSlice([UInt8](repeating: 0xA2, count: 18)))
    #expect(received[second] == ByteSlice([UInt8](repeating: 0xB2, count: 20)))
    server.expectUnharmed()
  }

  @Test(
    "A17 After a reconnection nothing is taken from the cache of a server that can't prove its database",
    arguments: ["0912 0600 000102030405060708090a0b0c0d0e0f", "010801000a", "0108010002", "0904 0600 0102", "09"])
  func otherServer(answer: String) {
    var server = HostileServer()
    server.learnServices()
    server.disconnect()
    server.bench.forget()
    server.connect()
    #expect(server.ask(.discoverPrimaryServices) == [[0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B]])
    #expect(server.say(answer) == [[0x10, 1, 0, 0xFF, 0xFF, 0, 0x28]])
    #expect(server.result() == nil)
    #expect(server.say("1106 0100ffff 0f18") == [])
    #expect(server.result() == .success(.services([GATTService(range: 1...0xFFFF, uuid: 0x180F)])))
    server.expectUnharmed()
  }

  @Test("A17 A server with the cached hash is served from the cache")
  func sameServer() {
    var server = HostileServer()
    server.learnServices()
    server.disconnect()
    server.bench.forget()
    server.connect()
    _ = server.ask(.discoverPrimaryServices)
    // The client subscribes again and discovers nothing.
    #expect(server.say([0x09, 0x12, 6, 0] + HostileServer.hash) == [[0x12, 4, 0, 2, 0]])
    let services = [GATTService(range: 1...6, uuid: 0x1801), GATTService(range: 10...0xFFFF, uuid: 0x180D)]
    #expect(server.result() == .success(.services(services)))
    server.expectUnharmed()
  }

  @Test(
    "A17 A security refusal is reported, and the request is not repeated in clear", arguments: [0x05, 0x0F, 0x0C])
  func refusalIsReported(code: UInt8) {
    var server = HostileServer()
    let requests: [GATTRequest] = [
      .read(3), .write(3, [1]), .write(3, pattern(40)), .readMultiple([3, 4]), .readMultipleVariable([3, 4]),
    ]
    for request in requests {
      server.bench.events.removeAll()
      var sent = server.ask(request)
      while let pdu = sent.first, pdu[0] != 0x18 { sent = server.say([0x01, pdu[0], 3, 0, code]) }
      if !sent.isEmpty { #expect(server.say("19") == []) }
      // The host starts pairing, and the server refuses.
      server.refusePairing()
      #expect(server.result() == .failure(.att(ATT.ErrorCode(rawValue: code))))
    }
    server.expectUnharmed()
  }
}

extension HostileServer {
  static let hash: [UInt8] = [UInt8](repeating: 0x5A, count: 16)

  /// Lets the host find two services, and keeps the link quiet until the cache is validated.
  mutating func learnServices() {
    _ = ask(.discoverPrimaryServices)
    let services = "1106 01000600 0118 0a00ffff 0d18"
    #expect(say(services) == [[0x04, 1, 0, 6, 0]])
    #expect(say("0501 02000328 0300052a 04000229 05000328 06002a2b") == [[0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B]])
    #expect(say([0x09, 0x12, 6, 0] + Self.hash) == [[0x12, 4, 0, 2, 0]])
    #expect(say("13") == [])
    bench.passToDeadline()
    #expect(takeSent() == [[0x10, 1, 0, 0xFF, 0xFF, 0, 0x28]])
    #expect(say(services) == [[0x08, 1, 0, 0xFF, 0xFF, 0x2A, 0x2B]])
    #expect(say([0x09, 0x12, 6, 0] + Self.hash) == [])
  }
}
