import BluetoothLab
import BluetoothLabTime
import CoreBluetooth
import CoreBluetoothExtras
import Gateway

// Two sensors. The strap is off from 3 s to 5 s.
let world = World(seed: 1)
let strap = world.add(HeartRateSensor(name: "Strap", beatsPerMinute: 61), named: "Strap", at: Position(x: 3))
strap.setPower(false, at: .seconds(3))
strap.setPower(true, at: .seconds(5))
world.add(
  Thermometer(name: "Thermometer", celsius: 36.6, interval: .seconds(2)), named: "Thermometer", at: Position(x: 5))
world.makeDefault(world.makeDevice(named: "gateway"))

// The gateway's tasks, pauses and dates follow the time of the world, which begins on 1 January 2001.
try await world.withAppTime {
  let task = Task {
    let gateway = Gateway(Central()) { FileHandle.standardOutput.write($0.line) }
    try await gateway.run()
  }
  await world.run(for: .seconds(8))
  task.cancel()
}
