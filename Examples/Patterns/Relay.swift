import CoreBluetooth

/// Both roles at once: a central that subscribes to a value of one device, and a peripheral that sends each value on to
/// its own subscribers.
///
/// Use the relay on one queue for both managers, as the delegate of both.
final class Relay: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private let service: CBUUID
  private let source: CBUUID
  private let peripheralManager: CBPeripheralManager
  private var sensor: CBPeripheral?
  private var waiting: [Data] = []

  /// The characteristic that the relay publishes, in a service of its own.
  let output: CBMutableCharacteristic

  /// Creates a relay.
  ///
  /// - Parameters:
  ///   - source: the characteristic of the other device.
  ///   - service: the service of `source`.
  ///   - output: the UUID of the characteristic that the relay publishes.
  init(of source: CBUUID, in service: CBUUID, as output: CBUUID, with peripheralManager: CBPeripheralManager) {
    (self.source, self.service, self.peripheralManager) = (source, service, peripheralManager)
    self.output = CBMutableCharacteristic(type: output, properties: .notify, value: nil, permissions: .readable)
  }

  /// Publishes and advertises `output`, and looks for the other device. Both managers are on.
  func start(in service: CBUUID, named name: String, with central: CBCentralManager) {
    let published = CBMutableService(type: service, primary: true)
    published.characteristics = [output]
    peripheralManager.add(published)
    peripheralManager.startAdvertising([CBAdvertisementDataLocalNameKey: name])
    central.scanForPeripherals(withServices: [self.service])
  }

  private func sendWaiting() {
    while let value = waiting.first, peripheralManager.updateValue(value, for: output, onSubscribedCentrals: nil) {
      waiting.removeFirst()
    }
  }
}

// The central's side.
extension Relay {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {}

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    guard sensor == nil else { return }
    sensor = peripheral
    peripheral.delegate = self
    central.stopScan()
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices([service])
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    for service in peripheral.services ?? [] { peripheral.discoverCharacteristics([source], for: service) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    for characteristic in service.characteristics ?? [] where characteristic.uuid == source {
      peripheral.setNotifyValue(true, for: characteristic)
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    guard error == nil, let value = characteristic.value else { return }
    waiting.append(value)
    sendWaiting()
  }
}

// The peripheral's side.
extension Relay: CBPeripheralManagerDelegate {
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}

  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { sendWaiting() }
}
