import CoreBluetooth

// Exhaustive switches. They fail to compile if a type is not an enum or lacks a case.

func switch_CBManagerState(_ v: CBManagerState) -> Int {
  switch v {
  case .unknown: return v.rawValue
  case .resetting: return v.rawValue
  case .unsupported: return v.rawValue
  case .unauthorized: return v.rawValue
  case .poweredOff: return v.rawValue
  case .poweredOn: return v.rawValue
  @unknown default: return -1
  }
}

func switch_CBManagerAuthorization(_ v: CBManagerAuthorization) -> Int {
  switch v {
  case .notDetermined: return v.rawValue
  case .restricted: return v.rawValue
  case .denied: return v.rawValue
  case .allowedAlways: return v.rawValue
  @unknown default: return -1
  }
}

func switch_CBCentralManagerState(_ v: CBCentralManagerState) -> Int {
  switch v {
  case .unknown: return v.rawValue
  case .resetting: return v.rawValue
  case .unsupported: return v.rawValue
  case .unauthorized: return v.rawValue
  case .poweredOff: return v.rawValue
  case .poweredOn: return v.rawValue
  @unknown default: return -1
  }
}

func switch_CBConnectionEvent(_ v: CBConnectionEvent) -> Int {
  switch v {
  case .peerDisconnected: return v.rawValue
  case .peerConnected: return v.rawValue
  @unknown default: return -1
  }
}

func switch_CBPeripheralState(_ v: CBPeripheralState) -> Int {
  switch v {
  case .disconnected: return v.rawValue
  case .connecting: return v.rawValue
  case .connected: return v.rawValue
  case .disconnecting: return v.rawValue
  @unknown default: return -1
  }
}

func switch_CBCharacteristicWriteType(_ v: CBCharacteristicWriteType) -> Int {
  switch v {
  case .withResponse: return v.rawValue
  case .withoutResponse: return v.rawValue
  @unknown default: return -1
  }
}

func switch_CBPeripheralManagerConnectionLatency(_ v: CBPeripheralManagerConnectionLatency) -> Int {
  switch v {
  case .low: return v.rawValue
  case .medium: return v.rawValue
  case .high: return v.rawValue
  @unknown default: return -1
  }
}

func switch_CBPeripheralManagerAuthorizationStatus(_ v: CBPeripheralManagerAuthorizationStatus) -> Int {
  switch v {
  case .notDetermined: return v.rawValue
  case .restricted: return v.rawValue
  case .denied: return v.rawValue
  case .authorized: return v.rawValue
  @unknown default: return -1
  }
}

func switch_CBPeripheralManagerState(_ v: CBPeripheralManagerState) -> Int {
  switch v {
  case .unknown: return v.rawValue
  case .resetting: return v.rawValue
  case .unsupported: return v.rawValue
  case .unauthorized: return v.rawValue
  case .poweredOff: return v.rawValue
  case .poweredOn: return v.rawValue
  @unknown default: return -1
  }
}

func switch_CBError_Code(_ v: CBError.Code) -> Int {
  switch v {
  case .unknown: return v.rawValue
  case .invalidParameters: return v.rawValue
  case .invalidHandle: return v.rawValue
  case .notConnected: return v.rawValue
  case .outOfSpace: return v.rawValue
  case .operationCancelled: return v.rawValue
  case .connectionTimeout: return v.rawValue
  case .peripheralDisconnected: return v.rawValue
  case .uuidNotAllowed: return v.rawValue
  case .alreadyAdvertising: return v.rawValue
  case .connectionFailed: return v.rawValue
  case .connectionLimitReached: return v.rawValue
  case .unkownDevice: return v.rawValue
  case .operationNotSupported: return v.rawValue
  case .peerRemovedPairingInformation: return v.rawValue
  case .encryptionTimedOut: return v.rawValue
  case .tooManyLEPairedDevices: return v.rawValue
  #if !canImport(Darwin) || os(watchOS)
    case .leGattExceededBackgroundNotificationLimit: return v.rawValue
  #endif
  #if !canImport(Darwin) || os(watchOS)
    case .leGattNearBackgroundNotificationLimit: return v.rawValue
  #endif
  @unknown default: return -1
  }
}

func switch_CBATTError_Code(_ v: CBATTError.Code) -> Int {
  switch v {
  case .success: return v.rawValue
  case .invalidHandle: return v.rawValue
  case .readNotPermitted: return v.rawValue
  case .writeNotPermitted: return v.rawValue
  case .invalidPdu: return v.rawValue
  case .insufficientAuthentication: return v.rawValue
  case .requestNotSupported: return v.rawValue
  case .invalidOffset: return v.rawValue
  case .insufficientAuthorization: return v.rawValue
  case .prepareQueueFull: return v.rawValue
  case .attributeNotFound: return v.rawValue
  case .attributeNotLong: return v.rawValue
  case .insufficientEncryptionKeySize: return v.rawValue
  case .invalidAttributeValueLength: return v.rawValue
  case .unlikelyError: return v.rawValue
  case .insufficientEncryption: return v.rawValue
  case .unsupportedGroupType: return v.rawValue
  case .insufficientResources: return v.rawValue
  @unknown default: return -1
  }
}
