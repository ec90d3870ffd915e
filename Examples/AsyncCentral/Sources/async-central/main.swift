import AsyncCentral
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras

// A world with a heart rate belt, 100 times as fast as real time. With a real controller, leave it out and write
// Central(adapter: "hci:0"), or Central() to use the adapter that COREBLUETOOTH_ADAPTER names.
let world = World(seed: 1, time: .real(speed: 100))
world.add(HeartRateSensor(name: "Strap", beatsPerMinute: 61), named: "strap")
let central = Central(adapter: world.makeDevice(named: "phone", at: Position(x: 2)))

try await central.waitUntilPoweredOn(within: .seconds(10))
try await central.withPeripheral(advertising: CBUUID(string: "180D"), within: .seconds(10)) { strap in
  print("connected to \(strap.name ?? "a device without a name")")

  let battery = try await strap.characteristic("2A19", of: "180F").read(within: .seconds(5))
  print("battery: \(battery[0]) %")

  var count = 0
  let measurement = try await strap.characteristic("2A37", of: "180D")
  for try await value in try await measurement.subscribe() {
    print("heart rate: \(value[1])")
    count += 1
    if count == 3 { break }
  }
}
print("disconnected")
