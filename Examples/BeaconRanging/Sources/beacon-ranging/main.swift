import BeaconRanging
import BluetoothLab
import CoreBluetooth

// A museum with two exhibits, 20 m apart. At 1 m a beacon is received with −57.5 dBm.
let museum = UUID()
let world = World(seed: 1)
world.setEnvironment(.lineOfSight)
for (minor, x) in [(UInt16(1), 0.0), (2, 20)] {
  world.add(
    IBeacon(proximityUUID: museum, minor: minor, measuredPower: -58), named: "exhibit \(minor)", at: Position(x: x))
}

// A visitor walks from one to the other.
let visitor = world.makeDevice(named: "visitor", at: Position(x: 1))
visitor.move(along: [Waypoint(at: .seconds(5), Position(x: 1)), Waypoint(at: .seconds(35), Position(x: 19))])
let ranger = BeaconRanger(museum)
visitor.run { ranger.start() }

for second in stride(from: 5, through: 40, by: 5) {
  world.run(for: .seconds(5))
  let distances = ranger.estimates.sorted { $0.key.minor < $1.key.minor }.map { beacon, estimate in
    "exhibit \(beacon.minor) at \(String(format: "%.1f", estimate.metres(to: beacon) ?? 0)) m"
  }
  print("\(second) s: \(distances.joined(separator: ", ")); nearest: \(ranger.nearest?.minor ?? 0)")
}
