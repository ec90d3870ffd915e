import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

private func service(
  uuid: BluetoothUUID = 0x180D, includes: [AttributeHandle] = [], _ characteristics: GATTCharacteristicDefinition...
) -> GATTServiceDefinition {
  GATTServiceDefinition(uuid: uuid, isPrimary: true, includes: includes, characteristics: characteristics)
}

@Suite("GATT database")
struct GATTDatabaseTests {
  @Test("The GAP and GATT services always exist, from handle 1 on")
  func system() {
    let database = GATTDatabase.named()
    // Handles 6 and 7 are for Peripheral Preferred Connection Parameters.
    #expect(database.attributes.map(\.handle) == Array(1...5) + Array(8...19))
    #expect(
      database.attributes.map(\.type) == [
        0x2800, 0x2803, 0x2A00, 0x2803, 0x2A01, 0x2803, 0x2AA6,
        0x2800, 0x2803, 0x2A05, 0x2902, 0x2803, 0x2B29, 0x2803, 0x2B2A, 0x2803, 0x2B3A,
      ])
    #expect(database.attributes[0].groupEnd == 9)
    #expect(database.attributes[7].groupEnd == 19)
    #expect(database.index(of: database.system.serviceChanged).map { database.attributes[$0].type } == 0x2A05)
  }

  @Test("Adding and removing services one by one copies the attributes only when their memory doubles")
  func manyServices() throws {
    var database = GATTDatabase.named()
    var declarations: [AttributeHandle] = []
    var memory: UnsafeRawPointer?
    var copies = 0
    func noteMemory() {
      let current = database.attributes.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
      if current != memory { copies += 1 }
      memory = current
    }
    for number in 0..<1_000 {
      declarations.append(try database.add(service(.stored(ByteSlice([UInt8(number & 0xFF)])))).range.lowerBound)
      noteMemory()
    }
    // 17 attributes, then 3 for each service: 7 doublings lead from 32 to 4,096.
    #expect(copies <= 10, "adding")
    copies = 0
    for declaration in declarations.reversed() {
      _ = database.remove(declaration: declaration)
      noteMemory()
    }
    #expect(database.attributes.count == 17)
    #expect(copies <= 1, "removing")
  }

  @Test("Include declarations are counted as services are added and removed, and none refers to a removed service")
  func includeCount() throws {
    var database = GATTDatabase.named()
    let battery = try database.add(service(uuid: 0x180F)).range.lowerBound
    let plain = try database.add(service()).range.lowerBound
    let both = try database.add(service(includes: [battery, plain])).range.lowerBound
    _ = try database.add(service(includes: [plain]))
    var counts = [database.includeCount]
    for declaration in [battery, both, plain] {
      _ = database.remove(declaration: declaration)
      counts.append(database.includeCount)
      let includes = database.attributes.count { $0.type == GATTType.include }
      #expect(includes == database.includeCount)
    }
    #expect(counts == [3, 2, 1, 0])
    #expect(database.attributes.map(\.handle).last == 25)
  }

  @Test(
    "A placement gives the range and the value handles, and configurations exist where they are required",
    .requirement("L141"))
  func placement() throws {
    var database = GATTDatabase.named()
    let placement = try database.add(
      service(
        .dynamic(0x2A37, .notify),
        GATTCharacteristicDefinition(
          uuid: 0x2A38, properties: .read, permissions: .readable, value: [1],
          descriptors: [GATTDescriptorDefinition(uuid: 0x2901, value: [0x41])]),
        .dynamic(0x2A39, .indicate)))
    #expect(placement == GATTServicePlacement(range: 20...29, values: [22, 25, 28], descriptors: [[], [26], []]))
    #expect(
      database.attributes[17...].map(\.type)
        == [0x2800, 0x2803, 0x2A37, 0x2902, 0x2803, 0x2A38, 0x2901, 0x2803, 0x2A39, 0x2902])
  }

  @Test("A service with fixed handles stands there with its gaps, before or after other services")
  func fixedHandles() throws {
    var database = GATTDatabase(deviceName: "Sensor", appearance: 0, firstHandle: 256)
    #expect(database.attributes.first?.handle == 256)
    var value = GATTCharacteristicDefinition.dynamic(.notify)
    value.handle = 0x25
    var descriptor = GATTDescriptorDefinition(uuid: 0x2901, value: [0x41])
    descriptor.handle = 0x2F
    value.descriptors = [descriptor]
    var definition = service(.dynamic(.read), value)
    definition.handle = 0x20
    let placement = try database.add(definition)
    #expect(placement == GATTServicePlacement(range: 0x20...0x2F, values: [0x22, 0x26], descriptors: [[], [0x2F]]))
    #expect(database.attributes.prefix(7).map(\.handle) == [0x20, 0x21, 0x22, 0x25, 0x26, 0x27, 0x2F])
    #expect(database.attributes[0].groupEnd == 0x2F)
    #expect(definition.handleCount == 16 && service(.dynamic(.notify)).handleCount == 4)
    #expect(GATTDatabase.systemHandles == 1...19)
    // A service without a handle follows all others, and the fixed one returns to its place.
    let last = try database.add(service(.dynamic(.read)))
    #expect(last.range.lowerBound > database.system.range.upperBound)
    #expect(database.remove(declaration: 0x20) == 0x20...0x2F)
    #expect(database.remove(declaration: 256) == nil)
    #expect(try database.add(definition) == placement)
  }

  @Test("A fixed handle that is 0, taken, within another service or out of order is refused and changes nothing")
  func misplaced() throws {
    var database = GATTDatabase(deviceName: "Sensor", appearance: 0, firstHandle: 256)
    var first = GATTCharacteristicDefinition.dynamic(.read)
    first.handle = 0x28
    var definition = service(first)
    definition.handle = 0x20
    _ = try database.add(definition)
    let before = database.attributes.map(\.handle)
    for handle in [0, 0x20, 0x1E, 0x24, 0x29, 256, 260, 0xFFFF] as [AttributeHandle] {
      var other = service(.dynamic(.read))
      other.handle = handle
      #expect(throws: GATTDatabaseError.invalidHandle(handle)) { try database.add(other) }
    }
    for (start, handle) in [(nil, 0x40), (0x40, 0x40), (0x50, 0x4F)] as [(AttributeHandle?, AttributeHandle)] {
      var characteristic = GATTCharacteristicDefinition.dynamic(.read)
      characteristic.handle = handle
      var other = service(characteristic)
      other.handle = start
      #expect(throws: GATTDatabaseError.invalidHandle(handle)) { try database.add(other) }
    }
    #expect(database.attributes.map(\.handle) == before)
  }

  @Test("The declaration may show other properties than those that the server performs")
  func shownProperties() throws {
    var database = GATTDatabase.named()
    var characteristic = GATTCharacteristicDefinition.dynamic([.read, .writeWithoutResponse, .indicate])
    characteristic.shownProperties = .read
    let value = try database.add(service(characteristic)).values[0]
    let index = try #require(database.index(of: value))
    guard case .stored(let declaration) = database.attributes[index - 1].content else {
      Issue.record("the declaration has no value")
      return
    }
    #expect(declaration[0] == CharacteristicProperties.read.rawValue)
    #expect(database.attributes[index].access.contains(.writeCommand))
    #expect(database.configuration(of: value) == index + 1)
  }

  @Test("A freed handle is not reused while unused handles are left")
  func growth() throws {
    var database = GATTDatabase.named()
    let first = try database.add(service(.dynamic(.read)))
    #expect(database.remove(declaration: first.range.lowerBound) == first.range)
    let second = try database.add(service(.dynamic(.read)))
    #expect(second.range == first.range.upperBound + 1...first.range.upperBound + 3)
  }

  @Test("After the last handle, gaps are filled; without a gap the database is full")
  func full() throws {
    var database = GATTDatabase.named()
    var first: GATTServicePlacement?
    // 20 + 3 × 21,838 + 2 = 65,536: the last service ends at 65,535.
    for _ in 0..<21_838 {
      let placement = try database.add(service(.dynamic(.read)))
      first = first ?? placement
    }
    for _ in 0..<2 { _ = try database.add(service()) }
    #expect(throws: GATTDatabaseError.full) { try database.add(service()) }
    let gap = try #require(first)
    _ = database.remove(declaration: gap.range.lowerBound)
    #expect(throws: GATTDatabaseError.full) { try database.add(service(.dynamic(.notify))) }
    let placement = try database.add(service(.dynamic(.read)))
    #expect(placement == gap)
    #expect(database.attributes.map(\.handle) == database.attributes.map(\.handle).sorted())
  }

  @Test("Removing an included service also removes its inclusion, which becomes part of the change")
  func removalOfIncluded() throws {
    var database = GATTDatabase.named()
    let inner = try database.add(service(uuid: 0x180F, .dynamic(.read)))
    let outer = try database.add(service(includes: [inner.range.lowerBound], .dynamic(.read)))
    #expect(outer.range == 23...26)
    let changed = database.remove(declaration: inner.range.lowerBound)
    #expect(changed == 20...24)
    #expect(database.attributes[17...].map(\.handle) == [23, 25, 26])
  }

  @Test(
    "A handle without a service declaration, or of the host's own services, is not removed",
    arguments: [1, 10, 20, 21, 999] as [AttributeHandle])
  func notRemoved(handle: AttributeHandle) {
    var database = GATTDatabase.with(.dynamic(.read))
    let before = database.attributes.count
    let removed = database.remove(declaration: handle)
    #expect((removed == nil) == (handle != 20))
    #expect((database.attributes.count == before) == (handle != 20))
  }

  @Test("An invalid definition is refused and changes nothing")
  func refused() {
    var database = GATTDatabase.named()
    #expect(throws: GATTDatabaseError.unknownService(99)) { try database.add(service(includes: [99])) }
    #expect(throws: GATTDatabaseError.unknownService(2)) { try database.add(service(includes: [2])) }
    #expect(throws: GATTDatabaseError.invalidValueLength) { try database.add(service(.stored(pattern(513)))) }
    #expect(database.attributes.count == 17)
  }

  @Test("A Device Name is truncated to 248 octets at a character boundary and can be changed")
  func deviceName() {
    var database = GATTDatabase.named(String(repeating: "é", count: 200))
    #expect(database.value(at: 2)?.count == 248)
    database.setDeviceName("a" + String(repeating: "é", count: 200))
    #expect(database.value(at: 2)?.count == 247)
  }

  @Test("An attribute is found by its own handle only")
  func search() throws {
    var database = GATTDatabase.named()
    let first = try database.add(service(.dynamic(.read)))
    _ = try database.add(service(.dynamic(.read)))
    _ = database.remove(declaration: first.range.lowerBound)
    for handle in AttributeHandle(0)...30 {
      let index = database.index(of: handle)
      #expect((index != nil) == ((1...19).contains(handle) && !(6...7).contains(handle) || (23...25).contains(handle)))
      if let index { #expect(database.attributes[index].handle == handle) }
    }
  }

  @Test("The GAP service gives the preferred parameters if there are any, and the support for address resolution")
  func gapValues() {
    var client = HostileClient()
    #expect(client.send("080100ffff042a") == [hex("010801000a")])
    #expect(client.send("08060009000328") == [hex("0907 0800 02 0900 a62a")])
    #expect(client.send("080100ffffa62a") == [hex("0903 0900 00")])
    let without = client.bench.host.context.server.database.hash()
    client.bench.host.setPreferredParameters(
      LinkParameters(minimumInterval: 12, maximumInterval: 24, latency: 4, supervisionTimeout: 600),
      at: client.bench.now)
    #expect(client.bench.host.context.server.database.hash() != without)
    #expect(client.send("080100ffff042a") == [hex("090a 0700 0c00 1800 0400 5802")])
    client.bench.host.setCentralAddressResolution(true)
    client.bench.host.setDeviceName("Lamp")
    #expect(client.send("0a0700") == [hex("0b 0c00 1800 0400 5802")])
    #expect(client.send("0a0900") == [hex("0b01")])
    #expect(client.send("0a0300") == [hex("0b") + ByteSlice("Lamp".utf8)])
    client.bench.host.setPreferredParameters(nil, at: client.bench.now)
    #expect(client.send("0a0700") == [hex("010a070001")])
    #expect(client.bench.host.context.server.database.hash() == without)
  }
}
