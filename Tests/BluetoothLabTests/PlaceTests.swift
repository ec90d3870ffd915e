import BluetoothLab
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Places")
struct PlaceTests {
  /// Returns the greatest distance in whole metres at which −90 dBm of `power` remain.
  private func reach(_ power: Double, in environment: Environment) async -> Int {
    let world = World(seed: 1)
    world.setEnvironment(environment)
    let one = world.makeDevice(named: "one")
    let other = world.makeDevice(named: "other")
    var reach = 0
    for metres in 1...300 {
      other.move(to: Position(x: Double(metres)))
      await world.run(for: .milliseconds(1))
      if world.level(of: power, from: one, at: other) >= -90 { reach = metres }
    }
    return reach
  }

  @Test(
    "+10 dBm reach 251 m in free space, −20 dBm 15 m; 50 m in line of sight; 30 m in an office", .requirement("L168"))
  func environments() async {
    #expect(await reach(10, in: .free) == 251)
    #expect(await reach(-20, in: .free) == 15)
    #expect((49...51).contains(await reach(10, in: .lineOfSight)))
    #expect((29...31).contains(await reach(10, in: .office)))
  }

  @Test("A device between two others hears both, but they do not hear each other", .requirement("L002"))
  func neighbours() async {
    let world = World(seed: 1)
    // 0 dBm reach 100 m.
    for (name, place) in [("near", 0.0), ("far", 160)] {
      world.add(BatteryPack(), named: name, DeviceOptions(position: Position(x: place)))
    }
    func seen(from place: Double) async -> Set<UUID> {
      let app = PhoneApp(on: world.makeDevice(named: "phone at \(place)", at: Position(x: place)), .listen)
      await world.run(for: .seconds(5))
      return Set(app.sightings.map(\.peripheral))
    }
    let (near, middle, far) = (await seen(from: 1), await seen(from: 80), await seen(from: 159))
    #expect(near.count == 1 && middle.count == 2 && far.count == 1)
  }

  @Test("A loss set for two devices applies wherever they are, until it is removed")
  func givenLoss() async {
    let meeting = Encounter(BatteryPack())
    meeting.world.setLoss(150, between: meeting.accessory, and: meeting.phone)
    await meeting.world.run(for: .seconds(5))
    #expect(meeting.app.sightings.count == 0)
    meeting.world.setLoss(nil, between: meeting.phone, and: meeting.accessory)
    await meeting.world.run(for: .seconds(5))
    #expect(meeting.app.isReady)
  }

  @Test("A device moving along a path is out of range at the far end and in range again afterwards")
  func path() async {
    var accessory = BatteryPack()
    accessory.advertisingSchedule = [.every(.milliseconds(100))]
    let meeting = Encounter(accessory, plan: .listen)
    meeting.phone.move(along: [
      Waypoint(at: .seconds(10), Position(x: 2)), Waypoint(at: .seconds(20), Position(x: 2_000)),
      Waypoint(at: .seconds(40), Position(x: 2_000)), Waypoint(at: .seconds(50), Position(x: 2)),
    ])
    func sightings() async -> Int {
      let before = meeting.app.sightings.count
      await meeting.world.run(for: .seconds(10))
      return meeting.app.sightings.count - before
    }
    #expect(await sightings() > 50)
    await meeting.world.run(for: .seconds(15))
    #expect(await sightings() == 0)
    await meeting.world.run(for: .seconds(20))
    #expect(await sightings() > 50)
    let level = meeting.world.level(from: meeting.accessory, at: meeting.phone)
    #expect(abs(level + 47.5) < 0.1)
  }

  @Test(
    "A stronger transmitter is heard farther away than a weaker one", .requirement("L080", "L169"),
    arguments: [(-20.0, false), (20.0, true)])
  func power(_ power: Double, isHeard: Bool) async {
    let world = World(seed: 1)
    world.add(BatteryPack(), named: "battery", DeviceOptions(transmitPower: power))
    let app = PhoneApp(on: world.makeDevice(named: "phone", at: Position(x: 100)), .listen)
    await world.run(for: .seconds(3))
    #expect((app.sightings.count > 0) == isHeard)
  }

  @Test("The error, step and range of a chip's RSSI appear in the value that an app gets", .requirement("G018", "L020"))
  func rssi() async throws {
    func rssi(_ strength: DeviceOptions.SignalStrength) async -> Double? {
      let world = World(seed: 1)
      world.add(BatteryPack(), named: "battery")
      var options = DeviceOptions(position: Position(x: 2))
      options.signalStrength = strength
      let app = PhoneApp(on: world.makeDevice(named: "phone", options), .listen)
      await world.run(until: { app.sightings.count > 0 })
      return app.level
    }
    // −47.5 dBm.
    #expect(await rssi(DeviceOptions.SignalStrength()) == -48)
    #expect(await rssi(DeviceOptions.SignalStrength(offset: 4)) == -44)
    #expect(await rssi(DeviceOptions.SignalStrength(step: 5)) == -50)
    #expect(await rssi(DeviceOptions.SignalStrength(range: -100 ... -60)) == -60)
  }

  @Test(
    "Wi-Fi on channel 6 disturbs connections, a jammer on all channels ends them", .requirement("A068", "L082", "L210"))
  func interference() async throws {
    let meeting = Encounter(HeartRateSensor())
    #expect(await meeting.prepare())
    meeting.app.subscribe("2A37")
    let wiFi = Interference(.wiFi(channel: 6, dutyCycle: 0.9), at: Position(x: 1, y: 1))
    meeting.world.setInterference([wiFi])
    await meeting.world.run(for: .seconds(10))
    let link = try #require(meeting.phone.statistics.links.first)
    #expect(link.isConnected)
    #expect(link.receiveTimeouts + link.crcErrors + link.retransmissions > 3)
    meeting.world.setInterference([Interference(.jammer(channels: Set(0..<40)), at: Position(x: 1))])
    await meeting.world.run(for: .seconds(5))
    #expect(meeting.app.has(.disconnected))
    let error = try #require(meeting.app.disconnection as? CBError)
    #expect(error.code == .connectionTimeout && error.userInfo[CBErrorHCIErrorCodeKey] as? Int == 0x08)
    meeting.world.setInterference([])
  }

  @Test("Interference with a duty cycle of zero disturbs no link")
  func silentInterference() async throws {
    let meeting = Encounter(HeartRateSensor())
    meeting.world.setInterference([
      Interference(.wiFi(channel: 6, dutyCycle: 0), at: Position(x: 1)),
      Interference(.microwaveOven(dutyCycle: 0), at: Position(x: 1)),
      Interference(.classicBluetooth(dutyCycle: 0), at: Position(x: 1)),
      Interference(.jammer(channels: []), at: Position(x: 1)),
    ])
    #expect(await meeting.prepare())
    await meeting.world.run(for: .seconds(60))
    let link = try #require(meeting.phone.statistics.links.first)
    #expect(link.receiveTimeouts + link.crcErrors + link.retransmissions == 0)
  }
}
