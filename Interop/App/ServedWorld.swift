import BluetoothLab
import CoreBluetooth
import CoreBluetoothWorld

/// A test that stops and shows its world: a strap that is on from 3 s to 20 s, and an app that connects to it.
final class ServedWorld: NSObject, CBCentralManagerDelegate {
  private let world = World(seed: 1)
  private var manager: CBCentralManager?
  private var strap: CBPeripheral?

  /// Prints the address of the page, and the time of the world when a viewer lets the program go on.
  func show() throws {
    let sensor = world.add(HeartRateSensor(), named: "strap")
    // An accessory is turned on at the time at which it is added.
    sensor.setPower(false, at: .zero)
    sensor.setPower(true, at: .seconds(3))
    sensor.setPower(false, at: .seconds(20))
    let phone = world.makeDevice(named: "phone", at: Position(x: 2))
    manager = CBCentralManager(delegate: self, queue: nil, options: [CBManagerOptionAdapterKey: phone])
    let page = try world.serve()
    say("page at \(page.url)")
    page.run()
    page.close()
    say("went on at \(world.now / .seconds(1)) s")
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    strap = peripheral
    central.stopScan()
    central.connect(peripheral)
  }
}
