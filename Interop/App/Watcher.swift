import CoreBluetooth

/// Connects to a server of the suite's service and stays connected: it prints the server's services, their changes and
/// lost connections, and reconnects each time.
final class Watcher: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private var manager: CBCentralManager!
  private var server: CBPeripheral?

  override init() {
    super.init()
    manager = CBCentralManager(delegate: self, queue: nil)
  }

  // MARK: Connecting

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    say("state \(central.state.rawValue)")
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [InteropService.uuid]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard server == nil else { return }
    server = peripheral
    peripheral.delegate = self
    central.stopScan()
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    say("connected")
    peripheral.discoverServices(nil)
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
    say("failed \(code(error))")
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
    say("disconnected \(code(error))")
    central.connect(peripheral)
  }

  // MARK: Services

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    if let error { return say("failed \(code(error))") }
    for service in peripheral.services ?? [] { say("service \(service.uuid)") }
    say("discovered")
  }

  func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
    say("modified \(invalidatedServices.map(\.uuid.uuidString).joined(separator: " "))")
    peripheral.discoverServices(nil)
  }

  private func code(_ error: Error?) -> Int { (error as NSError?)?.code ?? 0 }
}
