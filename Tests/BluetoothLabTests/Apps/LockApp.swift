import BluetoothLab
import CoreBluetooth

/// An app that publishes one service with a dynamic value, and records its callbacks.
final class LockApp: NSObject, CBPeripheralManagerDelegate {
  static let service = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0D001")
  static let value = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0D002")

  private(set) var manager: CBPeripheralManager!
  private(set) var events: [String] = []
  private(set) var restored: [String: Any]?
  private(set) var characteristic: CBMutableCharacteristic?
  /// False if the app leaves reads unanswered.
  var answers = true
  private(set) var errors: [any Error] = []
  private let name: String

  init(name: String = "Lock", identifier: String? = "lock") {
    self.name = name
    super.init()
    let options = identifier.map { [CBPeripheralManagerOptionRestoreIdentifierKey: $0] }
    manager = CBPeripheralManager(delegate: self, queue: nil, options: options)
  }

  func count(of event: String) -> Int { events.count { $0 == event } }

  private func note(_ event: String, _ error: (any Error)? = nil) {
    events.append(error == nil ? event : event + " failed")
    if let error { errors.append(error) }
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
    note("restored")
    restored = dict
    let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService]
    characteristic = services?.first?.characteristics?.first as? CBMutableCharacteristic
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    note("state \(peripheral.state)")
    guard peripheral.state == .poweredOn, restored == nil else { return }
    let value = CBMutableCharacteristic(
      type: Self.value, properties: [.read, .write, .notify], value: nil, permissions: [.readable, .writeable])
    let service = CBMutableService(type: Self.service, primary: true)
    service.characteristics = [value]
    characteristic = value
    peripheral.add(service)
    peripheral.startAdvertising([
      CBAdvertisementDataLocalNameKey: name, CBAdvertisementDataServiceUUIDsKey: [Self.service],
    ])
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    note("added", error)
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    note("advertising", error)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    note("read")
    guard answers else { return }
    request.value = Data([7])
    peripheral.respond(to: request, withResult: .success)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    note("write \(requests[0].value.map { Array($0) } ?? [])")
    peripheral.respond(to: requests[0], withResult: .success)
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) { note("subscribed") }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) { note("unsubscribed") }

  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { note("ready") }
}
