import CoreBluetooth

/// Finds a peripheral of an earlier run: by its saved identifier, among the links of other apps, or by a scan.
///
/// Use it on the manager's queue, as the delegate of the manager, once Bluetooth is on.
final class SavedPeripheral: NSObject, CBCentralManagerDelegate {
  /// The way by which the peripheral was found.
  enum Way { case identifier, connection, scan }

  private let service: CBUUID
  private let onFound: (CBPeripheral, Way) -> Void

  /// Creates a search.
  ///
  /// - Parameters:
  ///   - service: a service of the peripheral, for the case that the identifier is unknown.
  ///   - onFound: called once. The app saves the identifier for its next run, and connects.
  init(service: CBUUID, onFound: @escaping (CBPeripheral, Way) -> Void) {
    (self.service, self.onFound) = (service, onFound)
  }

  /// Begins the search.
  ///
  /// - Parameter identifier: the saved identifier; nil: none.
  func find(_ identifier: UUID?, with central: CBCentralManager) {
    if let identifier, let known = central.retrievePeripherals(withIdentifiers: [identifier]).first {
      onFound(known, .identifier)
    } else if let linked = central.retrieveConnectedPeripherals(withServices: [service]).first {
      onFound(linked, .connection)
    } else {
      central.scanForPeripherals(withServices: [service])
    }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {}

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    guard central.isScanning else { return }
    central.stopScan()
    onFound(peripheral, .scan)
  }
}
