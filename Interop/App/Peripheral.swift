import CoreBluetooth

/// Publishes the suite's service, advertises it, and prints the actions of clients.
final class Peripheral: NSObject, CBPeripheralManagerDelegate {
  private var manager: CBPeripheralManager!
  private let name: String
  private var longValue = InteropService.longValue
  private var echoes: [Echo] = []
  /// The updates that wait for room.
  private var waiting: [(value: Data, characteristic: CBMutableCharacteristic)] = []

  private let events = CBMutableCharacteristic(
    type: InteropService.events, properties: .notify, value: nil, permissions: [])
  private let changes = CBMutableCharacteristic(
    type: InteropService.changes, properties: .indicate, value: nil, permissions: [])

  /// The service that is added and removed while clients are connected.
  private let extra = CBMutableService(type: InteropService.extra, primary: true)

  init(name: String) {
    self.name = name
    super.init()
    manager = CBPeripheralManager(delegate: self, queue: nil)
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    say("state \(peripheral.state.rawValue)")
    guard peripheral.state == .poweredOn else { return }
    peripheral.removeAllServices()
    peripheral.add(service())
    peripheral.publishL2CAPChannel(withEncryption: false)
    peripheral.publishL2CAPChannel(withEncryption: true)
  }

  /// Executes a line of the standard input: `add` and `remove` apply to the extra service.
  func execute(_ command: String) {
    switch command {
    case "add": manager.add(extra)
    case "remove": manager.remove(extra)
    default: say("unknown command \(command)")
    }
  }

  private func service() -> CBMutableService {
    let fixed = CBMutableCharacteristic(
      type: InteropService.fixed, properties: .read, value: InteropService.fixedValue, permissions: .readable)
    fixed.descriptors = [
      CBMutableDescriptor(
        type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: InteropService.description)
    ]
    let service = CBMutableService(type: InteropService.uuid, primary: true)
    service.characteristics = [
      fixed,
      CBMutableCharacteristic(
        type: InteropService.control, properties: .write, value: nil, permissions: .writeable),
      CBMutableCharacteristic(
        type: InteropService.command, properties: .writeWithoutResponse, value: nil, permissions: .writeable),
      CBMutableCharacteristic(
        type: InteropService.long, properties: [.read, .write], value: nil, permissions: [.readable, .writeable]),
      events, changes,
      CBMutableCharacteristic(
        type: InteropService.protected, properties: .read, value: nil, permissions: .readEncryptionRequired),
    ]
    return service
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
    say(error.map { "failed adding: \($0.localizedDescription)" } ?? "added")
    guard service.uuid == InteropService.uuid else { return }
    peripheral.startAdvertising([
      CBAdvertisementDataLocalNameKey: name, CBAdvertisementDataServiceUUIDsKey: [InteropService.uuid],
    ])
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
    say(error.map { "failed advertising: \($0.localizedDescription)" } ?? "advertising")
  }

  // MARK: Channels

  func peripheralManager(
    _ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: Error?
  ) {
    say(error.map { "failed publishing: \($0.localizedDescription)" } ?? "published \(psm)")
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: Error?) {
    guard let channel else { return }
    say("channel \(channel.psm)")
    echoes.append(Echo(channel) { [weak self] echo in self?.echoes.removeAll { $0 === echo } })
  }

  // MARK: Clients

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    say("subscribed \(InteropService.name(of: characteristic.uuid)) \(central.maximumUpdateValueLength)")
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    say("unsubscribed \(InteropService.name(of: characteristic.uuid))")
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    say("read \(InteropService.name(of: request.characteristic.uuid)) \(request.offset)")
    let value = request.characteristic.uuid == InteropService.long ? longValue : InteropService.protectedValue
    guard request.offset <= value.count else {
      return peripheral.respond(to: request, withResult: .invalidOffset)
    }
    request.value = Data(value.dropFirst(request.offset))
    peripheral.respond(to: request, withResult: .success)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    guard let first = requests.first else { return }
    for request in requests {
      let value = request.value ?? Data()
      say("written \(InteropService.name(of: request.characteristic.uuid)) \(request.offset) \(value.hex)")
      guard request.characteristic.uuid == InteropService.long else { continue }
      guard request.offset <= longValue.count, request.offset + value.count <= 512 else {
        return peripheral.respond(to: first, withResult: .invalidAttributeValueLength)
      }
      longValue.replaceSubrange(request.offset..<min(longValue.count, request.offset + value.count), with: value)
    }
    // A command has no response; responding to one would be a mistake.
    if first.characteristic.uuid != InteropService.command { peripheral.respond(to: first, withResult: .success) }
    guard first.characteristic.uuid == InteropService.control, let value = first.value else { return }
    waiting += [(value, events), (value, changes)]
    sendWhatWaits()
  }

  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
    sendWhatWaits()
  }

  private func sendWhatWaits() {
    while let (value, characteristic) = waiting.first,
      manager.updateValue(value, for: characteristic, onSubscribedCentrals: nil)
    {
      waiting.removeFirst()
    }
  }
}
