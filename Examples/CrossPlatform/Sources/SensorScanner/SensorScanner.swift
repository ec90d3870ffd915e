import CoreBluetooth

/// Finds the devices that advertise a service. All calls and callbacks are on the main queue.
public final class SensorScanner: NSObject, CBCentralManagerDelegate {
  /// The names of the devices, in the order in which they were found.
  public private(set) var names: [String] = []
  private let service: CBUUID
  private var manager: CBCentralManager?
  private var found: Set<UUID> = []

  /// Creates a scanner that does nothing until `start`.
  public init(service: CBUUID) {
    self.service = service
  }

  /// Creates the manager; the scan begins when Bluetooth is on.
  public func start() {
    manager = CBCentralManager(delegate: self, queue: nil)
  }

  public func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [service]) }
  }

  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard found.insert(peripheral.identifier).inserted else { return }
    let advertisedName = advertisementData[CBAdvertisementDataLocalNameKey] as? String
    names.append(advertisedName ?? peripheral.name ?? "a device without a name")
  }
}
