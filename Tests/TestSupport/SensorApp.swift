import BluetoothLab
import CoreBluetooth

/// An app with one service, which advertises it whenever Bluetooth is on, answers requests, and records the events.
package final class SensorApp: NSObject, CBPeripheralManagerDelegate {
  package enum Event: Equatable {
    case state(CBManagerState)
    /// True if the service was added.
    case added(Bool)
    /// True if advertising has started.
    case advertising(Bool)
    case subscribed, unsubscribed
  }

  package static let service = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C001")
  package static let characteristic = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C002")

  package let manager: CBPeripheralManager
  /// Read, write with and without response, notify; the delegate answers.
  package let value = CBMutableCharacteristic(
    type: SensorApp.characteristic, properties: [.read, .write, .writeWithoutResponse, .notify], value: nil,
    permissions: [.readable, .writeable])
  package private(set) var events: [Event] = []
  package var stored = Data("hello".utf8)
  private let name: String?

  /// - Parameter name: The advertised name; nil: none.
  package init(on device: Device, name: String? = "peripheral") {
    self.name = name
    manager = CBPeripheralManager(delegate: nil, queue: nil, options: [CBManagerOptionAdapterKey: device])
    super.init()
    manager.delegate = self
  }

  package func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    events.append(.state(peripheral.state))
    guard peripheral.state == .poweredOn else { return }
    let service = CBMutableService(type: Self.service, primary: true)
    service.characteristics = [value]
    peripheral.add(service)
  }

  package func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    events.append(.added(error == nil))
    var data: [String: Any] = [CBAdvertisementDataServiceUUIDsKey: [Self.service]]
    if let name { data[CBAdvertisementDataLocalNameKey] = name }
    peripheral.startAdvertising(data)
  }

  package func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    events.append(.advertising(error == nil))
  }

  package func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    guard request.offset <= stored.count else { return peripheral.respond(to: request, withResult: .invalidOffset) }
    request.value = stored.dropFirst(request.offset)
    peripheral.respond(to: request, withResult: .success)
  }

  package func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    for request in requests { stored = request.value ?? Data() }
    peripheral.respond(to: requests[0], withResult: .success)
  }

  package func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    events.append(.subscribed)
  }

  package func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    events.append(.unsubscribed)
  }
}
