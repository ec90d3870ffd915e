import CoreBluetooth

// Three objects that implement every delegate method, and three that implement only the required ones.

final class FullCBCentralManagerDelegate: NSObject, CBCentralManagerDelegate {
  var log: [String] = []
  func centralManagerDidUpdateState(_ central: CBCentralManager) { log.append("centralManagerDidUpdateState(_:)") }
  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    log.append("centralManager(_:willRestoreState:)")
  }
  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) { log.append("centralManager(_:didDiscover:advertisementData:rssi:)") }
  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    log.append("centralManager(_:didConnect:)")
  }
  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    log.append("centralManager(_:didFailToConnect:error:)")
  }
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) { log.append("centralManager(_:didDisconnectPeripheral:error:)") }
  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
    isReconnecting: Bool, error: (any Error)?
  ) { log.append("centralManager(_:didDisconnectPeripheral:timestamp:isReconnecting:error:)") }
  #if !os(macOS)
    func centralManager(
      _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) { log.append("centralManager(_:connectionEventDidOccur:for:)") }
  #endif
  #if !os(macOS)
    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
      log.append("centralManager(_:didUpdateANCSAuthorizationFor:)")
    }
  #endif
}

final class MinimalCBCentralManagerDelegate: NSObject, CBCentralManagerDelegate {
  var log: [String] = []
  func centralManagerDidUpdateState(_ central: CBCentralManager) { log.append("x") }
}

final class FullCBPeripheralDelegate: NSObject, CBPeripheralDelegate {
  var log: [String] = []
  func peripheralDidUpdateName(_ peripheral: CBPeripheral) { log.append("peripheralDidUpdateName(_:)") }
  func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
    log.append("peripheral(_:didModifyServices:)")
  }
  func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?) {
    log.append("peripheralDidUpdateRSSI(_:error:)")
  }
  func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
    log.append("peripheral(_:didReadRSSI:error:)")
  }
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    log.append("peripheral(_:didDiscoverServices:)")
  }
  func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?) {
    log.append("peripheral(_:didDiscoverIncludedServicesFor:error:)")
  }
  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
    log.append("peripheral(_:didDiscoverCharacteristicsFor:error:)")
  }
  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    log.append("peripheral(_:didUpdateValueFor:error:)")
  }
  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    log.append("peripheral(_:didWriteValueFor:error:)")
  }
  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) { log.append("peripheral(_:didUpdateNotificationStateFor:error:)") }
  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
  ) { log.append("peripheral(_:didDiscoverDescriptorsFor:error:)") }
  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
    log.append("peripheral(_:didUpdateValueFor:error:) (descriptor)")
  }
  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
    log.append("peripheral(_:didWriteValueFor:error:) (descriptor)")
  }
  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
    log.append("peripheralIsReady(toSendWriteWithoutResponse:)")
  }
  func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    log.append("peripheral(_:didOpen:error:)")
  }
  #if CB_IOS27
    func peripheral(
      _ peripheral: CBPeripheral, didReceive results: CBChannelSoundingProcedureResults?, error: (any Error)?
    ) { log.append("peripheral(_:didReceive:error:)") }
  #endif
  #if CB_IOS27
    func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {
      log.append("peripheral(_:didCompleteChannelSoundingSession:)")
    }
  #endif
}

final class MinimalCBPeripheralDelegate: NSObject, CBPeripheralDelegate {
  var log: [String] = []
}

final class FullCBPeripheralManagerDelegate: NSObject, CBPeripheralManagerDelegate {
  var log: [String] = []
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    log.append("peripheralManagerDidUpdateState(_:)")
  }
  func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
    log.append("peripheralManager(_:willRestoreState:)")
  }
  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    log.append("peripheralManagerDidStartAdvertising(_:error:)")
  }
  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    log.append("peripheralManager(_:didAdd:error:)")
  }
  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) { log.append("peripheralManager(_:central:didSubscribeTo:)") }
  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) { log.append("peripheralManager(_:central:didUnsubscribeFrom:)") }
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    log.append("peripheralManager(_:didReceiveRead:)")
  }
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    log.append("peripheralManager(_:didReceiveWrite:)")
  }
  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
    log.append("peripheralManagerIsReady(toUpdateSubscribers:)")
  }
  func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?)
  { log.append("peripheralManager(_:didPublishL2CAPChannel:error:)") }
  func peripheralManager(
    _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
  ) { log.append("peripheralManager(_:didUnpublishL2CAPChannel:error:)") }
  func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    log.append("peripheralManager(_:didOpen:error:)")
  }
}

final class MinimalCBPeripheralManagerDelegate: NSObject, CBPeripheralManagerDelegate {
  var log: [String] = []
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { log.append("x") }
}
