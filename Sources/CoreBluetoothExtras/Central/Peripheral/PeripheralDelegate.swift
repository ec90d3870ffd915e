import CoreBluetooth

/// Passes the callbacks of a `CBPeripheral` to its peripheral.
final class PeripheralDelegate: NSObject, CBPeripheralDelegate {
  private weak let peripheral: Peripheral?

  init(_ peripheral: Peripheral) {
    self.peripheral = peripheral
    super.init()
  }

  func peripheral(_ peer: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
    peripheral?.servicesModified(invalidatedServices)
  }

  func peripheral(_ peer: CBPeripheral, didReadRSSI rssi: NSNumber, error: (any Error)?) {
    peripheral?.answer(.rssi, with: result(rssi.intValue == 127 ? nil : rssi.intValue, error))
  }

  func peripheral(_ peer: CBPeripheral, didDiscoverServices error: (any Error)?) {
    guard let peripheral else { return }
    let services = peer.services ?? []
    peripheral.adopt(services)
    peripheral.answer(.services, with: result(services.map { RemoteService($0, of: peripheral) }, error))
  }

  func peripheral(_ peer: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?) {
    guard let peripheral else { return }
    let services = service.includedServices ?? []
    peripheral.adopt(services)
    peripheral.answer(
      .includedServices, service, with: result(services.map { RemoteService($0, of: peripheral) }, error))
  }

  func peripheral(_ peer: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
    guard let peripheral else { return }
    let characteristics = service.characteristics ?? []
    peripheral.adopt(characteristics)
    let owner = RemoteService(service, of: peripheral)
    peripheral.answer(
      .characteristics, service, with: result(characteristics.map { RemoteCharacteristic($0, of: owner) }, error))
  }

  func peripheral(_ peer: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?)
  {
    guard let peripheral, let service = characteristic.service else { return }
    let descriptors = characteristic.descriptors ?? []
    peripheral.adopt(descriptors)
    let owner = RemoteCharacteristic(characteristic, of: RemoteService(service, of: peripheral))
    peripheral.answer(
      .descriptors, characteristic, with: result(descriptors.map { RemoteDescriptor($0, of: owner) }, error))
  }

  func peripheral(_ peer: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    peripheral?.valueUpdated(characteristic, error)
  }

  func peripheral(_ peer: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    peripheral?.answer(.write, characteristic, with: result((), error))
  }

  func peripheral(
    _ peer: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    peripheral?.answer(.notifications, characteristic, with: result((), error))
  }

  func peripheral(_ peer: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
    peripheral?.answer(.read, descriptor, with: result(DescriptorValue(descriptor.value), error))
  }

  func peripheral(_ peer: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
    peripheral?.answer(.write, descriptor, with: result((), error))
  }

  func peripheralIsReady(toSendWriteWithoutResponse peer: CBPeripheral) { peripheral?.send() }

  func peripheral(_ peer: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    if let channel, error == nil {
      peripheral?.answer(.channel, with: .success(L2CAPChannel(channel)))
    } else {
      peripheral?.answer(.channel, with: Result<L2CAPChannel, any Error>.failure(error ?? CBError(.unknown)))
    }
  }
}
