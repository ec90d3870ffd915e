// Apple's names.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import TestSupport

@testable import BluetoothDaemon
@testable import BluetoothHost
@testable import BluetoothWire
@testable import CoreBluetooth

/// Records the events of a peripheral manager.
final class PeripheralApp: NSObject, CBPeripheralManagerDelegate {
  var events: [String] = []
  var errors: [(any Error)?] = []
  var requests: [CBATTRequest] = []
  var centrals: [CBCentral] = []
  var channels: [CBL2CAPChannel] = []
  var keepsChannels = true
  /// Answers requests, unless the test answers them itself.
  var onRequests: ([CBATTRequest]) -> Void = { _ in }
  var onReady: () -> Void = {}

  /// Returns the events since the last call.
  func take() -> [String] {
    defer { events = [] }
    return events
  }

  private func note(_ event: String, _ error: (any Error)? = nil) {
    events.append(error == nil ? event : event + " failed")
    errors.append(error)
  }

  var lastError: CBError? { errors.last.flatMap { $0 } as? CBError }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { note("state \(peripheral.state)") }
  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    note("advertising \(peripheral.isAdvertising)", error)
  }
  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    note("added \(service.uuid.uuidString)", error)
  }
  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    centrals.append(central)
    let count = (characteristic as? CBMutableCharacteristic)?.subscribedCentrals?.count ?? -1
    note("subscribed \(characteristic.uuid.uuidString), \(count) in all")
  }
  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    let count = (characteristic as? CBMutableCharacteristic)?.subscribedCentrals?.count ?? -1
    note("unsubscribed \(characteristic.uuid.uuidString), \(count) left")
  }
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    requests.append(request)
    note("read \(request.characteristic.uuid.uuidString) from \(request.offset)")
    onRequests([request])
  }
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    self.requests += requests
    let parts = requests.map { "\($0.characteristic.uuid.uuidString)@\($0.offset)=\($0.value.map { Array($0) } ?? [])" }
    note("write \(parts.joined(separator: " "))")
    onRequests(requests)
  }
  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
    note("ready")
    onReady()
  }
  func peripheralManager(
    _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
  ) { note("published \(PSM)", error) }
  func peripheralManager(
    _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
  ) { note("unpublished \(PSM)", error) }
  func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    if let channel, keepsChannels { channels.append(channel) }
    note("channel \(channel == nil ? "nil" : "open")", error)
  }
}

/// A peripheral manager on a scripted adapter, powered on.
final class PeripheralHarness {
  /// The log since the creation of this harness.
  let log = LogRecorder()
  let adapter = ScriptedAdapter()
  let app = PeripheralApp()
  let queue = DispatchQueue(label: "app")
  var manager: CBPeripheralManager!
  let measurement = CBMutableCharacteristic(
    type: CBUUID(string: "2A37"), properties: [.read, .write, .notify], value: nil,
    permissions: [.readable, .writeable])
  let controlPoint = CBMutableCharacteristic(
    type: CBUUID(string: "2A39"), properties: .write, value: nil, permissions: .writeable)
  let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
  let phone = CentralInfo(
    handle: PeerHandle(index: 7), identifier: PeerIdentifier(high: 1, low: 2), maximumUpdateLength: 20)

  init(state: AdapterState = .poweredOn) {
    service.characteristics = [measurement, controlPoint]
    manager = CBPeripheralManager(delegate: app, queue: queue, options: [CBManagerOptionAdapterKey: adapter])
    if state != .unknown {
      adapter.tell(state: state)
      _ = app.take()
    }
  }

  var commands: [PeripheralCommand] { adapter.peripheralCommands() }

  /// Returns the definition in the latest `add` command.
  func addedService() -> LocalServiceInfo? {
    for case .addService(let service) in commands.reversed() { return service }
    return nil
  }

  /// Publishes the service. Returns the numbers of its characteristics.
  func publish() -> (service: LocalAttributeID, measurement: LocalAttributeID, controlPoint: LocalAttributeID) {
    manager.add(service)
    let definition = addedService()!
    adapter.tell(.serviceAdded(definition.id, nil))
    _ = app.take()
    return (definition.id, definition.characteristics[0].id, definition.characteristics[1].id)
  }
}
