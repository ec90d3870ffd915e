import CoreBluetooth

// Code shapes that are common in real apps.

func errorIdioms(_ error: (any Error)?) -> String {
  if let e = error as? CBError, e.code == .peripheralDisconnected { return "gone" }
  if let e = error as? CBATTError, e.code == .insufficientAuthentication { return "pair" }
  if let error, (error as NSError).domain == CBErrorDomain,
    (error as NSError).code == CBError.connectionTimeout.rawValue
  {
    return "timeout"
  }
  if let error, (error as NSError).code == CBError.Code.unknownDevice.rawValue { return "unknown" }
  if let error, case CBError.notConnected = error { return "static member pattern" }
  do { if let error { throw error } } catch CBError.connectionFailed { return "failed" } catch let e as CBATTError {
    return "\(e.errorCode)"
  } catch { return "other" }
  return "none"
}

func makeErrors() -> [any Error] {
  [
    CBError(.connectionTimeout), CBError(CBError.Code.unknown, userInfo: [NSLocalizedDescriptionKey: "x"]),
    CBATTError(.success), CBATTError(.invalidOffset),
  ]
}

func stateIdioms(_ central: CBCentralManager) -> String {
  switch central.state {
  case .poweredOn: return "on"
  case .poweredOff, .resetting, .unknown: return "wait"
  case .unauthorized:
    switch CBCentralManager.authorization {
    case .denied, .restricted: return "denied"
    case .allowedAlways, .notDetermined: return "odd"
    @unknown default: return "?"
    }
  case .unsupported: return "no"
  @unknown default: return "?"
  }
}

final class Scanner: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  var central: CBCentralManager!
  var found: CBPeripheral?
  override init() {
    super.init()
    central = CBCentralManager(delegate: self, queue: .main)
    central = CBCentralManager(
      delegate: self, queue: nil,
      options: [CBCentralManagerOptionShowPowerAlertKey: false, CBCentralManagerOptionRestoreIdentifierKey: "id"])
  }
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn {
      central.scanForPeripherals(
        withServices: [CBUUID(string: "180D")], options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
      central.scanForPeripherals(withServices: nil)
    }
  }
  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) {
    _ = advertisementData[CBAdvertisementDataLocalNameKey] as? String
    _ = advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID]
    _ = advertisementData[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
    _ = advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data
    _ = (advertisementData[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue
    guard RSSI.intValue > -80, peripheral.name != nil else { return }
    found = peripheral
    peripheral.delegate = self
    central.stopScan()
    central.connect(peripheral)
    central.connect(
      peripheral,
      options: [
        CBConnectPeripheralOptionNotifyOnDisconnectionKey: true, CBConnectPeripheralOptionEnableAutoReconnect: true,
      ])
  }
  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices(nil)
  }
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    for service in peripheral.services ?? [] where service.uuid == CBUUID(string: "180D") {
      peripheral.discoverCharacteristics([CBUUID(string: "2A37")], for: service)
    }
  }
  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
    service.characteristics?.forEach { c in
      if c.properties.contains(.notify) { peripheral.setNotifyValue(true, for: c) }
      if !c.properties.isDisjoint(with: [.write, .writeWithoutResponse]) {
        let n = peripheral.maximumWriteValueLength(for: .withoutResponse)
        peripheral.writeValue(
          Data(count: n), for: c, type: c.properties.contains(.write) ? .withResponse : .withoutResponse)
      }
      if let owner = c.service?.peripheral { owner.readValue(for: c) }
    }
  }
  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
    guard error == nil, let value = characteristic.value else { return }
    _ = value.first
  }
  var table: [CBUUID: String] = [CBUUID(string: "180F"): "battery"]
  var seen: Set<CBPeripheral> = []
}

final class Server: NSObject, CBPeripheralManagerDelegate {
  lazy var manager = CBPeripheralManager(delegate: self, queue: nil)
  let level = CBMutableCharacteristic(
    type: CBUUID(string: "2A19"), properties: [.read, .notify, .notifyEncryptionRequired], value: nil,
    permissions: [.readable, .readEncryptionRequired])
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    let service = CBMutableService(type: CBUUID(string: CBUUIDL2CAPPSMCharacteristicString), primary: true)
    level.descriptors = [
      CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "level")
    ]
    service.characteristics = [level]
    peripheral.add(service)
    peripheral.startAdvertising([
      CBAdvertisementDataLocalNameKey: "x", CBAdvertisementDataServiceUUIDsKey: [service.uuid],
    ])
  }
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    guard let value = level.value, request.offset <= value.count else {
      return peripheral.respond(to: request, withResult: .invalidOffset)
    }
    request.value = value.subdata(in: request.offset..<value.count)
    peripheral.respond(to: request, withResult: .success)
  }
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    guard let first = requests.first else { return }
    peripheral.respond(to: first, withResult: CBATTError.Code(rawValue: 0x80)!)
    if !peripheral.updateValue(Data([1]), for: level, onSubscribedCentrals: nil) {}
    peripheral.updateValue(Data([1]), for: level, onSubscribedCentrals: [first.central])  // result may be dropped
  }
  func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: Error?) {
    guard let channel else { return }
    channel.inputStream.open()
    channel.outputStream.open()
    _ = channel.peer.identifier
  }
}
