import CoreBluetooth

/// A door lock. Its command can be written on encrypted links only, so that a phone must pair with the lock first.
///
/// Use the lock on the main queue.
public final class Lock: NSObject {
  /// The UUID of the service.
  public static let service = CBUUID(string: "10CC0001-3F5D-4C55-8C3A-0A6A4D6B8E11")
  /// The UUID of the characteristic with the command: one octet.
  public static let command = CBUUID(string: "10CC0002-3F5D-4C55-8C3A-0A6A4D6B8E11")

  /// The values of the command.
  public enum Command: UInt8, Sendable { case lock, unlock }

  /// True while the door can be opened.
  public private(set) var isUnlocked = false

  private lazy var manager = CBPeripheralManager(delegate: self, queue: .main)

  /// Publishes the service and advertises it, as soon as Bluetooth is on.
  public func start() { _ = manager }
}

extension Lock: CBPeripheralManagerDelegate {
  public func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return }
    let service = CBMutableService(type: Self.service, primary: true)
    service.characteristics = [
      CBMutableCharacteristic(
        // The system refuses a write without encryption, and pairs before it repeats the write.
        type: Self.command, properties: .write, value: nil, permissions: .writeEncryptionRequired)
    ]
    peripheral.add(service)
    peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
  }

  public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    guard requests.count == 1, let octet = requests[0].value?.first, let command = Command(rawValue: octet) else {
      return peripheral.respond(to: requests[0], withResult: .unlikelyError)
    }
    isUnlocked = command == .unlock
    peripheral.respond(to: requests[0], withResult: .success)
  }
}
