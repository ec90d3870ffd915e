import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

/// The descriptors of the specification · Vol 3, Part G, 3.3.3.
@Suite("Descriptors")
struct GATTDescriptorTests {
  private static let format = ByteSlice([0x04, 0x00, 0x00, 0x27, 0x01, 0x00, 0x00])

  private static func characteristic(
    _ extended: GATTExtendedProperties = [], _ descriptors: GATTDescriptorDefinition...
  ) -> GATTCharacteristicDefinition {
    GATTCharacteristicDefinition(
      uuid: 0x2A39, properties: .read, extendedProperties: extended, permissions: .readable, value: [1],
      descriptors: descriptors)
  }

  private static func add(_ characteristics: GATTCharacteristicDefinition...) throws -> BearerHarness {
    var database = GATTDatabase.named()
    _ = try database.add(
      GATTServiceDefinition(uuid: 0x180D, isPrimary: true, includes: [], characteristics: characteristics))
    return BearerHarness(.peripheral, database)
  }

  @Test(
    "Extended properties have their bit and their descriptor", .requirement("L158"),
    arguments: [
      ([], "02", nil), (.reliableWrite, "82", "0100"), ([.reliableWrite, .writableAuxiliaries], "82", "0300"),
    ]
      as [(GATTExtendedProperties, String, String?)])
  func extendedProperties(extended: GATTExtendedProperties, declared: String, value: String?) throws {
    var server = try Self.add(Self.characteristic(extended))
    #expect(server.send("0a1500") == [hex("0b" + declared + "1600392a")])
    #expect(server.send("0a1700") == [value.map { hex("0b" + $0) } ?? hex("010a170001")])
    if value != nil {
      #expect(server.send("0417001700") == [hex("0501 1700 0029")])
      #expect(server.send("12170000") == [hex("0112170003")])
    }
  }

  @Test(
    "A user description is writable only if the characteristic has writable auxiliaries", .requirement("L158", "L159"))
  func userDescription() throws {
    let description = GATTDescriptorDefinition(
      uuid: 0x2901, content: .stored(ByteSlice("Lamp".utf8)), permissions: [.readable, .writeable])
    #expect(throws: GATTDatabaseError.invalidDescriptor(0x2901)) { try Self.add(Self.characteristic([], description)) }
    #expect(throws: GATTDatabaseError.invalidDescriptor(0x2901)) {
      try Self.add(Self.characteristic(.reliableWrite, description))
    }
    var server = try Self.add(Self.characteristic(.writableAuxiliaries, description))
    #expect(server.send(hex("121800") + ByteSlice("Door".utf8)) == [hex("13")])
    #expect(server.send("0a1800") == [hex("0b") + ByteSlice("Door".utf8)])
    var fixed = try Self.add(Self.characteristic([], GATTDescriptorDefinition(uuid: 0x2901, value: [0x41])))
    #expect(fixed.send("12170042") == [hex("0112170003")])
  }

  @Test("An aggregate format lists the handles of its formats in the given order")
  func aggregateFormat() throws {
    let format = GATTDescriptorDefinition(uuid: 0x2904, value: Self.format)
    let aggregate = GATTDescriptorDefinition(
      uuid: 0x2905,
      content: .formats([
        GATTDescriptorPath(characteristic: 1, descriptor: 1), GATTDescriptorPath(characteristic: 0, descriptor: 0),
      ]))
    let description = GATTDescriptorDefinition(uuid: 0x2901, value: [0x41])
    var server = try Self.add(Self.characteristic([], format), Self.characteristic([], description, format, aggregate))
    // 23: format, 26: description, 27: format, 28: aggregate.
    #expect(server.send("0a1700") == [hex("0b") + Self.format])
    #expect(server.send("0a1c00") == [hex("0b 1b00 1700")])
  }

  @Test("Invalid descriptors are refused")
  func refused() {
    let format = GATTDescriptorDefinition(uuid: 0x2904, value: Self.format)
    func path(_ characteristic: Int, _ descriptor: Int) -> GATTDescriptorPath {
      GATTDescriptorPath(characteristic: characteristic, descriptor: descriptor)
    }
    let definitions: [GATTDescriptorDefinition] = [
      // Descriptors that the database adds itself.
      GATTDescriptorDefinition(uuid: 0x2900, value: [0, 0]), GATTDescriptorDefinition(uuid: 0x2902, value: [0, 0]),
      GATTDescriptorDefinition(uuid: 0x2903, value: [0, 0]),
      // UUIDs of declarations.
      GATTDescriptorDefinition(uuid: 0x2800, value: [0x0F, 0x18]),
      GATTDescriptorDefinition(uuid: 0x2801, value: [0x0F, 0x18]),
      GATTDescriptorDefinition(uuid: 0x2802, value: [1, 0, 2, 0]),
      GATTDescriptorDefinition(uuid: 0x2803, value: [2, 9, 0, 0x37, 0x2A]),
      GATTDescriptorDefinition(uuid: 0x2904, value: [1, 2, 3]),
      GATTDescriptorDefinition(uuid: 0x2904, content: .dynamic),
      GATTDescriptorDefinition(uuid: 0x2904, content: .stored(Self.format), permissions: [.readable, .writeable]),
      GATTDescriptorDefinition(uuid: 0x2905, value: [0x17, 0x00]),
      GATTDescriptorDefinition(uuid: 0x2905, content: .formats([])),
      GATTDescriptorDefinition(uuid: 0x2905, content: .formats([path(0, 1)])),
      GATTDescriptorDefinition(uuid: 0x2905, content: .formats([path(0, 2)])),
      GATTDescriptorDefinition(uuid: 0x2905, content: .formats([path(1, 0)])),
      GATTDescriptorDefinition(uuid: 0x2906, content: .formats([path(0, 0)])),
    ]
    for definition in definitions {
      #expect(throws: GATTDatabaseError.invalidDescriptor(definition.uuid)) {
        try Self.add(Self.characteristic([], format, definition))
      }
    }
    #expect(throws: GATTDatabaseError.invalidValueLength) {
      try Self.add(Self.characteristic([], GATTDescriptorDefinition(uuid: 0x2906, value: pattern(513))))
    }
    #expect(throws: GATTDatabaseError.invalidValueLength) {
      try Self.add(
        GATTCharacteristicDefinition(
          uuid: 0x2A39, properties: .read, permissions: .readable, value: [1], lengths: 2...2))
    }
  }

  @Test("Other descriptors may be dynamic and writable, with their own permissions")
  func otherDescriptors() throws {
    let descriptor = GATTDescriptorDefinition(
      uuid: .custom(3), content: .dynamic, permissions: [.readable, .writeEncryptionRequired], lengths: 0...2)
    var server = try Self.add(Self.characteristic([], descriptor))
    #expect(server.send("0a1700") == [])
    let read = try #require(server.lastRequest)
    #expect(server.events == [.readRequested(read, 23, offset: 0)])
    #expect(server.respond(read, .success([5])) == [hex("0b05")])
    #expect(server.send("12170001") == [hex("0112170005")])
    server.bearer.securityChanged(HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true), at: .zero)
    #expect(server.send("121700010203") == [hex("011217000d")])
    #expect(server.send("12170001") == [])
    let write = try #require(server.lastRequest)
    #expect(server.events.last == .writeRequested(write, [GATTWritePart(handle: 23, offset: 0, value: [1])]))
    #expect(server.respond(write) == [hex("13")])
  }

  @Test("A service may include others, and an inclusion of a service with a 16-bit UUID contains that UUID")
  func includes() throws {
    var database = GATTDatabase.named()
    let long = try database.add(
      GATTServiceDefinition(uuid: .custom(1), isPrimary: false, includes: [], characteristics: []))
    let short = try database.add(
      GATTServiceDefinition(uuid: 0x180F, isPrimary: true, includes: [], characteristics: [.stored([1])]))
    _ = try database.add(
      GATTServiceDefinition(
        uuid: 0x180D, isPrimary: true, includes: [long.range.lowerBound, short.range.lowerBound], characteristics: []))
    var server = BearerHarness(.peripheral, database)
    #expect(server.send("081800ffff0228") == [hex("0906 1900 1400 1400")])
    #expect(server.send("081a00ffff0228") == [hex("0908 1a00 1500 1700 0f18")])
    #expect(server.send("100100ffff0128") == [hex("1114 14001400 9ecadc240ee5a9e093f3a3b50100406e")])
  }

  @Test("Services are included to any depth, and each inclusion leads the client to the next", .requirement("L155"))
  func nestedIncludes() throws {
    var database = GATTDatabase.named()
    var last: AttributeHandle?
    for _ in 0..<20 {
      let placement = try database.add(
        GATTServiceDefinition(
          uuid: last == nil ? 0x180F : 0x1234, isPrimary: last == nil, includes: last.map { [$0] } ?? [],
          characteristics: []))
      last = placement.range.lowerBound
    }
    var pair = GATTPair(database)
    var range = try #require(last)...(try #require(last) + 1)
    for _ in 0..<19 {
      guard case .success(.includedServices(let includes))? = pair.perform(.findIncludedServices(in: range)) else {
        Issue.record("nothing is included in \(range)")
        return
      }
      range = try #require(includes.first).service.range
    }
    #expect(range == 20...20)
  }
}
