import CoreBluetooth

/// A scan whose results an actor keeps. The delegate is nonisolated: its methods run on the manager's queue, and hand
/// only values to the actor.
///
/// On Apple's systems the actor itself can be the delegate if it inherits from `NSObject`. Swift on Linux does not link
/// such an actor, so the delegate is a separate object, which works on both.
actor DeviceScanner {
  /// A discovered device.
  struct Sighting: Hashable, Sendable {
    /// `CBPeripheral.identifier`.
    var identifier: UUID
    /// The name in the advertisement.
    var name: String?
    /// The level in dBm.
    var rssi: Int
  }

  private let queue: DispatchQueue
  private var central: CBCentralManager?
  private var delegate: Delegate?
  private var waiting: [String: [CheckedContinuation<Sighting, Never>]] = [:]

  /// The latest sighting of each device.
  private(set) var sightings: [UUID: Sighting] = [:]

  /// Creates a scanner whose callbacks run on `queue`.
  init(queue: DispatchQueue = DispatchQueue(label: "DeviceScanner")) { self.queue = queue }

  /// Creates the manager, which scans as soon as Bluetooth is on.
  func start() {
    let delegate = Delegate { [weak self] sighting in self?.found(sighting) }
    self.delegate = delegate
    central = CBCentralManager(delegate: delegate, queue: queue)
  }

  /// Ends the scan.
  func stop() {
    central?.stopScan()
    central = nil
  }

  /// Returns the device with a name, as soon as it has been discovered.
  func device(named name: String) async -> Sighting {
    if let known = sightings.values.first(where: { $0.name == name }) { return known }
    return await withCheckedContinuation { waiting[name, default: []].append($0) }
  }

  private func add(_ sighting: Sighting) {
    sightings[sighting.identifier] = sighting
    guard let name = sighting.name else { return }
    for continuation in waiting.removeValue(forKey: name) ?? [] { continuation.resume(returning: sighting) }
  }

  /// Takes a value on the manager's queue.
  private nonisolated func found(_ sighting: Sighting) { Task { await add(sighting) } }
}

/// The delegate of a scanner's manager.
private final class Delegate: NSObject, CBCentralManagerDelegate {
  private let onSighting: @Sendable (DeviceScanner.Sighting) -> Void

  init(_ onSighting: @escaping @Sendable (DeviceScanner.Sighting) -> Void) { self.onSighting = onSighting }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    onSighting(
      DeviceScanner.Sighting(
        identifier: peripheral.identifier, name: advertisementData[CBAdvertisementDataLocalNameKey] as? String,
        rssi: rssi.intValue))
  }
}
