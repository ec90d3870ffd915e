import BluetoothLab
import BluetoothLabTime
import CoreBluetooth

/// An app whose callbacks start tasks: it connects again 5 s after a disconnection.
final class App: NSObject, CBCentralManagerDelegate {
  private lazy var manager = CBCentralManager(delegate: self, queue: nil)
  private var strap: CBPeripheral?
  var isConnected: Bool { strap?.state == .connected }

  func start() { _ = manager }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    strap = peripheral
    central.stopScan()
    Task { central.connect(peripheral) }
  }

  func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
    Task {
      // 5 s of the world's time, and no real time.
      try await Task.sleep(nanoseconds: 5_000_000_000)
      central.connect(peripheral)
    }
  }
}

let world = World(seed: 1)
let strap = world.add(HeartRateSensor(), named: "strap")
world.makeDefault(world.makeDevice(named: "phone", at: Position(x: 2)))
try world.withAppTime {
  let app = App()
  app.start()
  try world.expect("the app connects") { app.isConnected }
  strap.setPower(false)
  try world.expect("the strap is lost") { !app.isConnected }
  print("the strap is lost")
  let lost = world.now
  strap.setPower(true)
  try world.expect("the app connects again") { app.isConnected }
  print("\((world.now - lost).components.seconds) s later: connected again")
}
