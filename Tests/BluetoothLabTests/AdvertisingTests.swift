import BluetoothLab
import CoreBluetooth
import Foundation
import Requirements
import TestSupport
import Testing

@Suite("Custom advertising")
struct AdvertisingTests {
  @Test("The encoded octets are readable before anything is sent", .requirement("L043"))
  func octets() throws {
    let payload = try AdvertisingPayload([.flags(), .services([0x180D, 0x180F]), .name("Hi"), .transmitPower(-4)])
    #expect(
      payload.octets == [2, 0x01, 0x06, 5, 0x03, 0x0D, 0x18, 0x0F, 0x18, 3, 0x09, 0x48, 0x69, 2, 0x0A, 0xFC])
    #expect(payload.description == "020106 05030D180F18 03094869 020AFC")
  }

  @Test("Structures that do not fit are refused, omitted or shortened")
  func tooLong() {
    let long = ADStructure.name(String(repeating: "x", count: 40))
    #expect(throws: AdvertisingPayload.TooLong.self) { try AdvertisingPayload([.flags(), long]) }
    let fitting = AdvertisingPayload(fitting: [
      .flags(), .serviceData(of: 0x1809, Array(repeating: 1, count: 30)), long,
    ])
    #expect(fitting.octets.count == 31)
    #expect(fitting.structures.map(\.type) == [.flags, .shortenedLocalName])
  }

  @Test("A schedule of 20 ms for 30 s and then 1 s is followed", .requirement("L103"))
  func schedule() async {
    var advertising = Advertising(AdvertisingPayload(fitting: [.flags(), .name("Beacon")]))
    advertising.kind = .broadcast
    advertising.schedule = [.every(.milliseconds(20), for: .seconds(30)), .every(.seconds(1))]
    let meeting = Encounter(Broadcaster(advertising), plan: .listen)
    func sightings(in time: Duration) async -> Int {
      let before = meeting.app.sightings.count
      await meeting.world.run(for: time)
      return meeting.app.sightings.count - before
    }
    // 20 ms and 5 ms of random delay on average: 40 a second.
    #expect((1_100...1_260).contains(await sightings(in: .seconds(30))))
    #expect((28...31).contains(await sightings(in: .seconds(30))))
  }

  @Test("Among 1,000 advertisers a phone finds, connects to and reads a sensor", .requirement("L210"))
  func fullHall() throws {
    let world = World(seed: 1)
    var advertising = Advertising(AdvertisingPayload(fitting: [.flags(), .name("One of a thousand devices")]))
    advertising.schedule = [.every(.seconds(1))]
    var options = DeviceOptions()
    for number in 0..<1_000 {
      options.position = Position(x: Double(number % 32), y: Double(number / 32))
      world.add(Broadcaster(advertising), named: "tag \(number)", options)
    }
    world.run(for: .seconds(1))
    options.position = Position(x: 15, y: 15)
    world.add(HeartRateSensor(name: "Strap"), named: "strap", options)
    options.position = Position(x: 17, y: 15)
    let phone = TestCentral(on: world.makeDevice(named: "phone", options))
    let began = world.now
    let strap = try phone.connect(to: "Strap")
    #expect(try phone.read("2A38", of: strap) == [1])
    // The strap advertises every 100 ms. Half of the packets of a device are lost in collisions, and so are CONNECT_INDs.
    #expect(world.now - began < .seconds(4))
  }

  @Test("An accessory advertises fast for 30 s after power-on and after each disconnection, then every 1,022.5 ms")
  func fastThenSlow() async throws {
    let world = World(seed: 1)
    let belt = world.add(HeartRateSensor(), named: "belt")
    func events(in time: Duration) async -> Int {
      let before = belt.statistics.transmitted.packets
      await world.run(for: time)
      return (belt.statistics.transmitted.packets - before) / 3
    }
    // The interval and 5 ms of random delay on average.
    let fast = 280...290
    let slow = 28...30
    #expect(fast.contains(await events(in: .seconds(30))))
    #expect(slow.contains(await events(in: .seconds(30))))

    let app = PhoneApp(on: world.makeDevice(named: "phone", at: Position(x: 1)))
    #expect(await world.run(until: { app.has(.connected) }))
    app.manager.cancelPeripheralConnection(try #require(app.peripheral))
    #expect(await world.run(until: { app.has(.disconnected) }))
    #expect(fast.contains(await events(in: .seconds(30))))
    #expect(slow.contains(await events(in: .seconds(30))))
  }

  @Test("An accessory advertises by a schedule of its own")
  func ownSchedule() async {
    let world = World(seed: 1)
    var sensor = HeartRateSensor()
    sensor.advertisingSchedule = [.every(.milliseconds(500))]
    let belt = world.add(sensor, named: "belt")
    await world.run(for: .seconds(100))
    #expect((195...200).contains(belt.statistics.transmitted.packets / 3))
  }

  @Test("Advertising stops at the end of its schedule")
  func endOfSchedule() async {
    var advertising = Advertising(AdvertisingPayload(fitting: [.name("Once")]))
    advertising.schedule = [.every(.milliseconds(100), for: .seconds(1))]
    let meeting = Encounter(Broadcaster(advertising), plan: .listen)
    await meeting.world.run(for: .seconds(2))
    let sightings = meeting.app.sightings.count
    #expect(sightings >= 8)
    await meeting.world.run(for: .seconds(10))
    #expect(meeting.app.sightings.count == sightings)
  }

  @Test("A scannable advertiser answers with its scan response and accepts no connection", .timeLimit(.minutes(10)))
  func scannable() async {
    var advertising = Advertising(
      AdvertisingPayload(fitting: [.flags()]), scanResponse: AdvertisingPayload(fitting: [.name("Asked")]))
    advertising.kind = .scannable
    let meeting = Encounter(Broadcaster(advertising), plan: .listen)
    await meeting.world.run(for: .seconds(1))
    #expect(meeting.app.advertisement[CBAdvertisementDataLocalNameKey] as? String == "Asked")
    #expect(meeting.app.advertisement[CBAdvertisementDataIsConnectable] as? Bool == false)
  }

  @Test(
    "Manufacturer data in the advertisement and in the scan response are reported in two callbacks",
    arguments: [false, true])
  func manufacturerDataTwice(allowsDuplicates: Bool) {
    let world = World(seed: 3)
    var advertising = Advertising(
      AdvertisingPayload(fitting: [.flags(), .manufacturerData(company: 0x4454, [1, 2])]))
    advertising.scanResponse = AdvertisingPayload(fitting: [.manufacturerData(company: 0x4454, [3, 0xEE])])
    world.add(Broadcaster(advertising), named: "tag")
    let listener = ManufacturerDataListener()
    let central = CBCentralManager(
      delegate: listener, queue: nil,
      options: [CBManagerOptionAdapterKey: world.makeDevice(named: "phone", at: Position(x: 2))])
    world.run(for: .milliseconds(300))
    central.scanForPeripherals(
      withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: allowsDuplicates])
    world.run(for: .seconds(2))
    let both = [Data([0x54, 0x44, 1, 2]), Data([0x54, 0x44, 3, 0xEE])]
    let count = listener.values.count
    #expect(listener.values == (0..<count).map { both[$0 % 2] })
    #expect(allowsDuplicates ? count > 20 : count == 2, "\(count)")
  }

  @Test("Directed advertising reaches only the central that was connected last")
  func directed() async throws {
    let meeting = Encounter(CallingBack())
    #expect(await meeting.world.run(until: { meeting.app.has(.connected) }))
    meeting.app.manager.cancelPeripheralConnection(try #require(meeting.app.peripheral))
    await meeting.world.run(until: { meeting.app.has(.disconnected) })
    let stranger = PhoneApp(on: meeting.world.makeDevice(named: "stranger", at: Position(x: 1)))
    await meeting.world.run(for: .seconds(2))
    #expect(stranger.sightings.count == 0)
    let sent = meeting.accessory.statistics.transmitted.packets
    #expect(sent > 40)
    // The central connects now.
    meeting.app.manager.connect(try #require(meeting.app.peripheral))
    await meeting.world.run(for: .seconds(2))
    #expect(meeting.phone.statistics.links.filter(\.isConnected).count == 1)
    #expect(meeting.phone.statistics.links.count == 2)
  }

  /// An accessory that advertises to its last central only, after the first connection.
  private struct CallingBack: Accessory {
    var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.name("Calls")])) }

    mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
      var advertising = Advertising()
      advertising.kind = .directed
      context.advertise(advertising)
    }
  }

  @Test(
    "On one of the three channels, one packet in three is sent", .requirement("L090"),
    arguments: [Advertising.Channels.all, .channel38])
  func channels(_ channels: Advertising.Channels) async {
    var advertising = Advertising(AdvertisingPayload(fitting: [.name("Channels")]))
    advertising.kind = .broadcast
    advertising.channels = channels
    let world = World(seed: 1)
    let beacon = world.add(Broadcaster(advertising), named: "beacon")
    await world.run(for: .seconds(10))
    let events = beacon.statistics.transmitted.packets / (channels == .all ? 3 : 1)
    #expect((90...100).contains(events))
  }

  @Test(
    "Advertising with less power is received with a correspondingly lower RSSI", .requirement("L020"),
    .timeLimit(.minutes(10)))
  func transmitPower() async {
    func level(_ power: Int?, _ generation: DeviceOptions.Generation) async -> Double? {
      var advertising = Advertising(AdvertisingPayload(fitting: [.name("Faint")]))
      advertising.transmitPower = power
      var options = DeviceOptions(transmitPower: 4)
      options.generation = generation
      let world = World(seed: 1)
      world.add(Broadcaster(advertising), named: "beacon", options)
      let app = PhoneApp(on: world.makeDevice(named: "phone", at: Position(x: 2)), .listen)
      await world.run(for: .seconds(1))
      return app.level
    }
    let own = await level(nil, .bluetooth54) ?? 0
    #expect(await level(4, .bluetooth54) == own)
    #expect(await level(-8, .bluetooth54) == own - 12)
    #expect(await level(-100, .bluetooth54) == own - 24)
    // A chip of 2010 has a single transmit power.
    #expect(await level(-8, .bluetooth40) == own)
  }
}

/// Records the manufacturer data of each callback.
private final class ManufacturerDataListener: NSObject, CBCentralManagerDelegate {
  var values: [Data?] = []

  func centralManagerDidUpdateState(_ central: CBCentralManager) {}

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi level: NSNumber
  ) {
    values.append(advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data)
  }
}
