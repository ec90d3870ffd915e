import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import TestSupport
import Testing

@testable import BluetoothAir

@Suite("World files: described peripherals")
struct DescribedPeripheralTests {
  /// Returns a phone that has discovered all attributes of the peripheral.
  private func meet(_ lines: String, name: String = "d") async throws -> (world: World, phone: PhoneApp) {
    let world = World(seed: 1)
    try WorldFile(text: peripheralFile(lines)).populate(world)
    let phone = PhoneApp(world.makeDevice(named: "phone", at: Position(x: 1)), connectsTo: name)
    #expect(await world.run(until: { phone.isReady }, limit: .seconds(10)))
    return (world, phone)
  }

  private func read(_ uuid: String, _ phone: PhoneApp, _ world: World) async throws -> [UInt8]? {
    let characteristic = try #require(phone.characteristic(uuid))
    let count = phone.values(of: uuid).count + phone.accesses.count
    phone.peripheral?.readValue(for: characteristic)
    await world.run(until: { phone.values(of: uuid).count + phone.accesses.count > count }, limit: .seconds(5))
    return phone.values(of: uuid).last
  }

  @Test("A phone finds the weather station by its service and name, and reads the values of its file")
  func weatherStation() async throws {
    let world = World(seed: 1)
    try WorldFile(path: ExampleWorlds.path("weather-station")).populate(world)
    let phone = PhoneApp(world.makeDevice(named: "phone", at: Position(x: 1)), connectsTo: "Weather Station")
    #expect(await world.run(until: { phone.isReady }, limit: .seconds(20)))
    let data = try #require(phone.sightings(of: "Weather Station").last?.data)
    #expect(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "181A")])
    #expect(data[CBAdvertisementDataManufacturerDataKey] as? Data == Data([0xFF, 0xFF, 0x01, 0x02]))
    // The station refuses all connections for its first two seconds.
    #expect(world.now > .seconds(2))

    #expect(try await read("2A29", phone, world) == Array("Example & Sons".utf8))
    #expect(try await read("2A6F", phone, world) == [0xC8, 0x14])
    phone.subscribe("2A6E")
    await world.run(for: .seconds(9))
    #expect(phone.values(of: "2A6E") == [[0x5C, 0x08], [0x5E, 0x08], [0x59, 0x08], [0x5C, 0x08]])
    // The phone pairs, since the characteristic requires encryption.
    #expect(try await read("6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C002", phone, world) == Array("garden".utf8))
  }

  @Test("Beacons of the weather station's file advertise the data of the file")
  func beacons() async throws {
    let world = World(seed: 1)
    try WorldFile(path: ExampleWorlds.path("weather-station")).populate(world)
    let phone = PhoneApp(world.makeDevice(named: "phone", at: Position(x: 1)))
    await world.run(for: .seconds(5))
    let beacons = phone.sightings.compactMap { $0.data[CBAdvertisementDataManufacturerDataKey] as? Data }
    #expect(beacons.contains { $0.count == 25 && $0[21] == 1 && $0[23] == 7 })
    let signs = phone.sightings.compactMap {
      $0.data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
    }
    #expect(signs.contains { $0[CBUUID(string: "FEAA")]?.count == 11 })
  }

  @Test("A value with a period is sent at that period, and each characteristic has its own period")
  func periods() async throws {
    let (world, phone) = try await meet(
      """
      connection: {interval: 0.0075}
      services:
        - uuid: 1815
          characteristics:
            - {uuid: 2A56, properties: [notify], values: [[1], [2], [3]], notifyPeriod: 0.5}
            - {uuid: 2A58, properties: [indicate], value: FF, notifyPeriod: 2}
      """)
    await world.run(for: .seconds(1))
    for uuid in ["2A56", "2A58"] { phone.subscribe(uuid) }
    await world.run(for: .seconds(6.2))
    #expect(phone.values(of: "2A56").prefix(5) == [[2], [3], [1], [2], [3]])
    #expect(phone.values(of: "2A56").count == 12)
    #expect(phone.values(of: "2A58") == [[0xFF], [0xFF], [0xFF]])
    phone.subscribe("2A56", false)
    await world.run(for: .seconds(5))
    #expect(phone.values(of: "2A56").count <= 13)
    #expect(phone.values(of: "2A58").count >= 5)
  }

  @Test("A written value can be read back, is notified to subscribers, and is refused if it is too long")
  func writes() async throws {
    let (world, phone) = try await meet(
      """
      services:
        - uuid: 1815
          characteristics:
            - {uuid: 2A58, properties: [read, write, notify], text: old, maximumLength: 4}
      """)
    let characteristic = try #require(phone.characteristic("2A58"))
    phone.peripheral?.setNotifyValue(true, for: characteristic)
    await world.run(for: .seconds(1))
    phone.peripheral?.writeValue(Data("new".utf8), for: characteristic, type: .withResponse)
    await world.run(for: .seconds(1))
    #expect(phone.values(of: "2A58") == [Array("new".utf8)])
    phone.peripheral?.writeValue(Data("far too long".utf8), for: characteristic, type: .withResponse)
    await world.run(for: .seconds(1))
    #expect(try await read("2A58", phone, world) == Array("new".utf8))
    #expect(phone.accesses == [.written, .notWritten(CBATTError.invalidAttributeValueLength.rawValue)])
  }

  @Test("A value written to one characteristic is the value of another one that echoes it, and is notified there")
  func echo() async throws {
    let (world, phone) = try await meet(
      """
      services:
        - uuid: 1815
          characteristics:
            - {uuid: 2A56, properties: [write], maximumLength: 4}
            - {uuid: 2A58, properties: [read, notify], text: old, echo: 2A56}
            - {uuid: 2A57, properties: [read], text: other}
      """)
    let written = try #require(phone.characteristic("2A56"))
    phone.subscribe("2A58")
    await world.run(for: .seconds(1))
    phone.peripheral?.writeValue(Data("new".utf8), for: written, type: .withResponse)
    await world.run(for: .seconds(1))
    #expect(phone.values(of: "2A58") == [Array("new".utf8)])
    phone.peripheral?.writeValue(Data("too long".utf8), for: written, type: .withResponse)
    await world.run(for: .seconds(1))
    #expect(try await read("2A58", phone, world) == Array("new".utf8))
    #expect(try await read("2A57", phone, world) == Array("other".utf8))
    #expect(
      complaints(
        peripheralFile("services: [{uuid: 1815, characteristics: [{uuid: 2A56, properties: [read], echo: 2A57}]}]")
      ) == [
        "w:5:86: devices[0].accessory.services[0].characteristics[0].echo: this service has no characteristic 2A57; "
          + "did you mean \"2A56\"?"
      ])
  }

  @Test("The description of a peripheral has what the file says, and that of a ready-made accessory is missing")
  func description() throws {
    let file = try WorldFile(
      text: peripheralFile(
        """
        connection: {interval: 0.05}
        services:
          - {uuid: 180A, isPrimary: false}
          - uuid: 1815
            includes: [180A]
            characteristics:
              - {uuid: 2A58, properties: [read, notify], values: ["01", "02"], notifyPeriod: 2, maximumLength: 4}
              - uuid: 2A56
                properties: [read, write]
                protection: encrypted
                reliableWrite: true
                command: date
                output: octets
                descriptors: [{uuid: "2908", value: "01"}]
              - {uuid: 2A57, properties: [notify], lines: vmstat 1, echo: 2A56}
        """) + "- {name: strap, accessory: heart-rate}\n- {name: sign, accessory: {kind: broadcaster, advertising: "
        + "{payload: {flags: 6}}}}\n")
    #expect(file.members[1].description == nil)
    #expect(file.members[2].description?.advertising.payload.octets == [2, 1, 6])
    let description = try #require(file.members[0].description)
    #expect(description.preferredParameters?.interval == .milliseconds(50))
    #expect(description.services.map(\.uuid) == ["180A", "1815"])
    #expect(description.services.map(\.isPrimary) == [false, true])
    #expect(description.services[1].includes == [0])
    let characteristics = description.services[1].characteristics
    #expect(characteristics.map(\.uuid) == ["2A58", "2A56", "2A57"])
    #expect(characteristics.map(\.values) == [[[1], [2]], [], []])
    #expect(characteristics.map(\.period) == [.seconds(2), nil, nil])
    #expect(characteristics.map(\.maximumLength) == [4, 512, 512])
    #expect(characteristics.map(\.protection) == [.none, .encrypted, .none])
    #expect(characteristics.map(\.hasReliableWrite) == [false, true, false])
    #expect(characteristics.map(\.descriptors) == [[], [.other("2908", [1])], []])
    #expect(
      characteristics.map(\.program) == [
        nil, ValueProgram(kind: .command, command: "date"), ValueProgram(kind: .lines, command: "vmstat 1"),
      ])
    #expect(characteristics.map(\.output) == [.text, .octets, .text])
    #expect(description.services[1].echoes(of: "2A56") == ["2A57"])
    #expect(description.services[0].echoes(of: "2A56") == [])
    #expect(characteristics.map(\.hasSubscriptions) == [true, false, true])
  }

  @Test(
    "A file without advertising data advertises short service UUIDs and the name, or a long UUID and a name on request"
  )
  func standardAdvertising() throws {
    func advertising(_ lines: String) throws -> Advertising {
      let file = try WorldFile(text: peripheralFile(lines))
      return try #require(file.members.first).accessory.advertising
    }
    let short = try advertising(
      "localName: Thing\nservices: [{uuid: 180F}, {uuid: 1815}, {uuid: 180A, isPrimary: false}]")
    #expect(short.payload.description == "020106 05030F181518 06095468696E67")
    #expect(short.scanResponse == .empty)
    let long = try advertising("services: [{uuid: 6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001}]\nlocalName: A longer name")
    #expect(long.payload.description == "020106 110701C0F0A5B7310F9E1F4D567C102A0D6F")
    #expect(long.scanResponse.structures == [.name("A longer name")])
  }

  @Test("A payload has the structures in the order of the file, with one list for each width of UUIDs")
  func payload() throws {
    let file = try WorldFile(
      text: peripheralFile(
        """
        advertising:
          kind: scannable
          channels: [38, 39]
          transmitPower: -4
          payload: {name: A, services: [1815, 0A0B0C0D, 180F], flags: 4, structures: [{type: 0x24, data: [1]}]}
        """))
    let advertising = try #require(file.members.first).accessory.advertising
    #expect(advertising.payload.description == "020941 050315180F18 05050D0C0B0A 020104 022401")
    #expect(advertising.kind == .scannable)
    #expect(advertising.channels == [.channel38, .channel39])
    #expect(advertising.transmitPower == -4)
    #expect(advertising.scanResponse == .empty)
  }

  @Test("Descriptors, included services and properties are those of the file")
  func services() throws {
    let file = try WorldFile(
      text: peripheralFile(
        """
        services:
          - {uuid: 180A, isPrimary: false}
          - uuid: 1815
            includes: [180A]
            characteristics:
              - uuid: 2A58
                properties: [read, write-without-response]
                reliableWrite: true
                protection: encrypted
                userDescription: Level
                presentationFormat: {format: 4, exponent: -1, unit: 0x2700}
                descriptors: [{uuid: 2908, value: 00 01}]
        """))
    let services = try #require(file.members.first?.accessory as? DescribedPeripheral).services
    #expect(services.map(\.isPrimary) == [false, true])
    #expect(services[1].includes == ["180A"])
    let characteristic = services[1].characteristics[0]
    #expect(characteristic.properties == [.read, .writeWithoutResponse])
    #expect(characteristic.protection == .encrypted)
    #expect(characteristic.hasReliableWrite)
    #expect(
      characteristic.descriptors == [
        .userDescription("Level"), .presentationFormat(PresentationFormat(.uint8, exponent: -1, unit: .unitless)),
        .other("2908", [0, 1]),
      ])
  }

  @Test("A description that the file makes writable is written, and an aggregate format names its parts")
  func descriptors() async throws {
    let (world, phone) = try await meet(
      """
      services:
        - uuid: 1815
          characteristics:
            - {uuid: 2A58, properties: [read], presentationFormat: {format: 6, unit: 0x2700}, userDescription: Wall,
               writableUserDescription: true}
            - {uuid: 2A56, properties: [read], presentationFormat: {format: 4, unit: 0x2700}}
            - {uuid: 2A5A, properties: [read], aggregateFormat: [2A56, 2A58]}
      """)
    let uuids = ["2A58", "2A56", "2A5A"]
    for characteristic in uuids.compactMap({ phone.characteristic($0) }) {
      phone.peripheral?.discoverDescriptors(for: characteristic)
    }
    await world.run(for: .seconds(2))
    func descriptor(_ type: String, of uuid: String) -> CBDescriptor? {
      phone.characteristic(uuid)?.descriptors?.first { $0.uuid == CBUUID(string: type) }
    }
    let description = try #require(descriptor("2901", of: "2A58"))
    let aggregate = try #require(descriptor("2905", of: "2A5A"))
    phone.peripheral?.writeValue(Data("Roof".utf8), for: description)
    phone.peripheral?.readValue(for: description)
    phone.peripheral?.readValue(for: aggregate)
    await world.run(for: .seconds(2))
    #expect(description.value as? String == "Roof")
    let handles = ["2A56", "2A58"].compactMap { descriptor("2904", of: $0)?.attributeHandle }
    #expect(handles.count == 2)
    #expect(try AggregateFormat(Array(try #require(aggregate.value as? Data))).handles == handles)
  }

  @Test("Services with one UUID have values of their own, and their UUID is advertised once")
  func repeatedServices() async throws {
    let service = """
      - uuid: 1815
        characteristics:
          - {uuid: 2A56, properties: [write]}
          - {uuid: 2A58, properties: [read, notify], echo: 2A56, value:
      """
    let lines = "services:\n" + ["\"01\"", "\"02\""].map { service + " \($0)}\n" }.joined()
    let payload = try WorldFile(text: peripheralFile(lines)).members.first?.accessory.advertising.payload
    #expect(payload?.description == "020106 03031518 020964")
    let (world, phone) = try await meet(lines)
    let services = try #require(phone.peripheral?.services).filter { $0.uuid == CBUUID(string: "1815") }
    #expect(services.count == 2)
    func all(_ uuid: String) -> [CBCharacteristic] {
      services.compactMap { $0.characteristics?.first { $0.uuid == CBUUID(string: uuid) } }
    }
    let (written, values) = (all("2A56"), all("2A58"))
    #expect(written.count == 2 && values.count == 2)
    for value in values { phone.peripheral?.readValue(for: value) }
    await world.run(for: .seconds(1))
    #expect(values.map(\.value) == [Data([1]), Data([2])])
    for value in values { phone.peripheral?.setNotifyValue(true, for: value) }
    await world.run(for: .seconds(1))
    phone.peripheral?.writeValue(Data([9]), for: written[1], type: .withResponse)
    await world.run(for: .seconds(1))
    #expect(values.map(\.value) == [Data([1]), Data([9])])
    for value in values { phone.peripheral?.readValue(for: value) }
    await world.run(for: .seconds(1))
    #expect(values.map(\.value) == [Data([1]), Data([9])])
  }

  @Test("A peripheral of the maximum size of a file can be served")
  func fullDatabase() async throws {
    let characteristics = (0..<100).map {
      "{uuid: \(2_000 + $0), properties: [read, notify, broadcast, write], reliableWrite: true, userDescription: x}"
    }
    let services = (0..<10).map {
      "- {uuid: \(3_000 + $0), characteristics: [\(characteristics.joined(separator: ", "))]}"
    }
    let world = World(seed: 1)
    try WorldFile(text: peripheralFile("services:\n" + services.joined(separator: "\n"))).populate(world)
    let phone = PhoneApp(world.makeDevice(named: "phone", at: Position(x: 1)))
    await world.run(for: .seconds(1))
    #expect(!phone.sightings.isEmpty)
  }
}
