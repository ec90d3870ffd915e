import CoreBluetooth

/// A peripheral with the level and the advertisement of its discovery, which `CBPeripheral` does not keep.
struct FoundPeripheral {
  /// The peripheral. A reference to it is necessary for a connection.
  let peripheral: CBPeripheral
  /// The latest level in dBm.
  var rssi: Int
  /// The latest value of each field.
  var advertisementData: [String: Any]

  /// The name in the advertisement or, without one, the name that the system knows.
  var name: String? { advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name }
}

/// The peripherals that a scan has found. Use it on the manager's queue, as the delegate of the manager.
final class FoundPeripherals: NSObject, CBCentralManagerDelegate {
  private(set) var all: [UUID: FoundPeripheral] = [:]

  /// The peripherals, the one with the highest level first.
  var byLevel: [FoundPeripheral] { all.values.sorted { $0.rssi > $1.rssi } }

  /// Starts a scan that reports each advertisement, so that the levels are current.
  func scan(with central: CBCentralManager) {
    central.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { scan(with: central) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    var found =
      all[peripheral.identifier] ?? FoundPeripheral(peripheral: peripheral, rssi: 127, advertisementData: [:])
    // 127 stands for a level that the radio could not measure.
    if rssi.intValue != 127 { found.rssi = rssi.intValue }
    found.advertisementData.merge(advertisementData) { $1 }
    all[peripheral.identifier] = found
  }
}
