import AsyncTestSupport
import BeaconLocation
import BluetoothLab
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Testing

/// An app for CoreBluetooth that lists the Eddystone frames nearby, with the times of their discovery.
private final class FrameListController: NSObject, CBCentralManagerDelegate {
  private let world: World
  private var centralManager: CBCentralManager?
  private(set) var discoveries: [(frame: EddystoneFrame?, time: Duration)] = []

  init(_ device: Device, in world: World) {
    self.world = world
    super.init()
    centralManager = CBCentralManager(delegate: self, queue: nil, options: [CBManagerOptionAdapterKey: device])
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return }
    central.scanForPeripherals(
      withServices: [CBUUID(string: "FEAA")], options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi level: NSNumber
  ) {
    discoveries.append((EddystoneFrame(advertisementData: advertisementData), world.now))
  }
}

/// A linear congruential generator, so that each run has the same octets.
private struct Generator {
  var state: UInt64 = 1

  mutating func next() -> UInt8 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return UInt8(truncatingIfNeeded: state >> 33)
  }
}

@Suite("Eddystone frames") struct EddystoneTests {
  /// A frame, and its service data.
  struct Vector: Sendable, CustomTestStringConvertible {
    let frame: EddystoneFrame
    let octets: [UInt8]

    init(_ frame: EddystoneFrame, _ octets: [UInt8]) { (self.frame, self.octets) = (frame, octets) }

    var testDescription: String { "\(frame)" }
  }

  /// Frames with values of the Eddystone protocol specification: the namespace that it derives from a UUID, its example
  /// of a URL, and its levels of +18 and −18 dBm.
  static let vectors: [Vector] = [
    Vector(
      .uid(
        namespace: [0x8B, 0x0C, 0xA7, 0x50, 0x09, 0x54, 0x77, 0xCB, 0x3E, 0x77], instance: [1, 2, 3, 4, 5, 6],
        txPower: -18),
      [0x00, 0xEE, 0x8B, 0x0C, 0xA7, 0x50, 0x09, 0x54, 0x77, 0xCB, 0x3E, 0x77, 1, 2, 3, 4, 5, 6, 0, 0]),
    Vector(
      .url("https://goo.gl/Aq18zF", txPower: 18),
      [0x10, 0x12, 0x03, 0x67, 0x6F, 0x6F, 0x2E, 0x67, 0x6C, 0x2F, 0x41, 0x71, 0x31, 0x38, 0x7A, 0x46]),
    Vector(
      .url("http://www.example.com", txPower: -18),
      [0x10, 0xEE, 0x00, 0x65, 0x78, 0x61, 0x6D, 0x70, 0x6C, 0x65, 0x07]),
    Vector(
      .url("https://www.a.info/b.gov/c.org", txPower: 0), [0x10, 0x00, 0x01, 0x61, 0x04, 0x62, 0x06, 0x63, 0x08]),
    // The specification allows a length of 0 after the scheme.
    Vector(.url("https://", txPower: 0), [0x10, 0x00, 0x03]),
    Vector(
      .telemetry(
        EddystoneFrame.Telemetry(
          batteryVoltage: 3_000, temperature: 23.5, advertisingCount: 256, uptime: .seconds(1_000))),
      [0x20, 0x00, 0x0B, 0xB8, 0x17, 0x80, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x27, 0x10]),
    Vector(
      .telemetry(
        EddystoneFrame.Telemetry(
          batteryVoltage: 3_000, temperature: -4.5, advertisingCount: 1, uptime: .milliseconds(100))),
      [0x20, 0x00, 0x0B, 0xB8, 0xFB, 0x80, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01]),
    Vector(
      .telemetry(EddystoneFrame.Telemetry(advertisingCount: .max, uptime: .milliseconds(429_496_729_500))),
      [0x20, 0x00, 0x00, 0x00, 0x80, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
  ]

  @Test("A frame of the specification is encoded to its octets, and decoded from them", arguments: vectors)
  func encoding(vector: Vector) throws {
    let data = Data(vector.octets)
    #expect(try vector.frame.serviceData() == data)
    #expect(EddystoneFrame(serviceData: data) == vector.frame)
    let structures: [ADStructure] = [
      .flags(), .services([0xFEAA]), .serviceData(of: 0xFEAA, vector.octets),
    ]
    #expect(try vector.frame.advertisingData() == structures)
    let services = [CBUUID(string: "FEAA"): data, CBUUID(string: "180F"): Data([50])]
    #expect(EddystoneFrame(advertisementData: [CBAdvertisementDataServiceDataKey: services]) == vector.frame)
  }

  @Test("The longest frames of each type fit into an advertising packet, and a longer URL has no encoding")
  func lengths() throws {
    let longest = "http://" + String(repeating: "x", count: 17)
    let frames: [EddystoneFrame] = [
      .uid(namespace: [UInt8](1...10), instance: [UInt8](1...6), txPower: -100), .url(longest, txPower: 20),
      .telemetry(EddystoneFrame.Telemetry(advertisingCount: 0, uptime: .zero)),
    ]
    for frame in frames {
      let payload = try AdvertisingPayload(try frame.advertisingData())
      #expect(payload.octets.count <= AdvertisingPayload.maximumLength)
      #expect(EddystoneFrame(serviceData: try frame.serviceData()) == frame)
    }
    #expect(throws: EddystoneError.urlLength(18)) { try EddystoneFrame.url(longest + "x", txPower: 0).serviceData() }
    let ending = EddystoneFrame.url("http://" + String(repeating: "x", count: 16) + ".info", txPower: 0)
    #expect(try ending.serviceData().count == 20)
  }

  @Test("A value without an encoding is refused with its reason")
  func refused() {
    func reason(_ frame: EddystoneFrame) -> EddystoneError? {
      do throws(EddystoneError) {
        _ = try frame.advertisingData()
        return nil
      } catch { return error }
    }
    func telemetry(_ temperature: Double?, _ uptime: Duration = .zero) -> EddystoneFrame {
      .telemetry(EddystoneFrame.Telemetry(temperature: temperature, advertisingCount: 0, uptime: uptime))
    }
    let instance = [UInt8](1...6)
    #expect(reason(.uid(namespace: [1], instance: instance, txPower: 0)) == .namespaceLength(1))
    #expect(reason(.uid(namespace: [UInt8](1...10), instance: [], txPower: 0)) == .instanceLength(0))
    #expect(reason(.url("ftp://example.com", txPower: 0)) == .unknownScheme)
    #expect(reason(.url("", txPower: 0)) == .unknownScheme)
    #expect(reason(.url("https://a b.com", txPower: 0)) == .invalidCharacter(" "))
    #expect(reason(.url("http://é.com", txPower: 0)) == .invalidCharacter("é"))
    #expect(reason(.url("https://a\r\n", txPower: 0)) == .invalidCharacter("\r\n"))
    #expect(reason(telemetry(128)) == .temperature(128))
    #expect(reason(telemetry(-128)) == .temperature(-128))
    #expect(reason(telemetry(.infinity)) == .temperature(.infinity))
    #expect(reason(telemetry(20, .milliseconds(-1))) == .negativeUptime(.milliseconds(-1)))
    #expect(reason(telemetry(127.999)) == nil && reason(telemetry(-127.999)) == nil)
    if case .temperature(let degrees)? = reason(telemetry(.nan)) {
      #expect(degrees.isNaN)
    } else {
      Issue.record("NaN has an encoding")
    }
    #expect("\(EddystoneError.urlLength(18))" == "The URL has 18 octets after the scheme; at most 17 are allowed.")
  }

  @Test("A temperature next to the limits does not become the value for none, and the time wraps after 2^32 units")
  func limits() throws {
    func decoded(_ temperature: Double, _ uptime: Duration) throws -> EddystoneFrame.Telemetry? {
      let state = EddystoneFrame.Telemetry(temperature: temperature, advertisingCount: 0, uptime: uptime)
      let data = try EddystoneFrame.telemetry(state).serviceData()
      guard case .telemetry(let result)? = EddystoneFrame(serviceData: data) else { return nil }
      return result
    }
    let lowest = try #require(try decoded(-127.999, .milliseconds(199)))
    #expect(lowest.temperature == -127.99609375 && lowest.uptime == .milliseconds(100))
    let highest = try #require(try decoded(127.999, .milliseconds(429_496_729_600)))
    #expect(highest.temperature == 127.99609375 && highest.uptime == .zero)
  }

  /// Returns octets that begin with `head`, with as many octets of the value 1 after that.
  private static func octets(_ head: [UInt8], ones count: Int) -> [UInt8] {
    head + [UInt8](repeating: 1, count: count)
  }

  /// Octets with unknown types, unused values, and lengths next to the right ones.
  static let hostileOctets: [[UInt8]] = [
    [], [0x00], [0x10], [0x20], [0x10, 0x00], [0x40, 0x00],
    [0x10, 0x00, 0x04, 0x61], [0x10, 0x00, 0x03, 0x61, 0x0E], [0x10, 0x00, 0x03, 0x61, 0x20],
    [0x10, 0x00, 0x03, 0x7F], [0x10, 0x00, 0x03, 0xFF],
    octets([0x10, 0x00, 0x03], ones: 18), octets([0x00], ones: 16), octets([0x00], ones: 20),
    octets([0x20, 0x00], ones: 11), octets([0x20, 0x00], ones: 13), octets([0x20, 0x01], ones: 12),
    octets([0x30], ones: 9), octets([0xFF], ones: 19),
  ]

  @Test("Octets that are not a frame of a known type and length decode to nil", arguments: hostileOctets)
  func hostile(octets: [UInt8]) { #expect(EddystoneFrame(serviceData: Data(octets)) == nil) }

  @Test("Frames of any octets decode to values that encode again, and advertisement data of other forms to nil")
  func anyOctets() throws {
    var generator = Generator()
    var count = 0
    for length in 3...24 {
      for type: UInt8 in [0x00, 0x10, 0x20] {
        for _ in 0..<50 {
          var octets = (0..<length).map { _ in generator.next() }
          octets[0] = type
          // The version of telemetry, and the scheme of a URL.
          if type == 0x20 { octets[1] = 0 }
          if type == 0x10 { octets[2] &= 3 }
          guard let frame = EddystoneFrame(serviceData: Data(octets)) else { continue }
          count += 1
          #expect(EddystoneFrame(serviceData: try frame.serviceData()) == frame, "\(octets)")
        }
      }
    }
    // All UIDs of three lengths, all telemetry of one, and URLs.
    #expect(count > 200)
    #expect(EddystoneFrame(advertisementData: [:]) == nil)
    #expect(EddystoneFrame(advertisementData: [CBAdvertisementDataServiceDataKey: "text"]) == nil)
    let other = [CBUUID(string: "180F"): Data([0x10, 0x00, 0x03])]
    #expect(EddystoneFrame(advertisementData: [CBAdvertisementDataServiceDataKey: other]) == nil)
  }

  @Test("An app reads the URL of an Eddystone beacon of a world, until the beacon is turned off")
  func broadcaster() throws {
    let world = World(seed: 1)
    let frame = EddystoneFrame.url("https://www.example.com/menu", txPower: -18)
    var advertising = Advertising(try AdvertisingPayload(try frame.advertisingData()))
    advertising.kind = .broadcast
    let beacon = world.add(Broadcaster(advertising), named: "beacon", at: Position(x: 1))
    world.add(IBeacon(proximityUUID: UUID()), named: "other", at: Position(x: 2))
    let controller = FrameListController(world.makeDevice(named: "phone"), in: world)
    world.run(for: .seconds(1))
    #expect(controller.discoveries.count >= 5)
    #expect(controller.discoveries.allSatisfy { $0.frame == frame })
    let first = try #require(controller.discoveries.first)
    #expect(first.time < .milliseconds(500))
    beacon.setPower(false)
    let end = world.now
    world.run(for: .seconds(2))
    // A packet may be under way to the app when the beacon is turned off.
    #expect(controller.discoveries.allSatisfy { $0.time < end + .milliseconds(100) })
  }

  @Test("An Eddystone beacon that an app advertises tells its state in the packets that another app receives")
  func packets() throws {
    let world = World(seed: 1)
    let stage = AppStage(world)
    let local = LocalPeripheral(adapter: world.makeDevice(named: "beacon", at: Position(x: 1)))
    let central = Central(adapter: world.makeDevice(named: "phone"))
    let frame = EddystoneFrame.telemetry(
      EddystoneFrame.Telemetry(
        batteryVoltage: 2_950, temperature: 21.5, advertisingCount: 70_000, uptime: .seconds(3_600)))
    world.add(IBeacon(proximityUUID: UUID()), named: "other", at: Position(x: 2))
    var parameters = AdvertisingParameters(try frame.advertisingData())
    parameters.kind = .broadcast
    let advertisingTask = stage.start { [parameters] in
      try await local.waitUntilPoweredOn()
      try await local.advertise(parameters)
    }
    let frames = Box<[AdvertisingPacket.PDUType: Set<EddystoneFrame?>]>([:])
    let scan = stage.start {
      try await central.waitUntilPoweredOn()
      for try await packet in central.packets(isActive: false) {
        let frame = EddystoneFrame(packet)
        frames.change { _ = $0[packet.pduType, default: []].insert(frame) }
      }
    }
    stage.run(for: .seconds(1))
    scan.cancel()
    advertisingTask.cancel()
    let expected: [AdvertisingPacket.PDUType: Set<EddystoneFrame?>] = [.advNonconnInd: [frame, nil]]
    #expect(frames.value == expected)
  }
}
