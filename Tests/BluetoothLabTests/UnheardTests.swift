import BluetoothDaemon
import BluetoothRadio
import BluetoothWire
import CoreBluetooth
import Foundation
import TestSupport
import Testing

@testable import BluetoothLab

/// The simulation skips devices that no other device can hear, until one can. Every test runs the same world with
/// skipping and without.
@Suite("Unheard devices")
struct UnheardTests {
  @Test("A hundred beacons out of range are skipped, with the same packets and energy as without skipping")
  func far() {
    func statistics(skipping: Bool) -> (WorldStatistics, unheard: Int) {
      let world = World(seed: 3)
      world.setSkipping(skipping)
      for number in 0..<100 {
        world.add(
          Beacon(number, every: .milliseconds(Int64(100 + 10 * number))), named: "beacon \(number)",
          at: Position(x: Double(5_000 + 3_000 * number)))
      }
      let listener = Listener(on: world.makeDevice(named: "phone"))
      world.run(for: .seconds(10))
      let unheard = world.inspect { $0.unheardDevices }
      #expect(listener.sightings.isEmpty)
      return (world.statistics, unheard)
    }
    let (skipped, unheard) = statistics(skipping: true)
    let (run, none) = statistics(skipping: false)
    #expect(skipped == run)
    #expect(skipped.energy() == run.energy())
    #expect((unheard, none) == (100, 0))
    #expect((skipped["beacon 0"]?.transmitted.packets ?? 0) > 250)
  }

  @Test(
    "A phone that walks along a row of beacons hears each of them as it does without skipping",
    arguments: [false, true])
  func walk(hasDirections: Bool) {
    func sightings(skipping: Bool) -> ([Sighting], unheard: Int) {
      let world = World(seed: 1)
      world.setSkipping(skipping)
      for number in 0..<40 {
        var options = DeviceOptions(position: Position(x: Double(100 * number), y: 3))
        if hasDirections { options.antennaPattern = .directional(towards: Position(x: 1, y: -1)) }
        world.add(Beacon(number, every: .milliseconds(200), power: -20), named: "beacon \(number)", options)
      }
      var options = DeviceOptions()
      if hasDirections { options.antennaPattern = .directional(towards: Position(x: 1, y: 1)) }
      let phone = world.makeDevice(named: "phone", options)
      let listener = Listener(on: phone)
      phone.move(along: [Waypoint(at: .zero, .origin), Waypoint(at: .seconds(60), Position(x: 4_000))])
      world.run(for: .seconds(62))
      return (listener.sightings, world.inspect { $0.unheardDevices })
    }
    let (skipped, unheard) = sightings(skipping: true)
    #expect(skipped == sightings(skipping: false).0)
    // Beacons that turn away from the path, and a phone that turns away from them, miss each other more often.
    let count = Set(skipped.map(\.beacon)).count
    #expect(hasDirections ? (5...30).contains(count) : count == 40)
    #expect(unheard > 20)
  }

  @Test("Whatever happens to a world, the result is the same as without skipping", arguments: [1, 2, 5] as [UInt64])
  func anything(seed: UInt64) throws {
    let skipped = try Course(seed: seed, skipping: true)
    let run = try Course(seed: seed, skipping: false)
    #expect(skipped.sightings == run.sightings)
    #expect(skipped.snapshots == run.snapshots)
    #expect(skipped.capture == run.capture)
    #expect(skipped.mostUnheard > 5)
    #expect(run.mostUnheard == 0)
    #expect(skipped.sightings.count > 10)
  }

  @Test("A condition on the clock becomes true at the same event")
  func clock() {
    func end(skipping: Bool) -> Duration {
      let world = World(seed: 4)
      world.setSkipping(skipping)
      world.add(Beacon(1, every: .milliseconds(300)), named: "beacon", at: .origin)
      world.run(for: .seconds(2))
      world.run(until: { world.now > .seconds(5) }, limit: .seconds(60))
      return world.now
    }
    #expect(end(skipping: true) == end(skipping: false))
    #expect(end(skipping: true) < .milliseconds(5_400))
  }

  @Test("In real time too, time passes while the only device is unheard")
  func realTime() async {
    let world = World(seed: 6, time: .real(speed: 1_000))
    world.add(Beacon(1, every: .milliseconds(100)), named: "beacon", at: .origin)
    await world.run(for: .seconds(20))
    #expect(world.now >= .seconds(20))
    // Some 190 events.
    #expect((world.statistics["beacon"]?.transmitted.packets ?? 0) > 500)
  }

  @Test("An alarm in the middle of an advertising event fires on time, with skipping and without")
  func alarm() {
    func statistics(acting: Bool) -> WorldStatistics {
      let world = World(seed: 7)
      world.setSkipping(acting)
      world.add(Restless(), named: "restless", at: .origin)
      let listener = Listener(on: world.makeDevice(named: "phone", at: Position(x: 1)))
      world.run(for: .seconds(3))
      #expect(listener.sightings.count > 10)
      return world.statistics
    }
    #expect(statistics(acting: true) == statistics(acting: false))
  }

  @Test("With a fault that replaces a beacon's packets, each packet is sent once")
  func replaced() {
    func packets(acting: Bool) -> Int? {
      let world = World(seed: 8)
      world.setSkipping(acting)
      world.add(Beacon(1, every: .milliseconds(100)), named: "beacon", at: .origin)
      world.add([.air(.inject([0x02, 0x06, 1, 2, 3, 4, 5, 6]), .from("beacon"))])
      world.run(for: .seconds(3))
      return world.statistics["beacon"]?.transmitted.packets
    }
    #expect(packets(acting: true) == packets(acting: false))
  }

  @Test(
    "Accessories that expect requests are run by the engine between the requests, with the same result",
    arguments: [1, 2, 3] as [UInt64])
  func requests(seed: UInt64) throws {
    let acted = try Ward(seed: seed, acting: true)
    let run = try Ward(seed: seed, acting: false)
    #expect(acted.sightings == run.sightings)
    #expect(acted.connections == run.connections)
    #expect(acted.statistics == run.statistics)
    #expect(acted.statistics.energy() == run.statistics.energy())
    #expect(acted.capture == run.capture)
    #expect(acted.sightings.count > 100)
    #expect(acted.connections.count > 2)
    #expect(acted.mostScheduled > 10)
    #expect(run.mostScheduled == 0)
  }

  @Test("A world with unheard devices is not idle")
  func idle() {
    let world = World(seed: 5)
    world.add(Beacon(1, every: .milliseconds(300)), named: "beacon", at: .origin)
    #expect(!world.runUntilIdle(limit: .seconds(10)))
    #expect(world.now == .seconds(10))
    #expect(world.inspect { $0.unheardDevices } == 1)
  }
}

/// A phone's report of a beacon.
private struct Sighting: Hashable {
  let time: Duration
  let beacon: String
  let level: Int
}

/// An app that scans and records all reports.
private final class Listener: NSObject, CBCentralManagerDelegate {
  private let manager: CBCentralManager
  private let world: World
  private(set) var sightings: [Sighting] = []
  /// True if the app connects to a device that it sees while it has no connection.
  var connects = false
  private(set) var connections: [Duration] = []
  private var peripheral: CBPeripheral?

  init(on device: Device) {
    world = device.world
    manager = CBCentralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: device])
    super.init()
    manager.delegate = self
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) { scan() }

  func scan() {
    guard manager.state == .poweredOn else { return }
    manager.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
  }

  func stop() {
    if manager.state == .poweredOn { manager.stopScan() }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? "?"
    sightings.append(Sighting(time: world.now, beacon: name, level: rssi.intValue))
    guard connects, self.peripheral == nil, sightings.count % 7 == 0 else { return }
    self.peripheral = peripheral
    manager.connect(peripheral)
  }

  func disconnect() {
    if let peripheral { manager.cancelPeripheralConnection(peripheral) }
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    connections.append(world.now)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    self.peripheral = nil
  }
}

/// Forty seconds of a world with a random change every half second.
private final class Course {
  private let world: World
  private let folder: TemporaryFolder
  private var random: RandomStream
  private var beacons: [RadioDevice] = []
  private var listeners: [Listener] = []
  private var phones: [Device] = []
  private(set) var snapshots: [WorldStatistics] = []
  private(set) var capture = Data()
  private(set) var mostUnheard = 0

  var sightings: [Sighting] { listeners.flatMap(\.sightings) }

  init(seed: UInt64, skipping: Bool) throws {
    world = World(seed: seed)
    world.setSkipping(skipping)
    random = RandomStream(seed: seed)
    folder = try TemporaryFolder()
    defer { folder.remove() }
    for number in 0..<30 {
      let beacon = Beacon(
        number, every: .milliseconds(Int64(100 + random.next() % 900)), power: -20 + Int(random.next() % 31))
      beacons.append(world.add(beacon, named: "beacon \(number)", at: place))
    }
    world.add(HeartRateSensor(), named: "strap", at: place)
    for number in 0..<3 {
      phones.append(world.makeDevice(named: "phone \(number)", at: place))
      listeners.append(Listener(on: phones[number]))
    }
    for _ in 0..<80 {
      try act()
      world.run(for: .microseconds(Int64(random.next() % 1_000_000)))
      mostUnheard = max(mostUnheard, world.inspect { $0.unheardDevices })
    }
    snapshots.append(world.statistics)
    capture = try captured()
  }

  private var place: Position {
    Position(x: Double(random.next() % 2_000), y: Double(random.next() % 2_000))
  }

  private var anybody: RadioDevice { random.next() % 2 == 0 ? beacon : phones[Int(random.next() % 3)] }
  private var beacon: RadioDevice { beacons[Int(random.next() % 30)] }

  private func act() throws {
    switch random.next() % 16 {
    case 0: anybody.move(to: place)
    case 1:
      let start = world.now
      anybody.move(along: [
        Waypoint(at: start, place), Waypoint(at: start + .seconds(Int64(random.next() % 20)), place),
      ])
    case 2, 3: listeners[Int(random.next() % 3)].stop()
    case 4, 5, 6: listeners[Int(random.next() % 3)].scan()
    case 7: anybody.setPower(false)
    case 8, 9: anybody.setPower(true)
    case 10: world.setLoss(Double(40 + random.next() % 80), between: beacon, and: phones[Int(random.next() % 3)])
    case 11:
      world.setEnvironment([.free, .office, .lineOfSight, Environment(shadowing: 6)][Int(random.next() % 4)])
    case 12: snapshots.append(world.statistics)
    case 13: beacon.add([.device(.mute(for: .seconds(2)), when: .at(world.now + .milliseconds(300)))])
    case 14: if random.next() % 4 == 0 { capture += try captured() }
    default:
      beacon.add([.device(.driftClock(partsPerMillion: Double(random.next() % 400)), when: .at(world.now))])
    }
  }

  /// Captures half a second of the air.
  private func captured() throws -> Data {
    let file = folder.url.appendingPathComponent("capture")
    world.startCapture(try Capture(path: file.path))
    world.run(for: .milliseconds(500))
    try world.finishCapture()
    return try Data(contentsOf: file)
  }
}

/// Thirty accessories at intervals of 20 to 520 ms within 20 m, whose packets collide, and an app that scans and
/// connects. Every third of a second something changes.
private final class Ward {
  let capture: Data
  let statistics: WorldStatistics
  let sightings: [Sighting]
  let connections: [Duration]
  let mostScheduled: Int

  init(seed: UInt64, acting: Bool) throws {
    var mostScheduled = 0
    let world = World(seed: seed)
    world.setSkipping(acting)
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    var random = RandomStream(seed: seed)
    func place() -> Position { Position(x: Double(random.next() % 20), y: Double(random.next() % 20)) }
    let sensors = (0..<30).map { number in
      let interval = Duration.milliseconds(20 + Int64(random.next() % 500))
      return world.add(Sensor(number, every: interval), named: "sensor \(number)", at: place())
    }
    let phone = world.makeDevice(named: "phone", at: place())
    let listener = Listener(on: phone)
    listener.connects = true
    world.startCapture(try Capture(path: folder.url.appendingPathComponent("capture").path))
    for _ in 0..<60 {
      let sensor = sensors[Int(random.next() % 30)]
      switch random.next() % 8 {
      case 0: listener.stop()
      case 1, 2: listener.scan()
      case 3: sensor.move(to: place())
      case 4: sensor.setPower(false)
      case 5: sensor.setPower(true)
      case 6: sensor.add([.device(.mute(for: .milliseconds(700)), when: .at(world.now + .milliseconds(10)))])
      default: listener.disconnect()
      }
      world.run(for: .microseconds(Int64(random.next() % 660_000)))
      mostScheduled = max(mostScheduled, world.inspect { $0.scheduledDevices })
    }
    try world.finishCapture()
    capture = try Data(contentsOf: folder.url.appendingPathComponent("capture"))
    statistics = world.statistics
    sightings = listener.sightings
    connections = listener.connections
    self.mostScheduled = mostScheduled
  }

  /// A connectable device whose schedule and wake-ups fall into its advertising events.
  private struct Sensor: Accessory {
    let advertising: Advertising

    init(_ number: Int, every interval: Duration) {
      var advertising = Advertising(
        AdvertisingPayload(fitting: [.flags(), .name("sensor \(number)")]),
        scanResponse: AdvertisingPayload(fitting: [.services([0x180F])]))
      advertising.kind = number % 5 == 4 ? .scannable : .connectable
      advertising.schedule = [.every(interval, for: .milliseconds(2_345)), .every(interval * 2)]
      if number % 3 == 0 { advertising.channels = [.channel37, .channel39] }
      self.advertising = advertising
    }
  }
}

extension World {
  fileprivate func setSkipping(_ skips: Bool) { requestQueue.perform { $0.advertisesForDevices = skips } }
}

/// A beacon that changes its packets at irregular times, even in the middle of an event.
private struct Restless: Accessory {
  private var number = 0
  var advertising: Advertising { Beacon(number, every: .milliseconds(20)).advertising }

  func started(in context: inout AccessoryContext) { context.wake(after: .microseconds(1_003)) }

  mutating func timeReached(in context: inout AccessoryContext) {
    number += 1
    context.advertise(advertising)
    context.wake(after: .microseconds(20_713))
  }
}

/// A device that sends without receiving.
private struct Beacon: Accessory {
  let advertising: Advertising

  init(_ number: Int, every interval: Duration, power: Int = 0) {
    var advertising = Advertising(AdvertisingPayload(fitting: [.flags(), .name("beacon \(number)")]))
    advertising.kind = .broadcast
    advertising.schedule = [.every(interval)]
    advertising.transmitPower = power
    self.advertising = advertising
  }
}
