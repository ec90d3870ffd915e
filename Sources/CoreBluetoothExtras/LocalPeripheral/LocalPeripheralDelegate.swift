import CoreBluetooth

/// Passes the callbacks of a `CBPeripheralManager` to its peripheral.
final class LocalPeripheralDelegate: NSObject, CBPeripheralManagerDelegate {
  private weak let peripheral: LocalPeripheral?

  init(_ peripheral: LocalPeripheral) {
    self.peripheral = peripheral
    super.init()
  }

  func peripheralManagerDidUpdateState(_ manager: CBPeripheralManager) { peripheral?.stateChanged(to: manager.state) }

  func peripheralManagerDidStartAdvertising(_ manager: CBPeripheralManager, error: (any Error)?) {
    peripheral?.advertisingStarted(error)
  }

  func peripheralManager(_ manager: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    peripheral?.added(service, error)
  }

  func peripheralManager(
    _ manager: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    peripheral?.subscribersChanged(of: characteristic)
  }

  func peripheralManager(
    _ manager: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    peripheral?.subscribersChanged(of: characteristic)
  }

  func peripheralManager(_ manager: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    peripheral?.received(read: request, manager)
  }

  func peripheralManager(_ manager: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    peripheral?.received(writes: requests, manager)
  }

  func peripheralManagerIsReady(toUpdateSubscribers manager: CBPeripheralManager) { peripheral?.send() }

  func peripheralManager(_ manager: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?) {
    peripheral?.published(psm, error)
  }

  func peripheralManager(_ manager: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    if let channel { peripheral?.opened(channel) }
  }
}
