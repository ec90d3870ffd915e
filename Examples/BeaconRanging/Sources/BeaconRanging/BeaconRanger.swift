import CoreBluetooth

/// Estimates the distances to all beacons of a group. Use it on the main queue.
public final class BeaconRanger: NSObject {
  /// The distances, by beacon.
  public private(set) var estimates: [Beacon: DistanceEstimate] = [:]

  private let proximityUUID: UUID
  private lazy var central = CBCentralManager(delegate: self, queue: .main)

  /// Creates a ranger for the beacons with this UUID.
  public init(_ proximityUUID: UUID) { self.proximityUUID = proximityUUID }

  /// Begins as soon as Bluetooth is on.
  public func start() { _ = central }

  /// The beacon with the shortest distance.
  public var nearest: Beacon? {
    estimates.min { ($0.value.metres(to: $0.key) ?? .infinity) < ($1.value.metres(to: $1.key) ?? .infinity) }?.key
  }
}

extension BeaconRanger: CBCentralManagerDelegate {
  public func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return }
    // Every advertisement counts, not only the first one of each beacon.
    central.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
  }

  public func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    guard
      let data = advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data,
      let beacon = Beacon(manufacturerData: data), beacon.proximityUUID == proximityUUID
    else { return }
    estimates[beacon, default: DistanceEstimate()].add(rssi: rssi.intValue)
  }
}
