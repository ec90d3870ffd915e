import BluetoothLab
import CoreBluetooth
import ScaleApp
import Testing

/// A launch of the app that ends between the connection and the discovery.
private final class UnfinishedLaunch: NSObject, CBCentralManagerDelegate {
  private var manager: CBCentralManager!
  private(set) var scale: CBPeripheral?

  override init() {
    super.init()
    manager = CBCentralManager(
      delegate: self, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "scale"])
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [ScaleApp.service]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    central.stopScan()
    scale = peripheral
    central.connect(peripheral)
  }
}

@Test("The app subscribes to a restored scale if its former launch has ended before it did so")
func unfinished() throws {
  let world = World(seed: 1)
  var options = DeviceOptions()
  options.policy = .ios
  let phone = world.makeDevice(named: "phone", options)
  let manifest = AppManifest(backgroundModes: [.central], usageDescription: "to show your weight")
  var launch = 0
  let app = phone.app(named: "com.example.scale", manifest: manifest) { _ -> NSObject in
    launch += 1
    return launch == 1 ? UnfinishedLaunch() : ScaleApp()
  }
  let scale = TestPeripheral(on: world.makeDevice(named: "scale", at: Position(x: 2)))
  let weight = CBMutableCharacteristic(type: ScaleApp.weight, properties: .notify, value: nil, permissions: [])
  try scale.publish("181D", [weight], name: "Scale")
  app.launch()
  try world.expect("the app connects") { (app.root as? UnfinishedLaunch)?.scale?.state == .connected }
  app.terminate()
  world.run(for: .seconds(1))
  #expect(weight.subscribedCentrals?.isEmpty == true)

  app.launch()
  try world.expect("the app subscribes") { weight.subscribedCentrals?.count == 1 }
  #expect((app.root as? ScaleApp)?.isRestored == true)
  scale.update([0, 0x20, 0x1C], for: weight)
  try world.expect("the app gets the value") { (app.root as? ScaleApp)?.weights == [Data([0, 0x20, 0x1C])] }
}
