import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

/// The rows of the project's table of hostile peers for the server side of ATT.
@Suite("Hostile clients")
struct GATTServerHardeningTests {
  private static let control = GATTCharacteristicDefinition.dynamic(
    0x2A39, [.read, .write, .writeWithoutResponse, .notify, .indicate])

  /// Returns a client of a server with these handles. 20: service, 21 and 22: a value that the upper layer holds, 23:
  /// its configuration, 24 and 25: 40 stored octets.
  private static func client() -> HostileClient { HostileClient(control, .stored(pattern(40))) }

  private static func database() -> GATTDatabase { .with(control, .stored(pattern(40))) }

  /// The valid lengths of each request at an MTU of 23.
  private static let lengths: [ATT.Opcode: [Int]] = [
    .exchangeMTURequest: [3], .findInformationRequest: [5], .findByTypeValueRequest: Array(7...23),
    .readByTypeRequest: [7, 21], .readRequest: [3], .readBlobRequest: [5],
    .readMultipleRequest: Array(stride(from: 5, through: 23, by: 2)),
    .readMultipleVariableRequest: Array(stride(from: 5, through: 23, by: 2)), .readByGroupTypeRequest: [7, 21],
    .writeRequest: Array(3...23), .prepareWriteRequest: Array(5...23), .executeWriteRequest: [2],
  ]

  @Test(
    "A1 Every opcode at every length from 0 to MTU + 1: a request gets one answer, Error 0x04 if the length is wrong",
    .requirement("L045"))
  func lengthSweep() {
    for number in UInt8.min...UInt8.max {
      var client = Self.client()
      let opcode = ATT.Opcode(rawValue: number)
      for length in 0...24 {
        let sent = client.send(ByteSlice([number] + [UInt8](repeating: 1, count: 24)).prefix(length))
        let expected = Self.expectation(number, length)
        switch expected {
        case .nothing: #expect(sent.isEmpty, "\(number) \(length)")
        case .error(let code):
          #expect(sent == [ByteSlice([0x01, number, 0x00, 0x00, code.rawValue])], "\(number) \(length)")
        case .confirmation: #expect(sent == [[0x1E]], "\(number) \(length)")
        case .answer:
          #expect(sent.count == 1, "\(number) \(length)")
          let isRefused = sent.first?.prefix(2) == [0x01, number] && sent.first?[4] != 0x04
          #expect(isRefused || sent.first?[0] == opcode?.response?.rawValue, "\(number) \(length)")
        }
        #expect(!client.isClosed, "\(number) \(length)")
      }
      client.expectUnharmed("\(number)")
    }
  }

  private enum Expectation {
    case nothing, confirmation, answer
    case error(ATT.ErrorCode)
  }

  private static func expectation(_ number: UInt8, _ length: Int) -> Expectation {
    guard length > 0 else { return .nothing }
    guard let opcode = ATT.Opcode(rawValue: number) else {
      return ATT.Opcode.isCommand(number) ? .nothing : .error(.requestNotSupported)
    }
    switch opcode.kind {
    case .command, .response, .notification, .confirmation: return .nothing
    case .indication: return 3...23 ~= length ? .confirmation : .nothing
    case .request:
      return lengths[opcode]?.contains(length) == true ? .answer : .error(.invalidPDU)
    }
  }

  @Test("A2 An unknown request gets Error 0x06; unknown commands and unexpected responses are ignored")
  func unknownOpcodes() {
    var client = Self.client()
    #expect(client.send("2500aabb") == [hex("0125000006")])
    #expect(client.send("00") == [hex("0100000006")])
    for ignored in ["5f00", "d3", "1e", "0b01", "03ff00", "01000000ff", "13", "19", "09070200020300002a"] {
      #expect(client.send(ignored) == [], "\(ignored)")
    }
    #expect(client.send("0a0500") == [hex("0b0000")])
    #expect(!client.isClosed)
    client.expectUnharmed()
  }

  @Test("A3 A second request waits for the answer to the first; a third one closes the bearer", .requirement("L142"))
  func sequentialViolation() throws {
    var client = Self.client()
    #expect(client.send("0a1600") == [])
    #expect(client.send("0a0500") == [])
    let request = try #require(client.lastRequest)
    #expect(client.respond(request, .success([7])) == [hex("0b07"), hex("0b0000")])

    #expect(client.send("0a1600") == [])
    #expect(client.send("0a0500") == [])
    #expect(!client.isClosed)
    #expect(client.send("0a0500") == [])
    #expect(client.isClosed)
    #expect(client.respond(try #require(client.lastRequest), .success([7])) == [])
    #expect(client.send("0a0500") == [])
    client.expectUnharmed()
  }

  @Test("A3 The MTU is exchanged once, and never below 23", arguments: ["020000", "021600", "021700"])
  func mtuTwice(request: String) {
    var client = Self.client()
    #expect(client.send(request) == [hex("030502")])
    #expect(client.mtu == 23)
    #expect(client.send("02f700") == [hex("0102000006")])
    #expect(client.mtu == 23)
    client.expectUnharmed()
  }

  @Test("A4 Consecutive requests are answered in order while the link has no room")
  func backToBack() {
    var client = Self.client()
    #expect(client.sendAtOnce("0a0500", "0a0300") == [hex("0b0000"), hex("0b") + ByteSlice("Bench".utf8)])
    for _ in 0..<50 {
      #expect(client.sendAtOnce("0a0500", "0c03000300") == [hex("0b0000"), hex("0d") + ByteSlice("ch".utf8)])
    }
    #expect(!client.isClosed)
    client.expectUnharmed()
  }

  @Test(
    "A5 A range at the end of the handles gets Error 0x0A",
    arguments: ["10ffffffff0028", "08ffffffff0328", "04ffffffff", "06ffffffff00280d18"])
  func endOfHandles(request: String) {
    var client = Self.client()
    #expect(client.send(request) == [ByteSlice([0x01, hex(request)[0], 0xFF, 0xFF, 0x0A])])
    client.expectUnharmed()
  }

  @Test("A5 Services up to handle 0xFFFF are found once")
  func lastHandle() throws {
    var database = GATTDatabase.named()
    for _ in 0..<21_838 {
      _ = try database.add(
        GATTServiceDefinition(uuid: 0x180D, isPrimary: true, includes: [], characteristics: [.dynamic(.read)]))
    }
    var pair = GATTPair(database)
    guard case .success(.services(let services)) = pair.perform(.discoverPrimaryServices) else {
      Issue.record("no services")
      return
    }
    #expect(services.count == 21_840)
    #expect(services.last?.range == 65_531...65_533)
    guard case .success(.services(let found)) = pair.perform(.discoverPrimaryService(0x180D)) else {
      Issue.record("no services")
      return
    }
    #expect(found.count == 21_838)
  }

  @Test("A7 The queue of prepared writes is limited in parts and in octets")
  func prepareQueueBounds() {
    var client = Self.client()
    for _ in 0..<64 { #expect(client.send("161600000001") == [hex("171600000001")]) }
    for _ in 0..<100 { #expect(client.send("161600000001") == [hex("0116160009")]) }
    #expect(client.send("1800") == [hex("19")])

    _ = client.send("020502")
    let part = hex("1616000000") + pattern(512)
    #expect(client.send(part).first?[0] == 0x17)
    #expect(client.send(part).first?[0] == 0x17)
    #expect(client.send("161600000001") == [hex("0116160009")])
    client.expectUnharmed()
  }

  @Test("A7 Offsets and lengths beyond 512 are refused when the parts are executed, and the queue is empty afterwards")
  func prepareBeyondLimit() {
    var client = Self.client()
    #expect(client.send("161600010201") == [hex("171600010201")])
    #expect(client.send("1801") == [hex("0118160007")])
    #expect(client.send("161600ffff01") == [hex("171600ffff01")])
    #expect(client.send("1801") == [hex("0118160007")])
    #expect(client.send("161600ff010102") == [hex("171600ff010102")])
    #expect(client.send("1801") == [hex("011816000d")])
    #expect(client.send("16ff0000000001") == [hex("0116ff0001")])
    #expect(client.send("1801") == [hex("19")])
    #expect(client.events.isEmpty)
    client.expectUnharmed()
  }

  @Test("A7 Overlapping parts, and parts of many values, reach the upper layer in order and in one request")
  func overlappingParts() throws {
    var client = HostileClient(.dynamic(0x2A39, .write), .dynamic(0x2A3A, .write))
    for part in ["161600000001020304", "161800000009", "16160002000506", "161600000007"] {
      #expect(client.send(part).first?[0] == 0x17)
    }
    #expect(client.send("1801") == [])
    let request = try #require(client.lastRequest)
    func part(_ handle: AttributeHandle, _ offset: Int, _ value: ByteSlice) -> GATTWritePart {
      GATTWritePart(handle: handle, offset: offset, value: value)
    }
    #expect(
      client.events == [
        .writeRequested(
          request,
          [part(22, 0, [1, 2, 3, 4]), part(24, 0, [9]), part(22, 2, [5, 6]), part(22, 0, [7])])
      ])
    #expect(client.respond(request) == [hex("19")])
    client.expectUnharmed()
  }

  @Test(
    "A7 Parts without an execution are discarded with the link: the next link has none of them", .requirement("L144"))
  func neverExecuted() {
    var client = Self.client()
    for _ in 0..<64 { _ = client.send("161600000001") }
    client.expectUnharmed()
    client.bench.receive(.attribute, [0x18, 0x01], on: HCI.ConnectionHandle(rawValue: 0x42))
    #expect((try? client.bench.payloads(on: HCI.ConnectionHandle(rawValue: 0x42), .attribute)) == [[0x19]])
    #expect(!client.bench.events.contains { if case .gatt(_, .writeRequested) = $0 { true } else { false } })
  }

  @Test("A8 A prepared write of the maximum length is echoed exactly", arguments: [23, 100, 247, 517])
  func longestEcho(mtu: Int) {
    var client = Self.client()
    _ = client.send(hex("02") + ByteSlice(UInt16(mtu).octets))
    let part = hex("16000000") + pattern(min(mtu - 5, 512))
    #expect(client.send(hex("16") + part) == [hex("17") + part])
    client.expectUnharmed()
  }

  @Test("A14 An indication without confirmation for 30 s closes the bearer")
  func confirmationTimeout() {
    var client = Self.client()
    _ = client.send("1217000200")
    client.pass(.seconds(5))
    #expect(client.update(22, [1]) == [hex("1d160001")])
    client.pass(.seconds(30) - .nanoseconds(1))
    #expect(!client.isClosed)
    client.pass(.nanoseconds(1))
    #expect(client.isClosed)
    #expect(client.send("0a0500") == [])
    client.expectUnharmed()
  }

  @Test("A15 Blob reads end at the end of the value; an offset beyond it gets Error 0x07", .requirement("L044"))
  func blobOffsets() {
    var client = Self.client()
    #expect(client.send("0c19002800") == [hex("0d")])
    #expect(client.send("0c19002900") == [hex("010c190007")])
    #expect(client.send("0c19001e00") == [hex("0d") + pattern(40)[30..<40]])
    #expect(client.send("0c1900ffff") == [hex("010c190007")])
    // An offset beyond the maximum length is refused without a request to the upper layer.
    #expect(client.send("0c16000102") == [hex("010c160007")])
    #expect(client.events.isEmpty)
    client.expectUnharmed()
  }

  @Test("A15 An upper layer's value beyond the MTU is truncated in every response")
  func truncation() throws {
    var client = Self.client()
    for (request, head) in [
      ("0a1600", "0b"), ("0c16000000", "0d"), ("080100ffff392a", "09151600"), ("0e16001900", "0f"),
    ] {
      #expect(client.send(request) == [])
      let answer = client.respond(try #require(client.lastRequest), .success(pattern(600)))
      #expect(answer == [hex(head) + pattern(23 - hex(head).count)], "\(request)")
    }
    client.expectUnharmed()
  }

  @Test(
    "A15 A write of more than 512 octets gets Error 0x0D; a command of that length gets no answer", .requirement("A066")
  )
  func tooLongValue() {
    var client = Self.client()
    _ = client.send("020502")
    client.events = []
    #expect(client.send(hex("121600") + pattern(513)) == [hex("011216000d")])
    #expect(client.send(hex("521600") + pattern(513)) == [])
    #expect(client.events.isEmpty)
    client.expectUnharmed()
  }

  @Test("A18 The result of a Read Blob depends on its own offset only, not on earlier reads by any client")
  func statelessOffsets() {
    var client = Self.client()
    for (offset, rest) in [("0300", "ch"), ("0000", "Bench"), ("0500", ""), ("0100", "ench"), ("0300", "ch")] {
      #expect(client.send("0c0300" + offset) == [hex("0d") + ByteSlice(rest.utf8)])
    }
    #expect(client.send("0c03000600") == [hex("010c030007")])
    // A shorter name leaves no octets of the longer one.
    client.bench.host.context.server.database.setDeviceName("B")
    #expect(client.send("0c03000100") == [hex("0d")])
    #expect(client.send("0c03000200") == [hex("010c030007")])
    #expect(client.send("0a0300") == [hex("0b42")])
    #expect(client.send("1203004343") == [hex("0112030003")])
    client.expectUnharmed()
  }

  @Test("Any sequence of PDUs gets at most one answer each, with bounded memory")
  func anyPDUs() {
    var generator = RandomStream(seed: 0xBAD)
    let opcodes = ATT.Opcode.allCases.map(\.rawValue) + [0x00, 0x1F, 0x5F]
    for _ in 0..<200 {
      var peer = BearerHarness(Bool.random(using: &generator) ? .central : .peripheral, Self.database())
      peer.bearer.start(at: peer.now)
      for token in GATTToken(0)..<100 {
        if token.isMultiple(of: 7) { _ = peer.request(Self.anyRequest(&generator), token: token) }
        var bytes = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
          UInt8.random(in: 0...(Bool.random(using: &generator) ? 18 : 255), using: &generator)
        }
        if !bytes.isEmpty { bytes[0] = opcodes.randomElement(using: &generator) ?? 0 }
        let sent = peer.send(ByteSlice(bytes))
        #expect(sent.count <= 4)
        #expect(sent.allSatisfy { $0.count <= max(peer.bearer.mtu, 23) })
        if let request = peer.lastRequest, Bool.random(using: &generator) {
          _ = peer.respond(request, Bool.random(using: &generator) ? .success([1]) : .failure(.unlikelyError))
        }
        #expect(peer.takeEvents().count <= 16)
      }
    }
  }

  private static func anyRequest(_ generator: inout RandomStream) -> GATTRequest {
    let requests: [GATTRequest] = [
      .discoverPrimaryServices, .discoverPrimaryService(0x180D), .findIncludedServices(in: 1...28),
      .discoverCharacteristics(in: 1...28), .discoverDescriptors(in: 1...28), .read(3), .write(3, pattern(10)),
      .write(3, pattern(60)), .writeWithoutResponse(3, [1]),
    ]
    return requests.randomElement(using: &generator) ?? .discoverPrimaryServices
  }
}
