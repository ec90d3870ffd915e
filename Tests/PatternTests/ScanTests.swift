import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

@testable import Patterns

@Suite struct ScanTests {
  @Test("Found peripherals keep their level and advertisement, and follow a device that moves", .requirement("G019"))
  func levels() throws {
    let world = World(seed: 1)
    let timers = WorldTimers(in: world)
    let lamps = try [("Near", 1.0), ("Far", 8.0)].map { name, distance in
      let lamp = TestPeripheral(on: world.makeDevice(named: name, at: Position(x: distance)))
      try lamp.advertise(name, services: [Lamp.service])
      return lamp
    }
    let phone = TestCentral(on: world.makeDevice(named: "phone"))
    try phone.powerOn()
    let found = FoundPeripherals()
    phone.manager.delegate = found
    found.scan(with: phone.manager)
    timers.run(limit: .seconds(3))
    try #require(found.byLevel.map(\.name) == ["Near", "Far"])
    let levels = found.byLevel.map(\.rssi)
    lamps[0].device.move(to: Position(x: 30))
    timers.run(limit: .seconds(3))
    phone.manager.stopScan()
    #expect(found.byLevel.map(\.name) == ["Far", "Near"])
    #expect(found.byLevel[0].rssi == levels[1])
    #expect(found.byLevel[1].rssi < levels[0] - 20)
    for peripheral in found.all.values {
      #expect(
        peripheral.advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: Lamp.service)])
    }
  }

  @Test("A saved identifier finds its peripheral without a scan, and an unknown one begins a scan")
  func savedIdentifier() throws {
    let air = try Lamp()
    let central = air.phone.manager
    try air.phone.powerOn()
    var found: [(peripheral: CBPeripheral, way: SavedPeripheral.Way)] = []
    let search = SavedPeripheral(service: CBUUID(string: Lamp.service)) { found.append(($0, $1)) }
    central.delegate = search
    search.find(UUID(), with: central)
    #expect(air.timers.run(until: { !found.isEmpty }))
    #expect(found.map(\.way) == [.scan])
    let start = air.world.now
    let first = try #require(found.first).peripheral
    search.find(first.identifier, with: central)
    #expect(found.map(\.way) == [.scan, .identifier])
    #expect(found.last?.peripheral.identifier == first.identifier)
    air.timers.run(limit: .seconds(1))
    #expect(air.calls("scan", since: start).isEmpty)
  }

  @Test("A search without a saved identifier finds the peripheral of another app's link")
  func existingLink() throws {
    let air = try Lamp()
    let (peripheral, _) = try air.connect()
    let other = TestCentral(on: air.phone.device)
    try other.powerOn()
    var found: [(peripheral: CBPeripheral, way: SavedPeripheral.Way)] = []
    let search = SavedPeripheral(service: CBUUID(string: Lamp.service)) { found.append(($0, $1)) }
    search.find(nil, with: other.manager)
    #expect(found.map(\.way) == [.connection])
    #expect(found.map(\.peripheral.identifier) == [peripheral.identifier])
  }

  @Test(
    "Apps choose when the radio scans, and nothing that they pass to connect changes the link", .requirement("L004"))
  func hiddenParameters() throws {
    let air = try Lamp()
    try air.phone.powerOn()
    air.timers.run(limit: .seconds(10))
    #expect(air.phone.device.statistics.receiving == .zero)
    air.phone.manager.scanForPeripherals(withServices: nil)
    air.timers.run(limit: .seconds(10))
    let scanned = air.phone.device.statistics.receiving
    #expect(scanned > .seconds(1), "\(scanned)")
    air.phone.manager.stopScan()
    air.timers.run(limit: .seconds(1))
    let before = air.phone.device.statistics.receiving
    air.timers.run(limit: .seconds(10))
    #expect(air.phone.device.statistics.receiving == before)
    #expect(try packets(options: nil) == packets(options: ["kCBConnectOptionInterval": 7.5, "Latency": 4]))
  }

  /// The packets of a link in its first 3 s.
  private func packets(options: [String: Any]?) throws -> [WorldTrace.Entry] {
    let air = try Lamp()
    let found = try air.phone.discover("Lamp")
    air.phone.manager.connect(found, options: options)
    air.timers.run(limit: .seconds(3))
    #expect(found.state == .connected)
    return air.world.trace.only(.packet).entries
  }

  @Test("An app can't set the advertising interval: the system advertises every 100 to 110 ms", .requirement("L040"))
  func advertisingInterval() throws {
    let plain = try advertising([:])
    #expect(try advertising(["kCBAdvDataInterval": 0.02, "AdvertisingInterval": 32]) == plain)
    // An event has up to three packets within a few milliseconds.
    let starts = zip(plain, plain.dropFirst()).filter { $1.time - $0.time > .milliseconds(20) }.map { $1.time }
    #expect(starts.count > 20)
    // The device's clock drifts by less than 0.1 %.
    let expected: ClosedRange<Duration> = .microseconds(99_900) ... .microseconds(110_100)
    for (start, next) in zip(starts, starts.dropFirst()) { #expect(expected.contains(next - start)) }
  }

  /// The packets of an app that advertises for 3 s with further fields.
  private func advertising(_ fields: [String: Any]) throws -> [WorldTrace.Entry] {
    let world = World(seed: 1)
    let lamp = TestPeripheral(on: world.makeDevice(named: "lamp"))
    try lamp.powerOn()
    lamp.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "Lamp"].merging(fields) { $1 })
    world.run(for: .seconds(3))
    return world.trace.only(.packet).entries
  }
}
