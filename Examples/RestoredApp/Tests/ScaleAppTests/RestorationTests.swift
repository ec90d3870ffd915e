import BluetoothLab
import CoreBluetooth
import ScaleApp
import Testing

@Test("A weight launches the terminated app, which goes on with its subscription")
func restoration() throws {
  let world = World(seed: 1)
  var options = DeviceOptions()
  options.policy = .ios
  let phone = world.makeDevice(named: "phone", options)
  let manifest = AppManifest(backgroundModes: [.central], usageDescription: "to show your weight")
  let app = phone.app(named: "com.example.scale", manifest: manifest) { _ in ScaleApp() }

  let scale = TestPeripheral(on: world.makeDevice(named: "scale", at: Position(x: 2)))
  let weight = CBMutableCharacteristic(type: ScaleApp.weight, properties: .notify, value: nil, permissions: [])
  try scale.publish("181D", [weight], name: "Scale")
  app.launch()
  try world.expect("the app subscribes") { weight.subscribedCentrals?.count == 1 }

  world.run(for: .seconds(1))

  // The system needs memory. The connection and the subscription stay.
  app.terminate()
  world.run(for: .seconds(60))
  #expect(app.root == nil)

  scale.manager.updateValue(Data([0, 0x20, 0x1C]), for: weight, onSubscribedCentrals: nil)
  try world.expect("the value launches the app") { app.root?.weights.count == 1 }
  #expect(app.launches.last?.centralManagerIdentifiers == ["scale"])
  #expect(app.root?.isRestored == true)
}
