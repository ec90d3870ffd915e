import CoreBluetooth

/// Discovers the services and characteristics that an app needs, and no others.
///
/// The discovery of everything (`nil`) takes several requests for each service of the peer. Use the finder on the
/// manager's queue, as the delegate of the peripheral.
final class AttributeFinder: NSObject, CBPeripheralDelegate {
  private let services: [CBUUID]?
  private let characteristics: [CBUUID]?
  private var openServices = 0
  private var found: [CBCharacteristic] = []
  private var completion: (Result<[CBCharacteristic], any Error>) -> Void = { _ in }

  /// Creates a finder.
  ///
  /// - Parameters:
  ///   - services: the services to discover; nil: all.
  ///   - characteristics: the characteristics to discover in each of them; nil: all.
  init(services: [CBUUID]?, characteristics: [CBUUID]?) {
    (self.services, self.characteristics) = (services, characteristics)
  }

  /// Begins the discovery. Calls `completion` once, with the characteristics.
  func start(
    with peripheral: CBPeripheral, completion: @escaping (Result<[CBCharacteristic], any Error>) -> Void
  ) {
    self.completion = completion
    peripheral.discoverServices(services)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    if let error { return completion(.failure(error)) }
    let wanted = (peripheral.services ?? []).filter { services?.contains($0.uuid) ?? true }
    openServices = wanted.count
    if wanted.isEmpty { return completion(.success([])) }
    for service in wanted { peripheral.discoverCharacteristics(characteristics, for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    guard openServices > 0 else { return }
    if let error {
      openServices = 0
      return completion(.failure(error))
    }
    found += (service.characteristics ?? []).filter { characteristics?.contains($0.uuid) ?? true }
    openServices -= 1
    if openServices == 0 { completion(.success(found)) }
  }
}
