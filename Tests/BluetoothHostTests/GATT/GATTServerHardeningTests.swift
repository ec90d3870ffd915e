import BluetoothWire
import Testing

@testable import BluetoothHost

/// Rows of the project's table of hostile peers: the server side of ATT.
@Suite("Hostile clients")
struct GATTServerHardeningTests {
  private static func database() -> GATTDatabase {
    .with(
      .dynamic(0x2A39, [.read, .write, .writeWithoutResponse, .notify, .indicate]), .stored(pattern(40)))
  }

  @Test("A1 Every opcode at every length up to MTU + 1 gets at most one PDU, and requests of a wrong length Error 0x04")
  func lengthSweep() {
    let valid: [UInt8: ClosedRange<Int>] = [
      0x02: 3...3, 0x04: 5...5, 0x06: 7...23, 0x0A: 3...3, 0x0C: 5...5, 0x12: 3...23, 0x16: 5...23, 0x18: 2...2,
    ]
    for opcode in UInt8.min...UInt8.max {
      for length in 1...24 {
        var server = Scripted(.peripheral, Self.database())
        let sent = server.send(ByteSlice([opcode] + [UInt8](repeating: 1, count: length - 1)))
        let known = ATT.Opcode(rawValue: opcode)
        let isRequest = known?.kind == .request || known == nil && !ATT.Opcode.isCommand(opcode)
        #expect(sent.count <= 1)
        if !isRequest, known?.kind != .indication { #expect(sent.isEmpty, "\(opcode)") }
        if let range = valid[opcode], !range.contains(length) {
          #expect(sent == [ByteSlice([0x01, opcode, 0x00, 0x00, 0x04])], "\(opcode) \(length)")
        }
        #expect(!server.bearer.isClosed)
        #expect(server.send("0a0500").first == (server.lastRequest == nil ? hex("0b4103") : nil))
      }
    }
  }

  @Test("A2 An unknown request gets Error 0x06; unknown commands and what answers nothing are ignored")
  func unknownOpcodes() {
    var server = Scripted()
    #expect(server.send("2500aabb") == [hex("0125000006")])
    #expect(server.send("00") == [hex("0100000006")])
    for ignored in ["5f00", "d3", "1e", "0b01", "03ff00", "01000000ff", "13", "19", "09070200020300002a"] {
      #expect(server.send(ignored) == [], "\(ignored)")
    }
    #expect(server.send("0a0500") == [hex("0b4103")])
  }

  @Test("A3 A second request waits for the answer to the first; a third one closes the bearer")
  func sequentialViolation() throws {
    var server = Scripted(.peripheral, Self.database())
    #expect(server.send("0a1600") == [])
    #expect(server.send("0a0500") == [])
    let request = try #require(server.lastRequest)
    #expect(server.respond(request, .success([7])) == [hex("0b07"), hex("0b4103")])

    #expect(server.send("0a1600") == [])
    #expect(server.send("0a0500") == [])
    #expect(server.send("0a0500") == [])
    #expect(server.bearer.isClosed)
    #expect(server.bearer.deadline == nil)
    #expect(server.respond(try #require(server.lastRequest), .success([7])) == [])
    #expect(server.send("0a0500") == [])
  }

  @Test("A3 The MTU is exchanged once, and never below 23")
  func mtuTwice() {
    var server = Scripted()
    #expect(server.send("020000") == [hex("030502")])
    #expect(server.bearer.mtu == 23)
    #expect(server.send("02f700") == [hex("0102000006")])
    #expect(server.bearer.mtu == 23)
  }

  @Test("A4 Requests back to back are answered in order while the link has no room")
  func backToBack() {
    var server = Scripted()
    server.bearer.receive(hex("0a0500"), database: &server.database, at: .zero)
    server.bearer.receive(hex("0a0300"), database: &server.database, at: .zero)
    #expect(server.take() == [hex("0b4103"), hex("0b") + ByteSlice("Sensor".utf8)])
    #expect(!server.bearer.isClosed)
  }

  @Test(
    "A5 A range at the end of the handles ends with Error 0x0A",
    arguments: ["10ffffffff0028", "08ffffffff0328", "04ffffffff", "06ffffffff00280d18"])
  func endOfHandles(request: String) {
    var server = Scripted(.peripheral, Self.database())
    #expect(server.send(request) == [ByteSlice([0x01, hex(request)[0], 0xFF, 0xFF, 0x0A])])
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

  @Test("A7 The queue of prepared writes is bounded in parts and in octets")
  func prepareQueueBounds() {
    var server = Scripted(.peripheral, Self.database())
    for _ in 0..<64 { #expect(server.send("161600000001") == [hex("171600000001")]) }
    #expect(server.send("161600000001") == [hex("0116160009")])
    #expect(server.send("1800") == [hex("19")])

    _ = server.send("020502")
    let part = hex("1616000000").bytes + pattern(512).bytes
    #expect(server.send(ByteSlice(part)).first?[0] == 0x17)
    #expect(server.send(ByteSlice(part)).first?[0] == 0x17)
    #expect(server.send("161600000001") == [hex("0116160009")])
  }

  @Test("A7 Offsets and lengths beyond 512 are refused when the parts are written, and nothing is left")
  func prepareBeyondLimit() {
    var server = Scripted(.peripheral, Self.database())
    #expect(server.send("161600010201") == [hex("171600010201")])
    #expect(server.send("1801") == [hex("0118160007")])
    #expect(server.send("161600ff010102") == [hex("171600ff010102")])
    #expect(server.send("1801") == [hex("011816000d")])
    #expect(server.send("160cff00000001") == [hex("01160cff01")])
    #expect(server.send("1801") == [hex("19")])
    #expect(server.events.isEmpty)
  }

  @Test("A8 A prepared write of the longest part is echoed exactly")
  func longestEcho() {
    var server = Scripted(.peripheral, Self.database())
    _ = server.send("020502")
    let part = hex("16000000").bytes + pattern(512).bytes
    #expect(server.send(ByteSlice([0x16] + part)) == [ByteSlice([0x17] + part)])
  }

  @Test("A9, A12 Without encryption no path leads to a value that needs it")
  func encryptionOnEveryPath() throws {
    let definition = GATTCharacteristicDefinition(
      uuid: 0x2A39, properties: [.read, .write, .writeWithoutResponse, .notify],
      permissions: [.readEncryptionRequired, .writeEncryptionRequired], value: nil)
    var server = Scripted(.peripheral, .with(definition))
    for (request, refusal) in [
      ("0a1600", "010a160005"), ("0c16000000", "010c160005"), ("080100ffff392a", "0108160005"),
      ("0e05001600", "010e160005"), ("2005001600", "0120000006"), ("12160001", "0112160005"),
      ("161600000001", "0116160005"), ("1217000100", "0112170005"),
    ] {
      #expect(server.send(request) == [hex(refusal)])
    }
    #expect(server.send("52160001") == [])
    server.bearer.update(22, with: [1], at: .zero)
    #expect(server.take() == [])
    #expect(server.events == [.updateSent(22)])

    server.bearer.security = LinkSecurity(level: .encrypted, keySize: 16, hasKey: true)
    #expect(server.send("1217000100") == [hex("13")])
    server.bearer.update(22, with: [1], at: .zero)
    #expect(server.take() == [hex("1b160001")])
    #expect(server.send("0a1600") == [])
    #expect(server.respond(try #require(server.lastRequest), .success([7])) == [hex("0b07")])
  }

  @Test("A12 A value that may not be read is not read on any path, nor found by its value")
  func readPermissionOnEveryPath() {
    let definition = GATTCharacteristicDefinition(
      uuid: 0x2A39, properties: .write, permissions: [.readable, .writeable], value: [7])
    var server = Scripted(.peripheral, .with(definition))
    for (request, refusal) in [
      ("0a1600", "010a160002"), ("0c16000000", "010c160002"), ("080100ffff392a", "0108160002"),
      ("0e05001600", "010e160002"), ("060100ffff392a07", "010601000a"),
    ] {
      #expect(server.send(request) == [hex(refusal)])
    }
  }

  @Test("A13 A configuration of another length, or with bits that mean nothing there, is refused")
  func configurationValues() {
    var server = Scripted(.peripheral, .with(.dynamic(0x2A37, .notify)))
    #expect(server.send("12170001") == [hex("011217000d")])
    #expect(server.send("121700010000") == [hex("011217000d")])
    #expect(server.send("1217000200") == [hex("01121700fd")])
    #expect(server.send("1217000180") == [hex("01121700fd")])
    #expect(server.send("5217000100") == [])
    _ = server.send("16170001000100")
    #expect(server.send("1801") == [hex("0118170007")])
    #expect(server.send("0a1700") == [hex("0b0000")])
    #expect(server.events.isEmpty)
    #expect(server.send("1217000100") == [hex("13")])
    #expect(server.send("0a1700") == [hex("0b0100")])
    _ = server.send("16170000000000")
    #expect(server.send("1801") == [hex("19")])
    #expect(server.events == [.subscriptionChanged(22, .notification), .subscriptionChanged(22, [])])
  }

  @Test("A13 Each client has its own configuration")
  func configurationIsolation() {
    var first = Scripted(.peripheral, Self.database())
    var second = Scripted(.peripheral, first.database)
    _ = first.send("1217000100")
    second.database = first.database
    #expect(second.send("0a1700") == [hex("0b0000")])
    second.bearer.update(22, with: [1], at: .zero)
    #expect(second.take() == [])
  }

  @Test("A14 An indication without confirmation for 30 s closes the bearer")
  func confirmationTimeout() {
    var server = Scripted(.peripheral, Self.database())
    _ = server.send("1217000200")
    server.now = .zero + .seconds(5)
    server.bearer.update(22, with: [1], at: server.now)
    #expect(server.bearer.deadline == nil)
    #expect(server.take() == [hex("1d160001")])
    #expect(server.bearer.deadline == .zero + .seconds(35))
    server.pass(.seconds(30) - .nanoseconds(1))
    #expect(!server.bearer.isClosed)
    server.pass(.nanoseconds(1))
    #expect(server.bearer.isClosed)
    #expect(server.send("0a0500") == [])
  }

  @Test("A15 Blob reads end at the end of the value, and beyond it get Error 0x07")
  func blobOffsets() {
    var server = Scripted(.peripheral, Self.database())
    #expect(server.send("0c19002800") == [hex("0d")])
    #expect(server.send("0c19002900") == [hex("010c190007")])
    #expect(server.send("0c19001e00") == [hex("0d") + pattern(40)[30..<40]])
    // Beyond the longest value nobody is asked.
    #expect(server.send("0c16000102") == [hex("010c160007")])
    #expect(server.events.isEmpty)
  }

  @Test("A15 A write of more than 512 octets gets Error 0x0D, and a command of that length nothing")
  func tooLongValue() {
    var server = Scripted(.peripheral, Self.database())
    _ = server.send("020502")
    _ = server.takeEvents()
    let value = pattern(513).bytes
    #expect(server.send(ByteSlice(hex("121600").bytes + value)) == [hex("011216000d")])
    #expect(server.send(ByteSlice(hex("521600").bytes + value)) == [])
    #expect(server.events.isEmpty)
  }

  @Test("Any sequence of PDUs is survived, with bounded memory and at most one answer each")
  func anyPDUs() {
    var generator = SplitGenerator(seed: 0xBAD)
    let opcodes = ATT.Opcode.allCases.map(\.rawValue) + [0x00, 0x1F, 0x5F]
    for _ in 0..<200 {
      var peer = Scripted(Bool.random(using: &generator) ? .central : .peripheral, Self.database())
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

  private static func anyRequest(_ generator: inout SplitGenerator) -> GATTRequest {
    let requests: [GATTRequest] = [
      .discoverPrimaryServices, .discoverPrimaryService(0x180D), .findIncludedServices(in: 1...28),
      .discoverCharacteristics(in: 1...28), .discoverDescriptors(in: 1...28), .read(3), .write(3, pattern(10)),
      .write(3, pattern(60)), .writeWithoutResponse(3, [1]),
    ]
    return requests.randomElement(using: &generator) ?? .discoverPrimaryServices
  }
}
