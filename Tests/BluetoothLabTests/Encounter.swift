import BluetoothLab
import CoreBluetooth
import TestSupport

/// A phone two metres from an accessory.
final class Encounter<A: Accessory> {
  let world: World
  let accessory: AccessoryDevice<A>
  let phone: Device
  let app: PhoneApp

  init(
    _ accessory: A, seed: UInt64 = 1, _ options: DeviceOptions = DeviceOptions(), capture: Capture? = nil,
    plan: PhoneApp.Plan = .explore
  ) {
    world = World(seed: seed, capture: capture)
    self.accessory = world.add(accessory, named: "accessory", options)
    phone = world.makeDevice(named: "phone", at: Position(x: 2))
    app = PhoneApp(on: phone, plan)
  }

  /// Runs the world until everything is discovered.
  func prepare() async -> Bool { await world.run(until: { app.isReady }, limit: .seconds(20)) }
}
