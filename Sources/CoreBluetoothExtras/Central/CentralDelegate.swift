import CoreBluetooth

/// Passes the callbacks of a `CBCentralManager` to its central.
final class CentralDelegate: NSObject, CBCentralManagerDelegate {
  private weak let central: Central?

  init(_ central: Central) {
    self.central = central
    super.init()
  }

  func centralManagerDidUpdateState(_ manager: CBCentralManager) { central?.stateChanged(to: manager.state) }

  func centralManager(
    _ manager: CBCentralManager, didDiscover peer: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    central?.discovered(peer, advertisementData, rssi: rssi.intValue)
  }

  func centralManager(_ manager: CBCentralManager, didConnect peer: CBPeripheral) {
    guard let central else { return }
    if let peripheral = central.known(peer) {
      peripheral.connected()
    } else {
      manager.cancelPeripheralConnection(peer)
    }
  }

  func centralManager(_ manager: CBCentralManager, didFailToConnect peer: CBPeripheral, error: (any Error)?) {
    central?.known(peer)?.ended(because: error ?? CBError(.connectionFailed))
  }

  func centralManager(_ manager: CBCentralManager, didDisconnectPeripheral peer: CBPeripheral, error: (any Error)?) {
    central?.known(peer)?.ended(because: error)
  }
}
