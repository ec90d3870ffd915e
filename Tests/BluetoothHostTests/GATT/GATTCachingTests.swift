import BluetoothWire
import TestVectors
import Testing

@testable import BluetoothHost

/// Database Hash, Service Changed and Robust Caching · Vol 3, Part G, 2.5.2, 7.
@Suite("Caching")
struct GATTCachingTests {
  private static let service = GATTServiceDefinition(
    uuid: 0x180F, isPrimary: true, includes: [], characteristics: [.dynamic(0x2A19, [.read, .notify])])

  /// Returns a client of a server with a dynamic value at handle 22 and its configuration at 23. The client has enabled
  /// robust caching if `isRobust`.
  private static func client(isRobust: Bool = true) -> HostileClient {
    var client = HostileClient(
      .dynamic(0x2A39, [.read, .write, .writeWithoutResponse, .notify]), .stored(pattern(4)))
    #expect(client.send("1217000100") == [hex("13")])
    if isRobust { #expect(client.send("120f0001") == [hex("13")]) }
    client.events = []
    return client
  }

  // MARK: Database Hash

  @Test("The specification's sample database has the hash that the specification gives")
  func sampleHash() throws {
    let vectors = try #require(try TestVectors.load("gatt_values")["database_hash"] as? [[String: Any]])
    #expect(!vectors.isEmpty)
    for vector in vectors {
      let rows = try #require(vector["database"] as? [[String: Any]])
      let attributes = try rows.map { row in
        let type = try #require(UInt16(row["type"] as? String ?? "", radix: 16))
        return GATTAttribute(
          readable: BluetoothUUID(type), at: AttributeHandle(try #require(row["handle"] as? Int)),
          value: hex(row["value"] as? String ?? "aabb").bytes)
      }
      #expect(GATTDatabaseHash.message(of: attributes) == hex(try #require(vector["message"] as? String)).bytes)
      #expect(GATTDatabaseHash.value(of: attributes) == hex(try #require(vector["hash_on_air"] as? String)).bytes)
    }
  }

  @Test("16-bit UUIDs are sent in 16 bits and all others in 128, with the octets of the vectors")
  func uuids() throws {
    let vectors = try #require(try TestVectors.load("gatt_values")["uuid"] as? [[String: Any]])
    #expect(vectors.count == 3)
    #expect(vectors.contains { $0["uuid32"] is String } && vectors.contains { $0["on_air16"] is String })
    for vector in vectors {
      let long = try #require(vector["on_air128"] as? String)
      let octets = hex(long)
      var reader = ByteReader(octets)
      let uuid = try reader.uuid(.bits128)
      #expect(uuid.attributeForm.attributeValue == hex(vector["on_air16"] as? String ?? long).bytes)
      #expect(BluetoothUUID(attributeValue: octets) == uuid)
      if let short = vector["uuid32"] as? String {
        #expect(BluetoothUUID(try #require(UInt32(short, radix: 16))).attributeForm.attributeValue == octets.bytes)
      }
      #expect(uuid.description.lowercased().hasSuffix(try #require(vector["uuid128"] as? String).suffix(4)))
    }
  }

  @Test("The hash depends on definitions only: a new service changes it, removal restores it, values have no effect")
  func hashFollowsDefinitions() throws {
    var database = GATTDatabase.with(.stored([1]))
    let before = database.hash()
    database.store([2], at: 22)
    database.setDeviceName("Other")
    #expect(database.hash() == before)
    let placement = try database.add(Self.service)
    #expect(database.hash() != before)
    _ = database.remove(declaration: placement.range.lowerBound)
    #expect(database.hash() == before)
    var client = HostileClient(.stored([1]))
    #expect(client.send("080100ffff2a2b") == [hex("0912 1100") + client.bench.host.context.server.database.hash()])
    #expect(client.send("0a1100") == [hex("0b") + before])
    #expect(client.send("0c11000f00") == [hex("0d") + before.dropFirst(15)])
  }

  // MARK: Robust caching

  @Test(
    "After a change the first request by handle gets 0x12, once, and the next one is served",
    arguments: ["0a0500", "0c05000000", "0e05000300", "1217000000", "161600000001", "080100190022a2", "080200ffff2a2b"])
  func outOfSync(request: String) {
    var client = Self.client()
    #expect(client.addService(Self.service).isEmpty)
    let octets = hex(request)
    #expect(client.send(request) == [ByteSlice([0x01, octets[0], octets[1], octets[2], 0x12])])
    let answer = client.send(request)
    #expect(answer.count == 1 && answer.first?.dropFirst(4) != [0x12])
    #expect(client.send("0a0500") == [hex("0b0000")])
    client.expectUnharmed()
  }

  @Test(
    "A change-unaware client may discover the database",
    arguments: ["04010005 00", "060100ffff00280018", "100100ffff0028", "080200ffff0228", "080200ffff0328", "020502"])
  func discoveryWhileUnaware(request: String) {
    var client = Self.client()
    _ = client.addService(Self.service)
    let answer = client.send(request)
    #expect(answer.count == 1 && answer.first?.dropFirst(4) != [0x12])
    // Discovery has not made the client change-aware.
    #expect(client.send("0a0500") == [hex("010a050012")])
  }

  @Test("Commands of a change-unaware client are ignored, and it gets no values")
  func nothingWhileUnaware() {
    var client = Self.client()
    _ = client.addService(Self.service)
    #expect(client.send("52160001") == [])
    #expect(client.update(22, [1]) == [])
    #expect(client.events == [.updateSent(22)])
    #expect(client.send("0a0500") == [hex("010a050012")])
    #expect(client.send("52160001") == [])
    #expect(client.update(22, [1]) == [])
    #expect(client.send("0a0500") == [hex("0b0000")])
    client.events = []
    #expect(client.update(22, [1]) == [hex("1b160001")])
    #expect(client.send("52160001") == [])
    #expect(client.events.count == 2)
  }

  @Test("A client that reads the hash is change-aware with its next request")
  func awareByHash() {
    var client = Self.client()
    _ = client.addService(Self.service)
    #expect(client.send("080100ffff2a2b").first?[0] == 0x09)
    #expect(client.update(22, [1]) == [])
    #expect(client.send("0a0500") == [hex("0b0000")])
    #expect(client.update(22, [1]) == [hex("1b160001")])
  }

  @Test("Another change before the client is change-aware is reported again")
  func changeAgain() {
    var client = Self.client()
    _ = client.addService(Self.service)
    #expect(client.send("0a0500") == [hex("010a050012")])
    _ = client.addService(Self.service)
    #expect(client.send("0a0500") == [hex("010a050012")])
    #expect(client.send("0a0500") == [hex("0b0000")])
  }

  @Test("Confirming Service Changed makes a client change-aware, and values wait for the confirmation")
  func awareByConfirmation() {
    var client = Self.client()
    #expect(client.send("120d000200") == [hex("13")])
    #expect(client.addService(Self.service) == [hex("1d0c00 1a001d00")])
    #expect(client.update(22, [1]) == [])
    #expect(client.events.isEmpty)
    // A further change is indicated afterwards, and only the confirmation of that indication counts.
    #expect(client.addService(Self.service) == [])
    #expect(client.addService(Self.service) == [])
    #expect(client.send("1e") == [hex("1d0c00 1e002500")])
    #expect(client.update(22, [2]) == [])
    #expect(client.send("1e") == [hex("1b160001"), hex("1b160002")])
    #expect(client.send("0a0500") == [hex("0b0000")])
    #expect(client.events == [.updateSent(22), .updateSent(22)])
    client.expectUnharmed()
  }

  @Test("A client without robust caching is always served")
  func notRobust() {
    var client = Self.client(isRobust: false)
    _ = client.addService(Self.service)
    #expect(client.update(22, [1]) == [hex("1b160001")])
    #expect(client.send("0a0500") == [hex("0b0000")])
    #expect(client.send("52160001") == [])
    #expect(client.events.count == 2)
  }

  @Test("Removing a service reports its range and the ranges of the inclusions that are removed with it")
  func removalRange() throws {
    var client = HostileClient(.stored([1]))
    _ = client.send("120d000200")
    _ = client.addService(Self.service)
    _ = client.send("1e")
    let including = GATTServiceDefinition(uuid: 0x1234, isPrimary: true, includes: [23], characteristics: [])
    #expect(client.addService(including) == [hex("1d0c00 1b001c00")])
    _ = client.send("1e")
    client.bench.perform { host, now in host.removeService(declaration: 23, at: now) }
    #expect(client.send("0a0500") == [hex("1d0c00 17001c00"), hex("0b0000")])
  }
}
