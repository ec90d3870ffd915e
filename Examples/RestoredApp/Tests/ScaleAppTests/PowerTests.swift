import BluetoothLab
import CoreBluetooth
import ScaleApp
import Testing

enum Interruption: CaseIterable { case powerOff, reset, lostLink }

@Test(
  "The app gets weights again after Bluetooth was off, after a reset of the controller, and after a lost link",
  arguments: Interruption.allCases)
func interruption(_ interruption: Interruption) throws {
  let world = World(seed: 1)
  let phone = world.makeDevice(named: "phone")
  let app = phone.run { ScaleApp() }
  let scale = TestPeripheral(on: world.makeDevice(named: "scale", at: Position(x: 2)))
  let weight = CBMutableCharacteristic(type: ScaleApp.weight, properties: .notify, value: nil, permissions: [])
  try scale.publish("181D", [weight], name: "Scale")
  try world.expect("the app subscribes") { weight.subscribedCentrals?.count == 1 }

  switch interruption {
  case .powerOff: phone.setPower(false)
  case .reset: phone.add([.device(.resetController, when: .at(world.now))])
  case .lostLink: scale.device.add([.device(.mute(for: .seconds(4)), when: .at(world.now))])
  }
  try world.expect("the link ends") { weight.subscribedCentrals?.isEmpty == true }
  phone.setPower(true)
  try world.expect("the app subscribes again") { weight.subscribedCentrals?.count == 1 }
  scale.update([0, 0x20, 0x1C], for: weight)
  try world.expect("the app gets the value") { app.weights == [Data([0, 0x20, 0x1C])] }
}
