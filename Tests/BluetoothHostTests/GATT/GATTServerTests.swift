import BluetoothWire
import Requirements
import TestVectors
import Testing

@testable import BluetoothHost

@Suite("GATT server")
struct GATTServerTests {
  @Test("Each invalid ATT vector gets the reaction that the vectors specify")
  func invalidVectors() throws {
    let vectors = try #require(try TestVectors.load("pdus")["invalid"] as? [[String: Any]])
    let reactions: [String: String?] = [
      "MTU Request short": "0102000004", "MTU Request MTU 22": "030502", "Find Information start 0": "0104000001",
      "Find Information start > end": "0104020001", "Read By Type start > end": "0108050001",
      "Read By Type 3-octet UUID": "0108000004", "Read By Group Type not a group": "0110010010",
      "Read handle 0": "010a000001", "unknown request opcode": "011f000006",
      "unknown command opcode (bit 6)": nil, "Execute Write flags 2": "0118000004",
      "Read Multiple one handle": "010e000004", "Signed Write too short": nil,
      "Confirmation without indication": nil, "empty PDU": nil,
    ]
    var seen = 0
    for vector in vectors where vector["layer"] as? String == "ATT" {
      let name = try #require(vector["name"] as? String)
      let reaction = try #require(reactions[name], "\(name)")
      var server = BearerHarness()
      let answer = server.send(try #require(vector["pdu"] as? String))
      #expect(answer == (reaction.map { [hex($0)] } ?? []), "\(name)")
      #expect(server.bearer.mtu == 23, "\(name)")
      seen += 1
    }
    #expect(seen == reactions.count)
  }

  // MARK: Discovery

  @Test("Services of one UUID width share a response, as many as fit", .requirement("L151"))
  func readByGroupType() throws {
    var database = GATTDatabase.with()
    _ = try database.add(GATTServiceDefinition(uuid: .custom(1), isPrimary: true, includes: [], characteristics: []))
    var server = BearerHarness(.peripheral, database)
    #expect(server.send("100100ffff0028") == [hex("1106 01000900 0018 0a001300 0118 14001400 0d18")])
    #expect(server.send("101500ffff0028") == [hex("1114 15001500 9ecadc240ee5a9e093f3a3b50100406e")])
    #expect(server.send("101600ffff0028") == [hex("011016000a")])
    #expect(server.send("100100ffff0128") == [hex("011001000a")])
  }

  @Test("Find By Type Value returns the ends of the groups and compares the value", .requirement("L150"))
  func findByTypeValue() {
    var server = BearerHarness(.peripheral, .with())
    #expect(server.send("060100ffff00280118") == [hex("070a001300")])
    #expect(server.send("060100ffff00280f18") == [hex("010601000a")])
    #expect(server.send("060100ffff002801") == [hex("010601000a")])
    // Appearance is not a group.
    #expect(server.send("060100ffff012a4103") == [hex("0705000500")])
  }

  @Test("Find Information returns handles and types of one width", .requirement("L149"))
  func findInformation() throws {
    var server = BearerHarness(.peripheral, .with(.stored(.custom(2), [1])))
    #expect(server.send("0413001500") == [hex("0501 13003a2b 14000028 15000328")])
    #expect(server.send("041600ffff") == [hex("0502 1600 9ecadc240ee5a9e093f3a3b50200406e")])
    #expect(server.send("041700ffff") == [hex("010417000a")])
  }

  @Test(
    "Read By Type lists values of one length; a value that the upper layer holds is returned alone",
    .requirement("L141", "L151"))
  func readByType() throws {
    var server = BearerHarness(.peripheral, .with(.stored(0x2A19, [1]), .stored(0x2A19, [2]), .dynamic(0x2A19, .read)))
    #expect(server.send("080100ffff192a") == [hex("0903 160001 180002")])
    #expect(server.send("081900ffff192a") == [])
    let request = try #require(server.lastRequest)
    #expect(server.events == [.readRequested(request, 26, offset: 0)])
    #expect(server.respond(request, .success([7, 8])) == [hex("0904 1a00 0708")])
    #expect(server.send("081b00ffff192a") == [hex("01081b000a")])
  }

  // MARK: Reading

  @Test("A read of a value that the upper layer holds waits for the answer, which is truncated to MTU − 1")
  func dynamicRead() throws {
    var server = BearerHarness(.peripheral, .with(.dynamic(.read)))
    #expect(server.send("0a1600") == [])
    let request = try #require(server.lastRequest)
    #expect(server.events == [.readRequested(request, 22, offset: 0)])
    #expect(server.respond(request, .success(pattern(40))) == [hex("0b") + pattern(22)])
    #expect(server.respond(request, .success([1])) == [])
  }

  @Test("An upper layer's refusal reaches the client with its code and the handle")
  func refusedRead() throws {
    var server = BearerHarness(.peripheral, .with(.dynamic(.read)))
    _ = server.send("0c16000500")
    let request = try #require(server.lastRequest)
    #expect(server.events == [.readRequested(request, 22, offset: 5)])
    #expect(server.respond(request, .failure(ATT.ErrorCode(rawValue: 0x80))) == [hex("010c160080")])
  }

  @Test(
    "Read Multiple returns the values in order, queries the upper layer and truncates to MTU − 1", .requirement("L151"))
  func readMultiple() throws {
    var server = BearerHarness(.peripheral, .with(.stored([1, 2]), .dynamic(.read), .stored(pattern(30))))
    #expect(server.send("0e160018001a00") == [])
    let request = try #require(server.lastRequest)
    #expect(server.respond(request, .success([9])) == [hex("0f010209") + pattern(19)])
    #expect(server.send("0e16006300") == [hex("010e630001")])
  }

  @Test(
    "Read Multiple Variable puts a length before each value, and truncates the last length or value to MTU − 1",
    .requirement("L151"))
  func readMultipleVariable() throws {
    var server = BearerHarness(
      .peripheral, .with(.stored([1, 2]), .dynamic(.read), .stored(pattern(30)), .stored(pattern(19))))
    #expect(server.send("20160018001a00") == [])
    let request = try #require(server.lastRequest)
    #expect(server.respond(request, .success([9])) == [hex("21 02000102 010009 1e00") + pattern(13)])
    #expect(server.send("201c001600") == [hex("211300") + pattern(19) + [2]])
    #expect(server.send("2016001600") == [hex("21 02000102 02000102")])
    #expect(server.send("2016006300") == [hex("0120630001")])
    #expect(server.send("20160018001a00") == [])
    #expect(server.respond(try #require(server.lastRequest), .failure(.unlikelyError)) == [hex("012018000e")])
  }

  // MARK: Writing

  @Test("A write to a value that the upper layer holds waits for the answer")
  func dynamicWrite() throws {
    var server = BearerHarness(.peripheral, .with(.dynamic(.write)))
    #expect(server.send("1216000102") == [])
    let request = try #require(server.lastRequest)
    #expect(server.events == [.writeRequested(request, [GATTWritePart(handle: 22, offset: 0, value: [1, 2])])])
    #expect(server.respond(request) == [hex("13")])
    _ = server.send("1216000102")
    let second = try #require(server.lastRequest)
    #expect(server.respond(second, .failure(.valueNotAllowed)) == [hex("0112160013")])
  }

  @Test("A write command is reported to the upper layer, which does not answer it")
  func writeCommand() {
    var server = BearerHarness(.peripheral, .with(.dynamic(.writeWithoutResponse)))
    #expect(server.send("5216000102") == [])
    #expect(server.events == [.writeRequested(nil, [GATTWritePart(handle: 22, offset: 0, value: [1, 2])])])
  }

  @Test("Reading and notifying are independent: each needs its own property", .requirement("L028"))
  func readOrNotify() {
    var server = BearerHarness(.peripheral, .with(.dynamic(0x2A37, .notify), .dynamic(0x2A39, .read)))
    #expect(server.send("0a1600") == [hex("010a160002")])
    #expect(server.send("1217000100") == [hex("13")])
    server.bearer.update(22, with: [1], at: .zero)
    #expect(server.take() == [hex("1b160001")])
    // The other value has no configuration, so it cannot be subscribed to; the upper layer answers the read.
    #expect(server.send("041a001a00") == [hex("01041a000a")])
    server.bearer.update(25, with: [1], at: .zero)
    #expect(server.take() == [])
    #expect(server.send("0a1900") == [])
    #expect(server.lastRequest != nil)
  }

  @Test("Each kind of write needs its own property", .requirement("L034"))
  func waysOfWriting() {
    var server = BearerHarness(.peripheral, .with(.dynamic(.write), .dynamic(.writeWithoutResponse)))
    #expect(server.send("12180001") == [hex("0112180003")])
    #expect(server.send("161800000001") == [hex("0116180003")])
    #expect(server.send("52160001") == [])
    #expect(server.events.isEmpty)
  }

  @Test("Prepared writes reach the upper layer together, all or none", .requirement("L047"))
  func preparedWrites() throws {
    var server = BearerHarness(.peripheral, .with(.dynamic(.write), .dynamic(.write)))
    #expect(server.send("16160000000102") == [hex("17160000000102")])
    #expect(server.send("16180005000a") == [hex("17180005000a")])
    #expect(server.events.isEmpty)
    #expect(server.send("1801") == [])
    let request = try #require(server.lastRequest)
    #expect(
      server.events == [
        .writeRequested(
          request,
          [
            GATTWritePart(handle: 22, offset: 0, value: [1, 2]), GATTWritePart(handle: 24, offset: 5, value: [10]),
          ])
      ])
    #expect(server.respond(request) == [hex("19")])
    // The queue is empty afterwards.
    #expect(server.send("1801") == [hex("19")])
  }

  @Test("Cancelled prepared writes are discarded", .requirement("L152"))
  func cancelledWrites() {
    var server = BearerHarness(.peripheral, .with(.dynamic(.write)))
    _ = server.send("16160000000102")
    #expect(server.send("1800") == [hex("19")])
    #expect(server.send("1801") == [hex("19")])
    #expect(server.events.isEmpty)
  }

  @Test("A writable stored value accepts writes, in parts too")
  func storedWrite() {
    let definition = GATTCharacteristicDefinition(
      uuid: 0x2A39, properties: [.read, .write], permissions: [.readable, .writeable], value: [1, 2, 3])
    var server = BearerHarness(.peripheral, .with(definition))
    #expect(server.send("1216000405") == [hex("13")])
    #expect(server.send("0a1600") == [hex("0b0405")])
    _ = server.send("161600010007")
    _ = server.send("16160002000809")
    #expect(server.send("1801") == [hex("19")])
    #expect(server.send("0a1600") == [hex("0b04070809")])
    _ = server.send("16160005000a")
    #expect(server.send("1801") == [hex("0118160007")])
    #expect(server.send("0a1600") == [hex("0b04070809")])
  }

  @Test("The new MTU applies from the response on")
  func mtuTakesEffectWithResponse() {
    var server = BearerHarness(maximumMTU: 100)
    server.bearer.receive(hex("026400"), database: &server.database, at: .zero)
    #expect(server.bearer.mtu == 23)
    #expect(server.take() == [hex("036400")])
    #expect(server.bearer.mtu == 100)
    #expect(server.events == [.mtuChanged(100)])
  }
}
