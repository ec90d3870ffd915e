import CoreBluetooth

// Expected raw values and strings (facts from inventory.tsv).
func runTable(_ t: inout Tally) {
  t.equal("CBManagerState.unknown", CBManagerState.unknown.rawValue, 0)
  t.equal("CBManagerState.resetting", CBManagerState.resetting.rawValue, 1)
  t.equal("CBManagerState.unsupported", CBManagerState.unsupported.rawValue, 2)
  t.equal("CBManagerState.unauthorized", CBManagerState.unauthorized.rawValue, 3)
  t.equal("CBManagerState.poweredOff", CBManagerState.poweredOff.rawValue, 4)
  t.equal("CBManagerState.poweredOn", CBManagerState.poweredOn.rawValue, 5)
  t.equal("CBManagerAuthorization.notDetermined", CBManagerAuthorization.notDetermined.rawValue, 0)
  t.equal("CBManagerAuthorization.restricted", CBManagerAuthorization.restricted.rawValue, 1)
  t.equal("CBManagerAuthorization.denied", CBManagerAuthorization.denied.rawValue, 2)
  t.equal("CBManagerAuthorization.allowedAlways", CBManagerAuthorization.allowedAlways.rawValue, 3)
  #if !os(macOS)
    t.equal(
      "CBCentralManager.Feature.extendedScanAndConnect", CBCentralManager.Feature.extendedScanAndConnect.rawValue,
      0x1 as UInt)
  #endif
  t.equal("CBCentralManagerState.unknown", CBCentralManagerState.unknown.rawValue, 0)
  t.equal("CBCentralManagerState.resetting", CBCentralManagerState.resetting.rawValue, 1)
  t.equal("CBCentralManagerState.unsupported", CBCentralManagerState.unsupported.rawValue, 2)
  t.equal("CBCentralManagerState.unauthorized", CBCentralManagerState.unauthorized.rawValue, 3)
  t.equal("CBCentralManagerState.poweredOff", CBCentralManagerState.poweredOff.rawValue, 4)
  t.equal("CBCentralManagerState.poweredOn", CBCentralManagerState.poweredOn.rawValue, 5)
  t.equal("CBConnectionEvent.peerDisconnected", CBConnectionEvent.peerDisconnected.rawValue, 0)
  t.equal("CBConnectionEvent.peerConnected", CBConnectionEvent.peerConnected.rawValue, 1)
  #if !os(macOS)
    t.equal(
      "CBConnectionEventMatchingOption.serviceUUIDs", CBConnectionEventMatchingOption.serviceUUIDs.rawValue,
      "kCBConnectionEventMatchingOptionServiceUUIDs", likely: true)
  #endif
  #if !os(macOS)
    t.equal(
      "CBConnectionEventMatchingOption.peripheralUUIDs", CBConnectionEventMatchingOption.peripheralUUIDs.rawValue,
      "kCBConnectionEventMatchingOptionPeripheralUUIDs", likely: true)
  #endif
  t.equal("CBPeripheralState.disconnected", CBPeripheralState.disconnected.rawValue, 0)
  t.equal("CBPeripheralState.connecting", CBPeripheralState.connecting.rawValue, 1)
  t.equal("CBPeripheralState.connected", CBPeripheralState.connected.rawValue, 2)
  t.equal("CBPeripheralState.disconnecting", CBPeripheralState.disconnecting.rawValue, 3)
  t.equal("CBCharacteristicWriteType.withResponse", CBCharacteristicWriteType.withResponse.rawValue, 0)
  t.equal("CBCharacteristicWriteType.withoutResponse", CBCharacteristicWriteType.withoutResponse.rawValue, 1)
  t.equal("CBPeripheralManagerConnectionLatency.low", CBPeripheralManagerConnectionLatency.low.rawValue, 0)
  t.equal("CBPeripheralManagerConnectionLatency.medium", CBPeripheralManagerConnectionLatency.medium.rawValue, 1)
  t.equal("CBPeripheralManagerConnectionLatency.high", CBPeripheralManagerConnectionLatency.high.rawValue, 2)
  t.equal(
    "CBPeripheralManagerAuthorizationStatus.notDetermined",
    CBPeripheralManagerAuthorizationStatus.notDetermined.rawValue, 0)
  t.equal(
    "CBPeripheralManagerAuthorizationStatus.restricted", CBPeripheralManagerAuthorizationStatus.restricted.rawValue, 1)
  t.equal("CBPeripheralManagerAuthorizationStatus.denied", CBPeripheralManagerAuthorizationStatus.denied.rawValue, 2)
  t.equal(
    "CBPeripheralManagerAuthorizationStatus.authorized", CBPeripheralManagerAuthorizationStatus.authorized.rawValue, 3)
  t.equal("CBPeripheralManagerState.unknown", CBPeripheralManagerState.unknown.rawValue, 0)
  t.equal("CBPeripheralManagerState.resetting", CBPeripheralManagerState.resetting.rawValue, 1)
  t.equal("CBPeripheralManagerState.unsupported", CBPeripheralManagerState.unsupported.rawValue, 2)
  t.equal("CBPeripheralManagerState.unauthorized", CBPeripheralManagerState.unauthorized.rawValue, 3)
  t.equal("CBPeripheralManagerState.poweredOff", CBPeripheralManagerState.poweredOff.rawValue, 4)
  t.equal("CBPeripheralManagerState.poweredOn", CBPeripheralManagerState.poweredOn.rawValue, 5)
  t.equal("CBCharacteristicProperties.broadcast", CBCharacteristicProperties.broadcast.rawValue, 0x1 as UInt)
  t.equal("CBCharacteristicProperties.read", CBCharacteristicProperties.read.rawValue, 0x2 as UInt)
  t.equal(
    "CBCharacteristicProperties.writeWithoutResponse", CBCharacteristicProperties.writeWithoutResponse.rawValue,
    0x4 as UInt)
  t.equal("CBCharacteristicProperties.write", CBCharacteristicProperties.write.rawValue, 0x8 as UInt)
  t.equal("CBCharacteristicProperties.notify", CBCharacteristicProperties.notify.rawValue, 0x10 as UInt)
  t.equal("CBCharacteristicProperties.indicate", CBCharacteristicProperties.indicate.rawValue, 0x20 as UInt)
  t.equal(
    "CBCharacteristicProperties.authenticatedSignedWrites",
    CBCharacteristicProperties.authenticatedSignedWrites.rawValue, 0x40 as UInt)
  t.equal(
    "CBCharacteristicProperties.extendedProperties", CBCharacteristicProperties.extendedProperties.rawValue,
    0x80 as UInt)
  t.equal(
    "CBCharacteristicProperties.notifyEncryptionRequired", CBCharacteristicProperties.notifyEncryptionRequired.rawValue,
    0x100 as UInt)
  t.equal(
    "CBCharacteristicProperties.indicateEncryptionRequired",
    CBCharacteristicProperties.indicateEncryptionRequired.rawValue, 0x200 as UInt)
  t.equal("CBAttributePermissions.readable", CBAttributePermissions.readable.rawValue, 0x1 as UInt)
  t.equal("CBAttributePermissions.writeable", CBAttributePermissions.writeable.rawValue, 0x2 as UInt)
  t.equal(
    "CBAttributePermissions.readEncryptionRequired", CBAttributePermissions.readEncryptionRequired.rawValue, 0x4 as UInt
  )
  t.equal(
    "CBAttributePermissions.writeEncryptionRequired", CBAttributePermissions.writeEncryptionRequired.rawValue,
    0x8 as UInt)
  t.equal("CBUUIDCharacteristicExtendedPropertiesString", CBUUIDCharacteristicExtendedPropertiesString, "2900")
  t.equal("CBUUIDCharacteristicUserDescriptionString", CBUUIDCharacteristicUserDescriptionString, "2901")
  t.equal("CBUUIDClientCharacteristicConfigurationString", CBUUIDClientCharacteristicConfigurationString, "2902")
  t.equal("CBUUIDServerCharacteristicConfigurationString", CBUUIDServerCharacteristicConfigurationString, "2903")
  t.equal("CBUUIDCharacteristicFormatString", CBUUIDCharacteristicFormatString, "2904")
  t.equal("CBUUIDCharacteristicAggregateFormatString", CBUUIDCharacteristicAggregateFormatString, "2905")
  t.equal("CBUUIDCharacteristicValidRangeString", CBUUIDCharacteristicValidRangeString, "2906")
  t.equal(
    "CBUUIDCharacteristicObservationScheduleString", CBUUIDCharacteristicObservationScheduleString, "2910", likely: true
  )
  t.equal(
    "CBUUIDL2CAPPSMCharacteristicString", CBUUIDL2CAPPSMCharacteristicString, "ABDD3056-28FA-441D-A470-55A75A52553A")
  t.equal("CBError.Code.unknown", CBError.Code.unknown.rawValue, 0)
  t.equal("CBError.Code.invalidParameters", CBError.Code.invalidParameters.rawValue, 1)
  t.equal("CBError.Code.invalidHandle", CBError.Code.invalidHandle.rawValue, 2)
  t.equal("CBError.Code.notConnected", CBError.Code.notConnected.rawValue, 3)
  t.equal("CBError.Code.outOfSpace", CBError.Code.outOfSpace.rawValue, 4)
  t.equal("CBError.Code.operationCancelled", CBError.Code.operationCancelled.rawValue, 5)
  t.equal("CBError.Code.connectionTimeout", CBError.Code.connectionTimeout.rawValue, 6)
  t.equal("CBError.Code.peripheralDisconnected", CBError.Code.peripheralDisconnected.rawValue, 7)
  t.equal("CBError.Code.uuidNotAllowed", CBError.Code.uuidNotAllowed.rawValue, 8)
  t.equal("CBError.Code.alreadyAdvertising", CBError.Code.alreadyAdvertising.rawValue, 9)
  t.equal("CBError.Code.connectionFailed", CBError.Code.connectionFailed.rawValue, 10)
  t.equal("CBError.Code.connectionLimitReached", CBError.Code.connectionLimitReached.rawValue, 11)
  t.equal("CBError.Code.unkownDevice", CBError.Code.unkownDevice.rawValue, 12)
  t.equal("CBError.Code.operationNotSupported", CBError.Code.operationNotSupported.rawValue, 13)
  t.equal("CBError.Code.peerRemovedPairingInformation", CBError.Code.peerRemovedPairingInformation.rawValue, 14)
  t.equal("CBError.Code.encryptionTimedOut", CBError.Code.encryptionTimedOut.rawValue, 15)
  t.equal("CBError.Code.tooManyLEPairedDevices", CBError.Code.tooManyLEPairedDevices.rawValue, 16)
  #if !canImport(Darwin) || os(watchOS)
    t.equal(
      "CBError.Code.leGattExceededBackgroundNotificationLimit",
      CBError.Code.leGattExceededBackgroundNotificationLimit.rawValue, 17)
  #endif
  #if !canImport(Darwin) || os(watchOS)
    t.equal(
      "CBError.Code.leGattNearBackgroundNotificationLimit", CBError.Code.leGattNearBackgroundNotificationLimit.rawValue,
      18)
  #endif
  t.equal("CBError.Code.unknownDevice", CBError.Code.unknownDevice.rawValue, 12)
  t.equal("CBError.unknown", CBError.unknown.rawValue, 0)
  t.equal("CBError.invalidParameters", CBError.invalidParameters.rawValue, 1)
  t.equal("CBError.invalidHandle", CBError.invalidHandle.rawValue, 2)
  t.equal("CBError.notConnected", CBError.notConnected.rawValue, 3)
  t.equal("CBError.outOfSpace", CBError.outOfSpace.rawValue, 4)
  t.equal("CBError.operationCancelled", CBError.operationCancelled.rawValue, 5)
  t.equal("CBError.connectionTimeout", CBError.connectionTimeout.rawValue, 6)
  t.equal("CBError.peripheralDisconnected", CBError.peripheralDisconnected.rawValue, 7)
  t.equal("CBError.uuidNotAllowed", CBError.uuidNotAllowed.rawValue, 8)
  t.equal("CBError.alreadyAdvertising", CBError.alreadyAdvertising.rawValue, 9)
  t.equal("CBError.connectionFailed", CBError.connectionFailed.rawValue, 10)
  t.equal("CBError.connectionLimitReached", CBError.connectionLimitReached.rawValue, 11)
  t.equal("CBError.unkownDevice", CBError.unkownDevice.rawValue, 12)
  t.equal("CBError.operationNotSupported", CBError.operationNotSupported.rawValue, 13)
  t.equal("CBError.peerRemovedPairingInformation", CBError.peerRemovedPairingInformation.rawValue, 14)
  t.equal("CBError.encryptionTimedOut", CBError.encryptionTimedOut.rawValue, 15)
  t.equal("CBError.tooManyLEPairedDevices", CBError.tooManyLEPairedDevices.rawValue, 16)
  #if !canImport(Darwin) || os(watchOS)
    t.equal(
      "CBError.leGattExceededBackgroundNotificationLimit", CBError.leGattExceededBackgroundNotificationLimit.rawValue,
      17)
  #endif
  #if !canImport(Darwin) || os(watchOS)
    t.equal("CBError.leGattNearBackgroundNotificationLimit", CBError.leGattNearBackgroundNotificationLimit.rawValue, 18)
  #endif
  t.equal("CBError.unknownDevice", CBError.unknownDevice.rawValue, 12)
  t.equal("CBError.errorDomain", CBError.errorDomain, "CBErrorDomain")
  t.equal("CBErrorDomain", CBErrorDomain, "CBErrorDomain")
  t.equal("CBATTError.Code.success", CBATTError.Code.success.rawValue, 0)
  t.equal("CBATTError.Code.invalidHandle", CBATTError.Code.invalidHandle.rawValue, 1)
  t.equal("CBATTError.Code.readNotPermitted", CBATTError.Code.readNotPermitted.rawValue, 2)
  t.equal("CBATTError.Code.writeNotPermitted", CBATTError.Code.writeNotPermitted.rawValue, 3)
  t.equal("CBATTError.Code.invalidPdu", CBATTError.Code.invalidPdu.rawValue, 4)
  t.equal("CBATTError.Code.insufficientAuthentication", CBATTError.Code.insufficientAuthentication.rawValue, 5)
  t.equal("CBATTError.Code.requestNotSupported", CBATTError.Code.requestNotSupported.rawValue, 6)
  t.equal("CBATTError.Code.invalidOffset", CBATTError.Code.invalidOffset.rawValue, 7)
  t.equal("CBATTError.Code.insufficientAuthorization", CBATTError.Code.insufficientAuthorization.rawValue, 8)
  t.equal("CBATTError.Code.prepareQueueFull", CBATTError.Code.prepareQueueFull.rawValue, 9)
  t.equal("CBATTError.Code.attributeNotFound", CBATTError.Code.attributeNotFound.rawValue, 10)
  t.equal("CBATTError.Code.attributeNotLong", CBATTError.Code.attributeNotLong.rawValue, 11)
  t.equal("CBATTError.Code.insufficientEncryptionKeySize", CBATTError.Code.insufficientEncryptionKeySize.rawValue, 12)
  t.equal("CBATTError.Code.invalidAttributeValueLength", CBATTError.Code.invalidAttributeValueLength.rawValue, 13)
  t.equal("CBATTError.Code.unlikelyError", CBATTError.Code.unlikelyError.rawValue, 14)
  t.equal("CBATTError.Code.insufficientEncryption", CBATTError.Code.insufficientEncryption.rawValue, 15)
  t.equal("CBATTError.Code.unsupportedGroupType", CBATTError.Code.unsupportedGroupType.rawValue, 16)
  t.equal("CBATTError.Code.insufficientResources", CBATTError.Code.insufficientResources.rawValue, 17)
  t.equal("CBATTError.success", CBATTError.success.rawValue, 0)
  t.equal("CBATTError.invalidHandle", CBATTError.invalidHandle.rawValue, 1)
  t.equal("CBATTError.readNotPermitted", CBATTError.readNotPermitted.rawValue, 2)
  t.equal("CBATTError.writeNotPermitted", CBATTError.writeNotPermitted.rawValue, 3)
  t.equal("CBATTError.invalidPdu", CBATTError.invalidPdu.rawValue, 4)
  t.equal("CBATTError.insufficientAuthentication", CBATTError.insufficientAuthentication.rawValue, 5)
  t.equal("CBATTError.requestNotSupported", CBATTError.requestNotSupported.rawValue, 6)
  t.equal("CBATTError.invalidOffset", CBATTError.invalidOffset.rawValue, 7)
  t.equal("CBATTError.insufficientAuthorization", CBATTError.insufficientAuthorization.rawValue, 8)
  t.equal("CBATTError.prepareQueueFull", CBATTError.prepareQueueFull.rawValue, 9)
  t.equal("CBATTError.attributeNotFound", CBATTError.attributeNotFound.rawValue, 10)
  t.equal("CBATTError.attributeNotLong", CBATTError.attributeNotLong.rawValue, 11)
  t.equal("CBATTError.insufficientEncryptionKeySize", CBATTError.insufficientEncryptionKeySize.rawValue, 12)
  t.equal("CBATTError.invalidAttributeValueLength", CBATTError.invalidAttributeValueLength.rawValue, 13)
  t.equal("CBATTError.unlikelyError", CBATTError.unlikelyError.rawValue, 14)
  t.equal("CBATTError.insufficientEncryption", CBATTError.insufficientEncryption.rawValue, 15)
  t.equal("CBATTError.unsupportedGroupType", CBATTError.unsupportedGroupType.rawValue, 16)
  t.equal("CBATTError.insufficientResources", CBATTError.insufficientResources.rawValue, 17)
  t.equal("CBATTError.errorDomain", CBATTError.errorDomain, "CBATTErrorDomain")
  t.equal("CBATTErrorDomain", CBATTErrorDomain, "CBATTErrorDomain")
  t.equal("CBAdvertisementDataLocalNameKey", CBAdvertisementDataLocalNameKey, "kCBAdvDataLocalName")
  t.equal("CBAdvertisementDataTxPowerLevelKey", CBAdvertisementDataTxPowerLevelKey, "kCBAdvDataTxPowerLevel")
  t.equal("CBAdvertisementDataServiceUUIDsKey", CBAdvertisementDataServiceUUIDsKey, "kCBAdvDataServiceUUIDs")
  t.equal("CBAdvertisementDataServiceDataKey", CBAdvertisementDataServiceDataKey, "kCBAdvDataServiceData")
  t.equal(
    "CBAdvertisementDataManufacturerDataKey", CBAdvertisementDataManufacturerDataKey, "kCBAdvDataManufacturerData")
  t.equal(
    "CBAdvertisementDataOverflowServiceUUIDsKey", CBAdvertisementDataOverflowServiceUUIDsKey,
    "kCBAdvDataHashedServiceUUIDs")
  t.equal("CBAdvertisementDataIsConnectable", CBAdvertisementDataIsConnectable, "kCBAdvDataIsConnectable")
  t.equal(
    "CBAdvertisementDataSolicitedServiceUUIDsKey", CBAdvertisementDataSolicitedServiceUUIDsKey,
    "kCBAdvDataSolicitedServiceUUIDs")
  t.equal(
    "CBCentralManagerOptionShowPowerAlertKey", CBCentralManagerOptionShowPowerAlertKey, "kCBInitOptionShowPowerAlert")
  t.equal(
    "CBCentralManagerOptionRestoreIdentifierKey", CBCentralManagerOptionRestoreIdentifierKey,
    "kCBInitOptionRestoreIdentifier", likely: true)
  t.equal(
    "CBCentralManagerScanOptionAllowDuplicatesKey", CBCentralManagerScanOptionAllowDuplicatesKey,
    "kCBScanOptionAllowDuplicates")
  t.equal(
    "CBCentralManagerScanOptionSolicitedServiceUUIDsKey", CBCentralManagerScanOptionSolicitedServiceUUIDsKey,
    "kCBScanOptionSolicitedServiceUUIDs")
  t.equal(
    "CBConnectPeripheralOptionNotifyOnConnectionKey", CBConnectPeripheralOptionNotifyOnConnectionKey,
    "kCBConnectOptionNotifyOnConnection")
  t.equal(
    "CBConnectPeripheralOptionNotifyOnDisconnectionKey", CBConnectPeripheralOptionNotifyOnDisconnectionKey,
    "kCBConnectOptionNotifyOnDisconnection")
  t.equal(
    "CBConnectPeripheralOptionNotifyOnNotificationKey", CBConnectPeripheralOptionNotifyOnNotificationKey,
    "kCBConnectOptionNotifyOnNotification", likely: true)
  t.equal(
    "CBConnectPeripheralOptionStartDelayKey", CBConnectPeripheralOptionStartDelayKey, "kCBConnectOptionStartDelay",
    likely: true)
  #if !os(macOS)
    t.equal(
      "CBConnectPeripheralOptionEnableTransportBridgingKey", CBConnectPeripheralOptionEnableTransportBridgingKey,
      "kCBConnectOptionEnableTransportBridging")
  #endif
  #if !os(macOS)
    t.equal(
      "CBConnectPeripheralOptionRequiresANCS", CBConnectPeripheralOptionRequiresANCS, "kCBConnectOptionRequiresANCS")
  #endif
  t.equal(
    "CBConnectPeripheralOptionEnableAutoReconnect", CBConnectPeripheralOptionEnableAutoReconnect,
    "kCBConnectOptionEnableAutoReconnect")
  t.equal(
    "CBCentralManagerRestoredStatePeripheralsKey", CBCentralManagerRestoredStatePeripheralsKey, "kCBRestoredPeripherals"
  )
  t.equal(
    "CBCentralManagerRestoredStateScanServicesKey", CBCentralManagerRestoredStateScanServicesKey,
    "kCBRestoredScanServices")
  t.equal(
    "CBCentralManagerRestoredStateScanOptionsKey", CBCentralManagerRestoredStateScanOptionsKey, "kCBRestoredScanOptions"
  )
  t.equal(
    "CBPeripheralManagerOptionShowPowerAlertKey", CBPeripheralManagerOptionShowPowerAlertKey,
    "kCBInitOptionShowPowerAlert", likely: true)
  t.equal(
    "CBPeripheralManagerOptionRestoreIdentifierKey", CBPeripheralManagerOptionRestoreIdentifierKey,
    "kCBInitOptionRestoreIdentifier", likely: true)
  t.equal(
    "CBPeripheralManagerRestoredStateServicesKey", CBPeripheralManagerRestoredStateServicesKey, "kCBRestoredServices")
  t.equal(
    "CBPeripheralManagerRestoredStateAdvertisementDataKey", CBPeripheralManagerRestoredStateAdvertisementDataKey,
    "kCBRestoredAdvertisement")
}
