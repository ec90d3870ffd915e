import BeaconRanging
import BluetoothLab
import CoreBluetooth
import Testing

@MainActor struct BeaconTests {
  @Test("Only the manufacturer data of an iBeacon is read as a beacon")
  func decoding() throws {
    var data = Data([0x4C, 0x00, 0x02, 0x15] + Array(1...16) + [0x01, 0x02, 0x03, 0x04, 0xC5])
    let beacon = try #require(Beacon(manufacturerData: data))
    #expect(beacon.proximityUUID.uuidString == "01020304-0506-0708-090A-0B0C0D0E0F10")
    #expect((beacon.major, beacon.minor) == (0x0102, 0x0304))
    #expect(beacon.measuredPower == -59)
    #expect(Beacon(manufacturerData: data.dropLast()) == nil)
    data[2] = 0x10
    #expect(Beacon(manufacturerData: data) == nil)
  }

  @Test("The distance is right within a tenth", arguments: [1.0, 3, 10])
  func distance(metres: Double) throws {
    let (world, group) = (World(seed: 1), UUID())
    world.setEnvironment(.lineOfSight)
    world.add(IBeacon(proximityUUID: group, measuredPower: -58), named: "beacon")
    world.add(IBeacon(proximityUUID: UUID()), named: "of another group")
    let ranger = BeaconRanger(group)
    world.makeDevice(named: "phone", at: Position(x: metres)).run { ranger.start() }
    world.run(for: .seconds(5))
    #expect(ranger.estimates.count == 1)
    let (beacon, estimate) = try #require(ranger.estimates.first)
    let estimated = try #require(estimate.metres(to: beacon))
    #expect(abs(estimated - metres) < metres / 10)
    #expect(estimate.proximity(to: beacon) == (metres < 4 ? .near : .far))
  }
}
