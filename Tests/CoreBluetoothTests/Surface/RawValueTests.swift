import CoreBluetooth
import Requirements
import Testing

/// The numbers and strings that code for Apple's systems may rely on.
@Suite struct RawValueTests {
  @Test(
    "The states of managers have Apple's numbers", .requirement("A015"),
    .symbol("CBManagerState", "CBManagerState.init(rawValue:)", "CBManagerState.poweredOn"))
  func managerState() {
    let values: [(CBManagerState, Int)] = [
      (.unknown, 0),
      (.resetting, 1),
      (.unsupported, 2),
      (.unauthorized, 3),
      (.poweredOff, 4),
      (.poweredOn, 5),
    ]
    for (value, number) in values {
      #expect(value.rawValue == number)
      #expect(CBManagerState(rawValue: number) == value)
    }
  }

  @Test(
    "The authorizations have Apple's numbers",
    .symbol("CBManagerAuthorization", "CBManagerAuthorization.init(rawValue:)", "CBManagerAuthorization.allowedAlways"))
  func managerAuthorization() {
    let values: [(CBManagerAuthorization, Int)] = [
      (.notDetermined, 0),
      (.restricted, 1),
      (.denied, 2),
      (.allowedAlways, 3),
    ]
    for (value, number) in values {
      #expect(value.rawValue == number)
      #expect(CBManagerAuthorization(rawValue: number) == value)
    }
  }

  @Test(
    "The old states of central managers have Apple's numbers",
    .symbol(
      "CBCentralManagerState", "CBCentralManagerState.init(rawValue:)", "CBCentralManagerState.unknown",
      "CBCentralManagerState.resetting", "CBCentralManagerState.unsupported", "CBCentralManagerState.unauthorized",
      "CBCentralManagerState.poweredOff", "CBCentralManagerState.poweredOn"))
  func centralManagerState() {
    let values: [(CBCentralManagerState, Int)] = [
      (.unknown, 0),
      (.resetting, 1),
      (.unsupported, 2),
      (.unauthorized, 3),
      (.poweredOff, 4),
      (.poweredOn, 5),
    ]
    for (value, number) in values {
      #expect(value.rawValue == number)
      #expect(CBCentralManagerState(rawValue: number) == value)
    }
  }

  @Test("The connection events have Apple's numbers", .symbol("CBConnectionEvent", "CBConnectionEvent.init(rawValue:)"))
  func connectionEvent() {
    let values: [(CBConnectionEvent, Int)] = [
      (.peerDisconnected, 0),
      (.peerConnected, 1),
    ]
    for (value, number) in values {
      #expect(value.rawValue == number)
      #expect(CBConnectionEvent(rawValue: number) == value)
    }
  }

  @Test(
    "The states of peripherals have Apple's numbers",
    .symbol(
      "CBPeripheralState", "CBPeripheralState.init(rawValue:)", "CBPeripheralState.disconnected",
      "CBPeripheralState.connecting", "CBPeripheralState.connected", "CBPeripheralState.disconnecting"))
  func peripheralState() {
    let values: [(CBPeripheralState, Int)] = [
      (.disconnected, 0),
      (.connecting, 1),
      (.connected, 2),
      (.disconnecting, 3),
    ]
    for (value, number) in values {
      #expect(value.rawValue == number)
      #expect(CBPeripheralState(rawValue: number) == value)
    }
  }

  @Test(
    "The kinds of write have Apple's numbers",
    .symbol(
      "CBCharacteristicWriteType", "CBCharacteristicWriteType.init(rawValue:)",
      "CBCharacteristicWriteType.withResponse", "CBCharacteristicWriteType.withoutResponse"))
  func characteristicWriteType() {
    let values: [(CBCharacteristicWriteType, Int)] = [
      (.withResponse, 0),
      (.withoutResponse, 1),
    ]
    for (value, number) in values {
      #expect(value.rawValue == number)
      #expect(CBCharacteristicWriteType(rawValue: number) == value)
    }
  }

  @Test(
    "The connection latencies have Apple's numbers",
    .symbol(
      "CBPeripheralManagerConnectionLatency", "CBPeripheralManagerConnectionLatency.init(rawValue:)",
      "CBPeripheralManagerConnectionLatency.low", "CBPeripheralManagerConnectionLatency.medium",
      "CBPeripheralManagerConnectionLatency.high"))
  func peripheralManagerConnectionLatency() {
    let values: [(CBPeripheralManagerConnectionLatency, Int)] = [
      (.low, 0),
      (.medium, 1),
      (.high, 2),
    ]
    for (value, number) in values {
      #expect(value.rawValue == number)
      #expect(CBPeripheralManagerConnectionLatency(rawValue: number) == value)
    }
  }

  @Test(
    "The old authorizations have Apple's numbers",
    .symbol(
      "CBPeripheralManagerAuthorizationStatus", "CBPeripheralManagerAuthorizationStatus.init(rawValue:)",
      "CBPeripheralManagerAuthorizationStatus.authorized"))
  func peripheralManagerAuthorizationStatus() {
    let values: [(CBPeripheralManagerAuthorizationStatus, Int)] = [
      (.notDetermined, 0),
      (.restricted, 1),
      (.denied, 2),
      (.authorized, 3),
    ]
    for (value, number) in values {
      #expect(value.rawValue == number)
      #expect(CBPeripheralManagerAuthorizationStatus(rawValue: number) == value)
    }
  }

  @Test(
    "The old states of peripheral managers have Apple's numbers",
    .symbol(
      "CBPeripheralManagerState", "CBPeripheralManagerState.init(rawValue:)", "CBPeripheralManagerState.unknown",
      "CBPeripheralManagerState.resetting", "CBPeripheralManagerState.unsupported",
      "CBPeripheralManagerState.unauthorized", "CBPeripheralManagerState.poweredOff",
      "CBPeripheralManagerState.poweredOn"))
  func peripheralManagerState() {
    let values: [(CBPeripheralManagerState, Int)] = [
      (.unknown, 0),
      (.resetting, 1),
      (.unsupported, 2),
      (.unauthorized, 3),
      (.poweredOff, 4),
      (.poweredOn, 5),
    ]
    for (value, number) in values {
      #expect(value.rawValue == number)
      #expect(CBPeripheralManagerState(rawValue: number) == value)
    }
  }

  @Test(
    "The codes of CBError have Apple's numbers", .requirement("A067"),
    .symbol(
      "CBError.Code", "CBError.Code.init(rawValue:)", "CBError.Code.unknown", "CBError.Code.invalidParameters",
      "CBError.Code.invalidHandle", "CBError.Code.notConnected", "CBError.Code.outOfSpace",
      "CBError.Code.operationCancelled", "CBError.Code.connectionTimeout", "CBError.Code.peripheralDisconnected",
      "CBError.Code.uuidNotAllowed", "CBError.Code.alreadyAdvertising", "CBError.Code.connectionFailed",
      "CBError.Code.connectionLimitReached", "CBError.Code.unkownDevice", "CBError.Code.operationNotSupported",
      "CBError.Code.unknownDevice"))
  func errorCode() {
    let values: [(CBError.Code, Int)] = [
      (.unknown, 0),
      (.invalidParameters, 1),
      (.invalidHandle, 2),
      (.notConnected, 3),
      (.outOfSpace, 4),
      (.operationCancelled, 5),
      (.connectionTimeout, 6),
      (.peripheralDisconnected, 7),
      (.uuidNotAllowed, 8),
      (.alreadyAdvertising, 9),
      (.connectionFailed, 10),
      (.connectionLimitReached, 11),
      (.unkownDevice, 12),
      (.operationNotSupported, 13),
      (.peerRemovedPairingInformation, 14),
      (.encryptionTimedOut, 15),
      (.tooManyLEPairedDevices, 16),
      (.leGattExceededBackgroundNotificationLimit, 17),
      (.leGattNearBackgroundNotificationLimit, 18),
    ]
    for (value, number) in values {
      #expect(value.rawValue == number)
      #expect(CBError.Code(rawValue: number) == value)
    }
  }

  @Test(
    "The codes for channel sounding have numbers after Apple's, and are members of CBError",
    .symbol("CBError.Code.channelSoundingConfigurationFailed", "CBError.Code.channelSoundingProcedureFailed"))
  func channelSoundingCodes() {
    let values: [(CBError.Code, CBError.Code, Int)] = [
      (.channelSoundingConfigurationFailed, CBError.channelSoundingConfigurationFailed, 19),
      (.channelSoundingProcedureFailed, CBError.channelSoundingProcedureFailed, 20),
    ]
    for (value, member, number) in values {
      #expect(value.rawValue == number && member == value)
      #expect(CBError.Code(rawValue: number) == value)
    }
  }

  @Test(
    "The role of a channel sounding session has the number 0, and no object of an app has a valid distance",
    .symbol(
      "CBChannelSoundingSessionConfiguration", "CBChannelSoundingSessionConfiguration.Role",
      "CBChannelSoundingSessionConfiguration.Role.init(rawValue:)",
      "CBChannelSoundingSessionConfiguration.Role.initiator", "CBChannelSoundingSessionConfiguration.init(role:)",
      "CBChannelSoundingProcedureResults", "CBChannelSoundingProcedureResults.distance"))
  func channelSoundingTypes() {
    let role = CBChannelSoundingSessionConfiguration.Role.initiator
    #expect(role.rawValue == 0 && CBChannelSoundingSessionConfiguration.Role(rawValue: 0) == role)
    #expect("\(CBChannelSoundingSessionConfiguration(role: role))".contains("role = initiator"))
    #expect(CBChannelSoundingProcedureResults().distance < 0)
  }

  @Test(
    "The codes of CBATTError have Apple's numbers", .requirement("A062", "K053"),
    .symbol(
      "CBATTError.Code", "CBATTError.Code.success", "CBATTError.Code.invalidHandle", "CBATTError.Code.readNotPermitted",
      "CBATTError.Code.writeNotPermitted", "CBATTError.Code.invalidPdu", "CBATTError.Code.insufficientAuthentication",
      "CBATTError.Code.requestNotSupported", "CBATTError.Code.invalidOffset",
      "CBATTError.Code.insufficientAuthorization", "CBATTError.Code.prepareQueueFull",
      "CBATTError.Code.attributeNotFound", "CBATTError.Code.attributeNotLong",
      "CBATTError.Code.insufficientEncryptionKeySize", "CBATTError.Code.invalidAttributeValueLength",
      "CBATTError.Code.unlikelyError", "CBATTError.Code.insufficientEncryption", "CBATTError.Code.unsupportedGroupType",
      "CBATTError.Code.insufficientResources"))
  func aTTErrorCode() {
    let values: [(CBATTError.Code, Int)] = [
      (.success, 0),
      (.invalidHandle, 1),
      (.readNotPermitted, 2),
      (.writeNotPermitted, 3),
      (.invalidPdu, 4),
      (.insufficientAuthentication, 5),
      (.requestNotSupported, 6),
      (.invalidOffset, 7),
      (.insufficientAuthorization, 8),
      (.prepareQueueFull, 9),
      (.attributeNotFound, 10),
      (.attributeNotLong, 11),
      (.insufficientEncryptionKeySize, 12),
      (.invalidAttributeValueLength, 13),
      (.unlikelyError, 14),
      (.insufficientEncryption, 15),
      (.unsupportedGroupType, 16),
      (.insufficientResources, 17),
    ]
    for (value, number) in values {
      #expect(value.rawValue == number)
      #expect(CBATTError.Code(rawValue: number) == value)
    }
  }

  @Test(
    "Every code is also a member of CBError", .requirement("A067"),
    .symbol(
      "CBError.unknown", "CBError.invalidParameters", "CBError.invalidHandle", "CBError.notConnected",
      "CBError.outOfSpace", "CBError.operationCancelled", "CBError.connectionTimeout", "CBError.peripheralDisconnected",
      "CBError.uuidNotAllowed", "CBError.alreadyAdvertising", "CBError.connectionFailed",
      "CBError.connectionLimitReached", "CBError.unkownDevice", "CBError.operationNotSupported",
      "CBError.unknownDevice", "CBError.errorDomain", "CBErrorDomain"))
  func errorMembers() {
    let values: [(CBError.Code, Int)] = [
      (CBError.unknown, 0),
      (CBError.invalidParameters, 1),
      (CBError.invalidHandle, 2),
      (CBError.notConnected, 3),
      (CBError.outOfSpace, 4),
      (CBError.operationCancelled, 5),
      (CBError.connectionTimeout, 6),
      (CBError.peripheralDisconnected, 7),
      (CBError.uuidNotAllowed, 8),
      (CBError.alreadyAdvertising, 9),
      (CBError.connectionFailed, 10),
      (CBError.connectionLimitReached, 11),
      (CBError.unkownDevice, 12),
      (CBError.operationNotSupported, 13),
      (CBError.peerRemovedPairingInformation, 14),
      (CBError.encryptionTimedOut, 15),
      (CBError.tooManyLEPairedDevices, 16),
      (CBError.leGattExceededBackgroundNotificationLimit, 17),
      (CBError.leGattNearBackgroundNotificationLimit, 18),
      (CBError.unknownDevice, 12),
    ]
    for (value, number) in values { #expect(value.rawValue == number) }
    #expect(CBError.errorDomain == "CBErrorDomain")
    #expect(CBErrorDomain == "CBErrorDomain")
  }

  @Test(
    "Every code is also a member of CBATTError", .requirement("A062"),
    .symbol(
      "CBATTError.success", "CBATTError.invalidHandle", "CBATTError.readNotPermitted", "CBATTError.writeNotPermitted",
      "CBATTError.invalidPdu", "CBATTError.insufficientAuthentication", "CBATTError.requestNotSupported",
      "CBATTError.invalidOffset", "CBATTError.insufficientAuthorization", "CBATTError.prepareQueueFull",
      "CBATTError.attributeNotFound", "CBATTError.attributeNotLong", "CBATTError.insufficientEncryptionKeySize",
      "CBATTError.invalidAttributeValueLength", "CBATTError.unlikelyError", "CBATTError.insufficientEncryption",
      "CBATTError.unsupportedGroupType", "CBATTError.insufficientResources", "CBATTError.errorDomain",
      "CBATTErrorDomain"))
  func aTTErrorMembers() {
    let values: [(CBATTError.Code, Int)] = [
      (CBATTError.success, 0),
      (CBATTError.invalidHandle, 1),
      (CBATTError.readNotPermitted, 2),
      (CBATTError.writeNotPermitted, 3),
      (CBATTError.invalidPdu, 4),
      (CBATTError.insufficientAuthentication, 5),
      (CBATTError.requestNotSupported, 6),
      (CBATTError.invalidOffset, 7),
      (CBATTError.insufficientAuthorization, 8),
      (CBATTError.prepareQueueFull, 9),
      (CBATTError.attributeNotFound, 10),
      (CBATTError.attributeNotLong, 11),
      (CBATTError.insufficientEncryptionKeySize, 12),
      (CBATTError.invalidAttributeValueLength, 13),
      (CBATTError.unlikelyError, 14),
      (CBATTError.insufficientEncryption, 15),
      (CBATTError.unsupportedGroupType, 16),
      (CBATTError.insufficientResources, 17),
    ]
    for (value, number) in values { #expect(value.rawValue == number) }
    #expect(CBATTError.errorDomain == "CBATTErrorDomain")
    #expect(CBATTErrorDomain == "CBATTErrorDomain")
  }

  @Test(
    "The features of central managers have Apple's bits",
    .symbol(
      "CBCentralManager.Feature", "CBCentralManager.Feature.init(rawValue:)",
      "CBCentralManager.Feature.extendedScanAndConnect", "CBCentralManager.Feature.channelSounding"))
  func centralManagerFeature() {
    let values: [(CBCentralManager.Feature, UInt)] = [
      (.extendedScanAndConnect, 0x1),
      (.privacyFeature, 0x2),
      (.channelSounding, 0x400),
    ]
    for (value, bits) in values { #expect(value.rawValue == bits) }
    #expect(CBCentralManager.Feature(rawValue: 3) == [.extendedScanAndConnect, .privacyFeature])
  }

  @Test(
    "The properties of characteristics have Apple's bits",
    .symbol("CBCharacteristicProperties", "CBCharacteristicProperties.init(rawValue:)"))
  func characteristicProperties() {
    let values: [(CBCharacteristicProperties, UInt)] = [
      (.broadcast, 0x1),
      (.read, 0x2),
      (.writeWithoutResponse, 0x4),
      (.write, 0x8),
      (.notify, 0x10),
      (.indicate, 0x20),
      (.authenticatedSignedWrites, 0x40),
      (.extendedProperties, 0x80),
      (.notifyEncryptionRequired, 0x100),
      (.indicateEncryptionRequired, 0x200),
    ]
    for (value, bits) in values { #expect(value.rawValue == bits) }
    #expect(CBCharacteristicProperties(rawValue: 3) == [.broadcast, .read])
  }

  @Test(
    "The permissions of attributes have Apple's bits",
    .symbol("CBAttributePermissions", "CBAttributePermissions.init(rawValue:)"))
  func attributePermissions() {
    let values: [(CBAttributePermissions, UInt)] = [
      (.readable, 0x1),
      (.writeable, 0x2),
      (.readEncryptionRequired, 0x4),
      (.writeEncryptionRequired, 0x8),
    ]
    for (value, bits) in values { #expect(value.rawValue == bits) }
    #expect(CBAttributePermissions(rawValue: 3) == [.readable, .writeable])
  }

  @Test(
    "The constants have Apple's strings",
    .symbol(
      "CBConnectionEventMatchingOption", "CBConnectionEventMatchingOption.init(rawValue:)",
      "CBUUIDCharacteristicExtendedPropertiesString", "CBUUIDCharacteristicUserDescriptionString",
      "CBUUIDClientCharacteristicConfigurationString", "CBUUIDServerCharacteristicConfigurationString",
      "CBUUIDCharacteristicFormatString", "CBUUIDCharacteristicAggregateFormatString",
      "CBUUIDCharacteristicValidRangeString", "CBUUIDCharacteristicObservationScheduleString"))
  func constants() {
    let values: [(String, String)] = [
      (CBUUIDCharacteristicExtendedPropertiesString, "2900"),
      (CBUUIDCharacteristicUserDescriptionString, "2901"),
      (CBUUIDClientCharacteristicConfigurationString, "2902"),
      (CBUUIDServerCharacteristicConfigurationString, "2903"),
      (CBUUIDCharacteristicFormatString, "2904"),
      (CBUUIDCharacteristicAggregateFormatString, "2905"),
      (CBUUIDCharacteristicValidRangeString, "2906"),
      (CBUUIDCharacteristicObservationScheduleString, "2910"),
      (CBUUIDL2CAPPSMCharacteristicString, "ABDD3056-28FA-441D-A470-55A75A52553A"),
      (CBAdvertisementDataLocalNameKey, "kCBAdvDataLocalName"),
      (CBAdvertisementDataTxPowerLevelKey, "kCBAdvDataTxPowerLevel"),
      (CBAdvertisementDataServiceUUIDsKey, "kCBAdvDataServiceUUIDs"),
      (CBAdvertisementDataServiceDataKey, "kCBAdvDataServiceData"),
      (CBAdvertisementDataManufacturerDataKey, "kCBAdvDataManufacturerData"),
      (CBAdvertisementDataOverflowServiceUUIDsKey, "kCBAdvDataHashedServiceUUIDs"),
      (CBAdvertisementDataIsConnectable, "kCBAdvDataIsConnectable"),
      (CBAdvertisementDataSolicitedServiceUUIDsKey, "kCBAdvDataSolicitedServiceUUIDs"),
      (CBCentralManagerOptionShowPowerAlertKey, "kCBInitOptionShowPowerAlert"),
      (CBCentralManagerOptionRestoreIdentifierKey, "kCBInitOptionRestoreIdentifier"),
      (CBCentralManagerScanOptionAllowDuplicatesKey, "kCBScanOptionAllowDuplicates"),
      (CBCentralManagerScanOptionSolicitedServiceUUIDsKey, "kCBScanOptionSolicitedServiceUUIDs"),
      (CBConnectPeripheralOptionNotifyOnConnectionKey, "kCBConnectOptionNotifyOnConnection"),
      (CBConnectPeripheralOptionNotifyOnDisconnectionKey, "kCBConnectOptionNotifyOnDisconnection"),
      (CBConnectPeripheralOptionNotifyOnNotificationKey, "kCBConnectOptionNotifyOnNotification"),
      (CBConnectPeripheralOptionStartDelayKey, "kCBConnectOptionStartDelay"),
      (CBConnectPeripheralOptionEnableTransportBridgingKey, "kCBConnectOptionEnableTransportBridging"),
      (CBConnectPeripheralOptionRequiresANCS, "kCBConnectOptionRequiresANCS"),
      (CBConnectPeripheralOptionEnableAutoReconnect, "kCBConnectOptionEnableAutoReconnect"),
      (CBCentralManagerRestoredStatePeripheralsKey, "kCBRestoredPeripherals"),
      (CBCentralManagerRestoredStateScanServicesKey, "kCBRestoredScanServices"),
      (CBCentralManagerRestoredStateScanOptionsKey, "kCBRestoredScanOptions"),
      (CBPeripheralManagerOptionShowPowerAlertKey, "kCBInitOptionShowPowerAlert"),
      (CBPeripheralManagerOptionRestoreIdentifierKey, "kCBInitOptionRestoreIdentifier"),
      (CBPeripheralManagerRestoredStateServicesKey, "kCBRestoredServices"),
      (CBPeripheralManagerRestoredStateAdvertisementDataKey, "kCBRestoredAdvertisement"),
    ]
    for (constant, text) in values { #expect(constant == text) }
    #expect(CBCentralManagerOptionDeviceAccessForMedia == "kCBInitOptionDeviceAccessForMedia")
    #expect(CBConnectionEventMatchingOption.serviceUUIDs.rawValue == "kCBConnectionEventMatchingOptionServiceUUIDs")
    #expect(
      CBConnectionEventMatchingOption.peripheralUUIDs.rawValue == "kCBConnectionEventMatchingOptionPeripheralUUIDs")
    #expect(
      CBConnectionEventMatchingOption(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs") == .serviceUUIDs)
  }
}
