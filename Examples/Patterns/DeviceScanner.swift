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
  private var isStopped = false
  /// The calls that wait for a device, by their numbers.
  private var waiting: [Int: (name: String, continuation: CheckedContinuation<Sighting, any Error>)] = [:]
  private var callCount = 0

  /// The latest sighting of each device.
  private(set) var sightings: [UUID: Sighting] = [:]
  /// The number of calls that wait for a device.
  var waitingCount: Int { waiting.count }

  /// Creates a scanner whose callbacks run on `queue`.
  init(queue: DispatchQueue = DispatchQueue(label: "DeviceScanner")) { self.queue = queue }

  /// Creates the manager, which scans as soon as Bluetooth is on.
  func start() {
    let delegate = Delegate { [weak self] sighting in self?.found(sighting) }
    self.delegate = delegate
    isStopped = false
    central = CBCentralManager(delegate: delegate, queue: queue)
  }

  /// Ends the scan, and the calls that wait for a device.
  func stop() {
    central?.stopScan()
    central = nil
    isStopped = true
    for number in waiting.keys { giveUp(number) }
  }

  /// Returns the device with a name, as soon as it has been discovered.
  ///
  /// - Throws: `CancellationError` if the task is cancelled, or the scan is stopped, before the device is discovered.
  func device(named name: String) async throws -> Sighting {
    if let known = sightings.values.first(where: { $0.name == name }) { return known }
    callCount += 1
    let number = callCount
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiting[number] = (name: name, continuation: continuation)
        // A cancellation before this moment has not found the call.
        if isStopped || Task.isCancelled { giveUp(number) }
      }
    } onCancel: {
      Task { await giveUp(number) }
    }
  }

  private func giveUp(_ number: Int) {
    waiting.removeValue(forKey: number)?.continuation.resume(throwing: CancellationError())
  }

  private func add(_ sighting: Sighting) {
    sightings[sighting.identifier] = sighting
    guard let name = sighting.name else { return }
    for (number, call) in waiting where call.name == name {
      waiting[number] = nil
      call.continuation.resume(returning: sighting)
    }
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
