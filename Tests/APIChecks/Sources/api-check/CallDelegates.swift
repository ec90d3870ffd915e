import CoreBluetooth

// Calls every delegate method through the protocol type, so that each must be a real requirement.
// The arguments are never used; a plain NSObject stands in for classes that cannot be created.
func fake<T: AnyObject>(_: T.Type) -> T { unsafeBitCast(NSObject(), to: T.self) }

func callAll(_ d: any CBCentralManagerDelegate) {
  d.centralManagerDidUpdateState(fake(CBCentralManager.self))
  #if canImport(ObjectiveC)
    d.centralManager?(fake(CBCentralManager.self), willRestoreState: [:])
  #else
    d.centralManager(fake(CBCentralManager.self), willRestoreState: [:])
  #endif
  #if canImport(ObjectiveC)
    d.centralManager?(
      fake(CBCentralManager.self), didDiscover: fake(CBPeripheral.self), advertisementData: [:],
      rssi: NSNumber(value: -40))
  #else
    d.centralManager(
      fake(CBCentralManager.self), didDiscover: fake(CBPeripheral.self), advertisementData: [:],
      rssi: NSNumber(value: -40))
  #endif
  #if canImport(ObjectiveC)
    d.centralManager?(fake(CBCentralManager.self), didConnect: fake(CBPeripheral.self))
  #else
    d.centralManager(fake(CBCentralManager.self), didConnect: fake(CBPeripheral.self))
  #endif
  #if canImport(ObjectiveC)
    d.centralManager?(fake(CBCentralManager.self), didFailToConnect: fake(CBPeripheral.self), error: nil)
  #else
    d.centralManager(fake(CBCentralManager.self), didFailToConnect: fake(CBPeripheral.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.centralManager?(fake(CBCentralManager.self), didDisconnectPeripheral: fake(CBPeripheral.self), error: nil)
  #else
    d.centralManager(fake(CBCentralManager.self), didDisconnectPeripheral: fake(CBPeripheral.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.centralManager?(
      fake(CBCentralManager.self), didDisconnectPeripheral: fake(CBPeripheral.self), timestamp: 0,
      isReconnecting: false, error: nil)
  #else
    d.centralManager(
      fake(CBCentralManager.self), didDisconnectPeripheral: fake(CBPeripheral.self), timestamp: 0,
      isReconnecting: false, error: nil)
  #endif
  #if !os(macOS)
    #if canImport(ObjectiveC)
      d.centralManager?(
        fake(CBCentralManager.self), connectionEventDidOccur: .peerConnected, for: fake(CBPeripheral.self))
    #else
      d.centralManager(
        fake(CBCentralManager.self), connectionEventDidOccur: .peerConnected, for: fake(CBPeripheral.self))
    #endif
  #endif
  #if !os(macOS)
    #if canImport(ObjectiveC)
      d.centralManager?(fake(CBCentralManager.self), didUpdateANCSAuthorizationFor: fake(CBPeripheral.self))
    #else
      d.centralManager(fake(CBCentralManager.self), didUpdateANCSAuthorizationFor: fake(CBPeripheral.self))
    #endif
  #endif
}

func callAll(_ d: any CBPeripheralDelegate) {
  #if canImport(ObjectiveC)
    d.peripheralDidUpdateName?(fake(CBPeripheral.self))
  #else
    d.peripheralDidUpdateName(fake(CBPeripheral.self))
  #endif
  #if canImport(ObjectiveC)
    d.peripheral?(fake(CBPeripheral.self), didModifyServices: [] as [CBService])
  #else
    d.peripheral(fake(CBPeripheral.self), didModifyServices: [] as [CBService])
  #endif
  #if canImport(ObjectiveC)
    d.peripheralDidUpdateRSSI?(fake(CBPeripheral.self), error: nil)
  #else
    d.peripheralDidUpdateRSSI(fake(CBPeripheral.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheral?(fake(CBPeripheral.self), didReadRSSI: NSNumber(value: -40), error: nil)
  #else
    d.peripheral(fake(CBPeripheral.self), didReadRSSI: NSNumber(value: -40), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheral?(fake(CBPeripheral.self), didDiscoverServices: nil)
  #else
    d.peripheral(fake(CBPeripheral.self), didDiscoverServices: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheral?(fake(CBPeripheral.self), didDiscoverIncludedServicesFor: fake(CBService.self), error: nil)
  #else
    d.peripheral(fake(CBPeripheral.self), didDiscoverIncludedServicesFor: fake(CBService.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheral?(fake(CBPeripheral.self), didDiscoverCharacteristicsFor: fake(CBService.self), error: nil)
  #else
    d.peripheral(fake(CBPeripheral.self), didDiscoverCharacteristicsFor: fake(CBService.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheral?(fake(CBPeripheral.self), didUpdateValueFor: fake(CBCharacteristic.self), error: nil)
  #else
    d.peripheral(fake(CBPeripheral.self), didUpdateValueFor: fake(CBCharacteristic.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheral?(fake(CBPeripheral.self), didWriteValueFor: fake(CBCharacteristic.self), error: nil)
  #else
    d.peripheral(fake(CBPeripheral.self), didWriteValueFor: fake(CBCharacteristic.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheral?(fake(CBPeripheral.self), didUpdateNotificationStateFor: fake(CBCharacteristic.self), error: nil)
  #else
    d.peripheral(fake(CBPeripheral.self), didUpdateNotificationStateFor: fake(CBCharacteristic.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheral?(fake(CBPeripheral.self), didDiscoverDescriptorsFor: fake(CBCharacteristic.self), error: nil)
  #else
    d.peripheral(fake(CBPeripheral.self), didDiscoverDescriptorsFor: fake(CBCharacteristic.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheral?(fake(CBPeripheral.self), didUpdateValueFor: fake(CBDescriptor.self), error: nil)
  #else
    d.peripheral(fake(CBPeripheral.self), didUpdateValueFor: fake(CBDescriptor.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheral?(fake(CBPeripheral.self), didWriteValueFor: fake(CBDescriptor.self), error: nil)
  #else
    d.peripheral(fake(CBPeripheral.self), didWriteValueFor: fake(CBDescriptor.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheralIsReady?(toSendWriteWithoutResponse: fake(CBPeripheral.self))
  #else
    d.peripheralIsReady(toSendWriteWithoutResponse: fake(CBPeripheral.self))
  #endif
  #if canImport(ObjectiveC)
    d.peripheral?(fake(CBPeripheral.self), didOpen: nil, error: nil)
  #else
    d.peripheral(fake(CBPeripheral.self), didOpen: nil, error: nil)
  #endif
  #if CB_IOS27
    #if canImport(ObjectiveC)
      d.peripheral?(fake(CBPeripheral.self), didReceive: nil, error: nil)
    #else
      d.peripheral(fake(CBPeripheral.self), didReceive: nil, error: nil)
    #endif
  #endif
  #if CB_IOS27
    #if canImport(ObjectiveC)
      d.peripheral?(fake(CBPeripheral.self), didCompleteChannelSoundingSession: nil)
    #else
      d.peripheral(fake(CBPeripheral.self), didCompleteChannelSoundingSession: nil)
    #endif
  #endif
}

func callAll(_ d: any CBPeripheralManagerDelegate) {
  d.peripheralManagerDidUpdateState(fake(CBPeripheralManager.self))
  #if canImport(ObjectiveC)
    d.peripheralManager?(fake(CBPeripheralManager.self), willRestoreState: [:])
  #else
    d.peripheralManager(fake(CBPeripheralManager.self), willRestoreState: [:])
  #endif
  #if canImport(ObjectiveC)
    d.peripheralManagerDidStartAdvertising?(fake(CBPeripheralManager.self), error: nil)
  #else
    d.peripheralManagerDidStartAdvertising(fake(CBPeripheralManager.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheralManager?(fake(CBPeripheralManager.self), didAdd: fake(CBService.self), error: nil)
  #else
    d.peripheralManager(fake(CBPeripheralManager.self), didAdd: fake(CBService.self), error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheralManager?(
      fake(CBPeripheralManager.self), central: fake(CBCentral.self), didSubscribeTo: fake(CBCharacteristic.self))
  #else
    d.peripheralManager(
      fake(CBPeripheralManager.self), central: fake(CBCentral.self), didSubscribeTo: fake(CBCharacteristic.self))
  #endif
  #if canImport(ObjectiveC)
    d.peripheralManager?(
      fake(CBPeripheralManager.self), central: fake(CBCentral.self), didUnsubscribeFrom: fake(CBCharacteristic.self))
  #else
    d.peripheralManager(
      fake(CBPeripheralManager.self), central: fake(CBCentral.self), didUnsubscribeFrom: fake(CBCharacteristic.self))
  #endif
  #if canImport(ObjectiveC)
    d.peripheralManager?(fake(CBPeripheralManager.self), didReceiveRead: fake(CBATTRequest.self))
  #else
    d.peripheralManager(fake(CBPeripheralManager.self), didReceiveRead: fake(CBATTRequest.self))
  #endif
  #if canImport(ObjectiveC)
    d.peripheralManager?(fake(CBPeripheralManager.self), didReceiveWrite: [] as [CBATTRequest])
  #else
    d.peripheralManager(fake(CBPeripheralManager.self), didReceiveWrite: [] as [CBATTRequest])
  #endif
  #if canImport(ObjectiveC)
    d.peripheralManagerIsReady?(toUpdateSubscribers: fake(CBPeripheralManager.self))
  #else
    d.peripheralManagerIsReady(toUpdateSubscribers: fake(CBPeripheralManager.self))
  #endif
  #if canImport(ObjectiveC)
    d.peripheralManager?(fake(CBPeripheralManager.self), didPublishL2CAPChannel: 0x80, error: nil)
  #else
    d.peripheralManager(fake(CBPeripheralManager.self), didPublishL2CAPChannel: 0x80, error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheralManager?(fake(CBPeripheralManager.self), didUnpublishL2CAPChannel: 0x80, error: nil)
  #else
    d.peripheralManager(fake(CBPeripheralManager.self), didUnpublishL2CAPChannel: 0x80, error: nil)
  #endif
  #if canImport(ObjectiveC)
    d.peripheralManager?(fake(CBPeripheralManager.self), didOpen: nil, error: nil)
  #else
    d.peripheralManager(fake(CBPeripheralManager.self), didOpen: nil, error: nil)
  #endif
}
