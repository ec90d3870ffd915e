import AsyncTestSupport
import BeaconLocation
import BluetoothLab
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Requirements
import Testing

@Suite("Distance from transmit power and RSSI") struct DistanceTests {
  @Test(
    "The estimate follows the path loss, and the interval grows with the shadowing and shrinks with the exponent",
    .requirement("L115"))
  func model() throws {
    let model = DistanceModel(exponent: 2, shadowing: 5)
    let near = try #require(model.estimate(level: -59, levelAtOneMetre: -59))
    #expect(near.metres == 1)
    // 1.96 · 5 dB at 20 dB per decade are a factor of 10^0.49.
    #expect(abs(near.interval.upperBound - 3.09) < 0.01 && abs(near.interval.lowerBound - 1 / 3.09) < 0.01)
    let far = try #require(model.estimate(level: -79, levelAtOneMetre: -59))
    #expect(abs(far.metres - 10) < 1e-9 && far.proximity == .far && near.proximity == .near)
    let steep = try #require(DistanceModel(exponent: 4, shadowing: 5).estimate(level: -59, levelAtOneMetre: -59))
    #expect(steep.interval.upperBound < near.interval.upperBound)
    let exact = try #require(DistanceModel(exponent: 2, shadowing: 0).estimate(level: -53, levelAtOneMetre: -59))
    #expect(exact.interval == exact.metres...exact.metres && abs(exact.metres - 0.5) < 0.002)
    // Usual products with 0 dBm have −59 dBm at one metre, with a deviation of 8 dB besides the shadowing.
    let power = try #require(model.estimate(level: -79, transmitPower: 0))
    #expect(abs(power.metres - 10) < 1e-9)
    // 1.96 · √(5² + 8²) dB at 20 dB per decade.
    #expect(abs(power.interval.upperBound - 84.05) < 0.01 && abs(power.interval.lowerBound - 1.190) < 0.001)
    let known = DistanceModel(lossAtOneMetre: 40, lossDeviation: 0, exponent: 2, shadowing: 5)
    #expect(known.estimate(level: -60, transmitPower: 0) == known.estimate(level: -60, levelAtOneMetre: -40))
    #expect("\(near)" == "1.0 m (0.3 m to 3.1 m)")
  }

  @Test(
    "The interval of a device that tells its power contains the true distance in each environment of the lab",
    .requirement("L115"),
    arguments: [Environment.free, .lineOfSight, .office])
  func environments(environment: Environment) throws {
    let world = World(seed: 1)
    world.setEnvironment(environment)
    let phone = world.makeDevice(named: "phone")
    let distances = [0.5, 1, 3, 10, 30]
    let tags = distances.map { world.add(BatteryPack(), named: "\($0) m", at: Position(x: $0)) }
    world.run(for: .milliseconds(1))
    for (tag, distance) in zip(tags, distances) {
      let level = world.level(of: 4, from: tag, at: phone)
      let estimate = try #require(DistanceModel().estimate(level: level, transmitPower: 4))
      #expect(estimate.interval.contains(distance), "\(distance) m: \(estimate)")
      let measured = DistanceModel(lossAtOneMetre: environment.reference + environment.margin, lossDeviation: 0)
      let exact = try #require(measured.estimate(level: level, transmitPower: 4))
      #expect(abs(exact.metres / distance - 1) < 0.01, "\(distance) m: \(exact)")
    }
  }

  @Test("Values that are not finite have no estimate, and parameters out of range are replaced")
  func invalid() throws {
    let model = DistanceModel()
    #expect(model.estimate(level: .nan, levelAtOneMetre: -59) == nil)
    #expect(model.estimate(level: -.infinity, levelAtOneMetre: -59) == nil)
    #expect(DistanceModel(exponent: 0, shadowing: -3).estimate(level: -200, levelAtOneMetre: 127) == nil)
    let estimate = try #require(DistanceModel(exponent: 2, shadowing: -3).estimate(level: -59, levelAtOneMetre: -59))
    #expect(estimate.interval == 1...1)
  }

  @Test(
    "In a world with shadowing, the interval contains the true distance for 95 of 100 pairs of devices",
    .requirement("L115"))
  func coverage() throws {
    let world = World(seed: 11)
    world.setEnvironment(Environment(reference: 40, exponent: 2.5, shadowing: 6))
    let phone = world.makeDevice(named: "phone")
    let distances = (0..<400).map { 1 + Double($0 % 40) }
    let beacons = distances.enumerated().map { number, distance in
      world.add(IBeacon(proximityUUID: UUID()), named: "beacon \(number)", at: Position(x: distance))
    }
    world.run(for: .milliseconds(1))
    let model = DistanceModel(exponent: 2.5, shadowing: 6)
    let estimates = try zip(beacons, distances).map { beacon, distance in
      let level = world.level(of: 0, from: beacon, at: phone)
      let estimate = try #require(model.estimate(level: level, levelAtOneMetre: -40))
      return (contains: estimate.interval.contains(distance), ratio: estimate.metres / distance)
    }
    let share = Double(estimates.filter(\.contains).count) / Double(estimates.count)
    #expect((0.92...0.98).contains(share), "\(share)")
    // Half of the estimates are too large.
    let large = Double(estimates.filter { $0.ratio > 1 }.count) / Double(estimates.count)
    #expect((0.42...0.58).contains(large), "\(large)")
  }

  @Test(
    "Packets of beacons and of devices that tell their power have a distance, others have none", .requirement("L115"))
  func packets() throws {
    let world = World(seed: 1)
    let stage = AppStage(world)
    let central = Central(adapter: world.makeDevice(named: "phone"))
    func add(_ name: String, _ structures: [ADStructure]) {
      var advertising = Advertising(AdvertisingPayload(fitting: structures))
      advertising.kind = .broadcast
      world.add(Broadcaster(advertising), named: name, at: Position(x: 10))
    }
    // At 10 m the level is −65 dBm; at one metre it is −40 dBm, and Eddystone takes it for −41 dBm.
    let region = CLBeaconRegion(uuid: UUID(), major: 1, identifier: "region")
    add("iBeacon", region.advertisingData(measuredPower: -40))
    add("power", [.flags(), .transmitPower(0), .name("p")])
    let eddystone: [UInt8] = [0x00, 0] + Array(repeating: 1, count: 16) + [0, 0]
    add("eddystone", [.flags(), .services([0xFEAA]), .serviceData(of: 0xFEAA, eddystone)])
    add("nothing", [.flags(), .name("n")])
    let found = Box<[DeviceAddress: DistanceEstimate?]>([:])
    let scan = stage.start {
      try await central.waitUntilPoweredOn()
      for try await packet in central.packets(isActive: false) {
        found.change { $0[packet.address] = .some(packet.distance(DistanceModel(lossAtOneMetre: 40))) }
      }
    }
    stage.run(for: .seconds(2))
    scan.cancel()
    #expect(found.value.count == 4)
    let metres = found.value.values.compactMap { $0?.metres }
    #expect(metres.count == 3)
    for value in metres { #expect((9...11).contains(value), "\(value) m") }
  }
}
