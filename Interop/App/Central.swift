import CoreBluetooth

/// Finds a server of the suite's service, uses every client operation on it, and prints the results.
final class Central: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  /// The number of further connections after a complete run; they use the bond that it made.
  private var returns = 1
  private var manager: CBCentralManager!
  private var server: CBPeripheral?
  /// The characteristics among the response, the notification and the indication that have not arrived yet.
  private var awaited: Set<CBUUID> = []
  private var hasWrittenLong = false

  override init() {
    super.init()
    manager = CBCentralManager(delegate: self, queue: nil)
  }

  // MARK: Connecting

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    say("state \(central.state.rawValue)")
    guard central.state == .poweredOn else { return }
    central.scanForPeripherals(withServices: [InteropService.uuid])
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard server == nil else { return }
    say("discovered \(advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? "nobody")")
    server = peripheral
    peripheral.delegate = self
    central.stopScan()
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    say("connected")
    peripheral.discoverServices([InteropService.uuid])
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
    fail("connecting", error)
  }

  func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
    if let error { fail("staying connected", error) }
    say("disconnected")
    guard returns > 0 else { exit(0) }
    returns -= 1
    central.connect(peripheral)
  }

  // MARK: Discovering

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    guard let service = peripheral.services?.first else { fail("discovering services", error) }
    say("service \(service.uuid)")
    peripheral.discoverCharacteristics(nil, for: service)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
    if let error { fail("discovering characteristics", error) }
    for characteristic in service.characteristics ?? [] {
      say("characteristic \(InteropService.name(of: characteristic.uuid)) \(characteristic.properties.rawValue)")
    }
    peripheral.discoverDescriptors(for: characteristic(InteropService.fixed))
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: Error?
  ) {
    let description = CBUUID(string: CBUUIDCharacteristicUserDescriptionString)
    guard let descriptor = characteristic.descriptors?.first(where: { $0.uuid == description }) else {
      fail("discovering descriptors", error)
    }
    peripheral.readValue(for: descriptor)
  }

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: Error?) {
    if let error { fail("reading a descriptor", error) }
    say("description \(descriptor.value ?? "nothing")")
    peripheral.readValue(for: characteristic(InteropService.fixed))
  }

  // MARK: Values

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
    let name = InteropService.name(of: characteristic.uuid)
    guard error == nil, let value = characteristic.value else { fail("reading \(name)", error) }
    say("value \(name) \(value.hex)")
    switch characteristic.uuid {
    case InteropService.fixed:
      // On a link with a bond only the protected value remains to be read.
      if returns == 0 { return peripheral.readValue(for: self.characteristic(InteropService.protected)) }
      peripheral.setNotifyValue(true, for: self.characteristic(InteropService.events))
    case InteropService.events, InteropService.changes: arrived(characteristic.uuid)
    case InteropService.long where !hasWrittenLong:
      hasWrittenLong = true
      peripheral.writeValue(Data(value.reversed()), for: characteristic, type: .withResponse)
    case InteropService.long:
      let command = self.characteristic(InteropService.command)
      for number in 0..<UInt8(10) { peripheral.writeValue(Data([number]), for: command, type: .withoutResponse) }
      peripheral.readRSSI()
    case InteropService.protected: manager.cancelPeripheralConnection(peripheral)
    default: break
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
  ) {
    let name = InteropService.name(of: characteristic.uuid)
    if let error { fail("subscribing to \(name)", error) }
    say("\(characteristic.isNotifying ? "subscribed" : "unsubscribed") \(name)")
    guard characteristic.uuid == InteropService.changes else {
      return peripheral.setNotifyValue(true, for: self.characteristic(InteropService.changes))
    }
    awaited = [InteropService.control, InteropService.events, InteropService.changes]
    peripheral.writeValue(Data("ping".utf8), for: self.characteristic(InteropService.control), type: .withResponse)
  }

  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: Error?) {
    let name = InteropService.name(of: characteristic.uuid)
    if let error { fail("writing \(name)", error) }
    say("written \(name)")
    if characteristic.uuid == InteropService.control { return arrived(characteristic.uuid) }
    peripheral.readValue(for: characteristic)
  }

  func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: Error?) {
    // Not every controller knows the RSSI.
    say(error == nil ? "rssi \(rssi)" : "rssi unknown")
    peripheral.readValue(for: characteristic(InteropService.protected))
  }

  private func arrived(_ uuid: CBUUID) {
    guard awaited.remove(uuid) != nil, awaited.isEmpty, let server else { return }
    server.readValue(for: characteristic(InteropService.long))
  }

  // MARK: Helpers

  private func characteristic(_ uuid: CBUUID) -> CBCharacteristic {
    let service = server?.services?.first { $0.uuid == InteropService.uuid }
    guard let found = service?.characteristics?.first(where: { $0.uuid == uuid }) else {
      fail("finding \(InteropService.name(of: uuid))", nil)
    }
    return found
  }

  private func fail(_ what: String, _ error: Error?) -> Never {
    say("failed \(what): \(error.map { "\(($0 as NSError).code) \($0.localizedDescription)" } ?? "nothing there")")
    exit(1)
  }
}
