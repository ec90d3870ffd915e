import CoreBluetooth

// Compile-time checks for area "Error". Each line names one symbol with its exact type.
func check_Error() {
  // CBError
  requireError(CBError.self)
  // CBError.Code
  requireEnum(CBError.Code.self)
  let _: (Error) -> Bool = { CBError.Code(rawValue: 1)! ~= $0 }
  // CBError.Code.init(rawValue:)
  let _: (Int) -> CBError.Code? = CBError.Code.init(rawValue:)
  // CBError.Code.unknown
  let _: CBError.Code = .unknown
  // CBError.Code.invalidParameters
  let _: CBError.Code = .invalidParameters
  // CBError.Code.invalidHandle
  let _: CBError.Code = .invalidHandle
  // CBError.Code.notConnected
  let _: CBError.Code = .notConnected
  // CBError.Code.outOfSpace
  let _: CBError.Code = .outOfSpace
  // CBError.Code.operationCancelled
  let _: CBError.Code = .operationCancelled
  // CBError.Code.connectionTimeout
  let _: CBError.Code = .connectionTimeout
  // CBError.Code.peripheralDisconnected
  let _: CBError.Code = .peripheralDisconnected
  // CBError.Code.uuidNotAllowed
  let _: CBError.Code = .uuidNotAllowed
  // CBError.Code.alreadyAdvertising
  let _: CBError.Code = .alreadyAdvertising
  // CBError.Code.connectionFailed
  let _: CBError.Code = .connectionFailed
  // CBError.Code.connectionLimitReached
  let _: CBError.Code = .connectionLimitReached
  // CBError.Code.unkownDevice
  let _: CBError.Code = .unkownDevice
  // CBError.Code.operationNotSupported
  let _: CBError.Code = .operationNotSupported
  // CBError.Code.peerRemovedPairingInformation
  let _: CBError.Code = .peerRemovedPairingInformation
  // CBError.Code.encryptionTimedOut
  let _: CBError.Code = .encryptionTimedOut
  // CBError.Code.tooManyLEPairedDevices
  let _: CBError.Code = .tooManyLEPairedDevices
  // CBError.Code.leGattExceededBackgroundNotificationLimit
  #if !canImport(Darwin) || os(watchOS)
    let _: CBError.Code = .leGattExceededBackgroundNotificationLimit
  #endif
  // CBError.Code.leGattNearBackgroundNotificationLimit
  #if !canImport(Darwin) || os(watchOS)
    let _: CBError.Code = .leGattNearBackgroundNotificationLimit
  #endif
  // CBError.Code.unknownDevice
  let _: CBError.Code = .unknownDevice
  // CBError.Code.channelSoundingConfigurationFailed
  #if CB_IOS27
    let _: CBError.Code = .channelSoundingConfigurationFailed
    let _: CBError.Code = CBError.channelSoundingConfigurationFailed
  #endif
  // CBError.Code.channelSoundingProcedureFailed
  #if CB_IOS27
    let _: CBError.Code = .channelSoundingProcedureFailed
    let _: CBError.Code = CBError.channelSoundingProcedureFailed
  #endif
  // CBError.unknown
  let _: CBError.Code = CBError.unknown
  // CBError.invalidParameters
  let _: CBError.Code = CBError.invalidParameters
  // CBError.invalidHandle
  let _: CBError.Code = CBError.invalidHandle
  // CBError.notConnected
  let _: CBError.Code = CBError.notConnected
  // CBError.outOfSpace
  let _: CBError.Code = CBError.outOfSpace
  // CBError.operationCancelled
  let _: CBError.Code = CBError.operationCancelled
  // CBError.connectionTimeout
  let _: CBError.Code = CBError.connectionTimeout
  // CBError.peripheralDisconnected
  let _: CBError.Code = CBError.peripheralDisconnected
  // CBError.uuidNotAllowed
  let _: CBError.Code = CBError.uuidNotAllowed
  // CBError.alreadyAdvertising
  let _: CBError.Code = CBError.alreadyAdvertising
  // CBError.connectionFailed
  let _: CBError.Code = CBError.connectionFailed
  // CBError.connectionLimitReached
  let _: CBError.Code = CBError.connectionLimitReached
  // CBError.unkownDevice
  let _: CBError.Code = CBError.unkownDevice
  // CBError.operationNotSupported
  let _: CBError.Code = CBError.operationNotSupported
  // CBError.peerRemovedPairingInformation
  let _: CBError.Code = CBError.peerRemovedPairingInformation
  // CBError.encryptionTimedOut
  let _: CBError.Code = CBError.encryptionTimedOut
  // CBError.tooManyLEPairedDevices
  let _: CBError.Code = CBError.tooManyLEPairedDevices
  // CBError.leGattExceededBackgroundNotificationLimit
  #if !canImport(Darwin) || os(watchOS)
    let _: CBError.Code = CBError.leGattExceededBackgroundNotificationLimit
  #endif
  // CBError.leGattNearBackgroundNotificationLimit
  #if !canImport(Darwin) || os(watchOS)
    let _: CBError.Code = CBError.leGattNearBackgroundNotificationLimit
  #endif
  // CBError.unknownDevice
  let _: CBError.Code = CBError.unknownDevice
  // CBError.init(_:userInfo:)
  let _: (CBError.Code, [String: Any]) -> CBError = CBError.init(_:userInfo:)
  let _: (CBError.Code) -> CBError = { CBError($0) }
  // CBError.code
  let _: KeyPath<CBError, CBError.Code> = \CBError.code
  // CBError.errorCode
  let _: KeyPath<CBError, Int> = \CBError.errorCode
  // CBError.errorUserInfo
  let _: KeyPath<CBError, [String: Any]> = \CBError.errorUserInfo
  // CBError.userInfo
  let _: KeyPath<CBError, [String: Any]> = \CBError.userInfo
  // CBError.localizedDescription
  let _: KeyPath<CBError, String> = \CBError.localizedDescription
  // CBError.errorDomain
  let _: String = CBError.errorDomain
  // CBErrorDomain
  let _: String = CBErrorDomain
  // CBATTError
  requireError(CBATTError.self)
  // CBATTError.Code
  requireEnum(CBATTError.Code.self)
  let _: (Error) -> Bool = { CBATTError.Code(rawValue: 1)! ~= $0 }
  // CBATTError.Code.init(rawValue:)
  let _: (Int) -> CBATTError.Code? = CBATTError.Code.init(rawValue:)
  // CBATTError.Code.success
  let _: CBATTError.Code = .success
  // CBATTError.Code.invalidHandle
  let _: CBATTError.Code = .invalidHandle
  // CBATTError.Code.readNotPermitted
  let _: CBATTError.Code = .readNotPermitted
  // CBATTError.Code.writeNotPermitted
  let _: CBATTError.Code = .writeNotPermitted
  // CBATTError.Code.invalidPdu
  let _: CBATTError.Code = .invalidPdu
  // CBATTError.Code.insufficientAuthentication
  let _: CBATTError.Code = .insufficientAuthentication
  // CBATTError.Code.requestNotSupported
  let _: CBATTError.Code = .requestNotSupported
  // CBATTError.Code.invalidOffset
  let _: CBATTError.Code = .invalidOffset
  // CBATTError.Code.insufficientAuthorization
  let _: CBATTError.Code = .insufficientAuthorization
  // CBATTError.Code.prepareQueueFull
  let _: CBATTError.Code = .prepareQueueFull
  // CBATTError.Code.attributeNotFound
  let _: CBATTError.Code = .attributeNotFound
  // CBATTError.Code.attributeNotLong
  let _: CBATTError.Code = .attributeNotLong
  // CBATTError.Code.insufficientEncryptionKeySize
  let _: CBATTError.Code = .insufficientEncryptionKeySize
  // CBATTError.Code.invalidAttributeValueLength
  let _: CBATTError.Code = .invalidAttributeValueLength
  // CBATTError.Code.unlikelyError
  let _: CBATTError.Code = .unlikelyError
  // CBATTError.Code.insufficientEncryption
  let _: CBATTError.Code = .insufficientEncryption
  // CBATTError.Code.unsupportedGroupType
  let _: CBATTError.Code = .unsupportedGroupType
  // CBATTError.Code.insufficientResources
  let _: CBATTError.Code = .insufficientResources
  // CBATTError.success
  let _: CBATTError.Code = CBATTError.success
  // CBATTError.invalidHandle
  let _: CBATTError.Code = CBATTError.invalidHandle
  // CBATTError.readNotPermitted
  let _: CBATTError.Code = CBATTError.readNotPermitted
  // CBATTError.writeNotPermitted
  let _: CBATTError.Code = CBATTError.writeNotPermitted
  // CBATTError.invalidPdu
  let _: CBATTError.Code = CBATTError.invalidPdu
  // CBATTError.insufficientAuthentication
  let _: CBATTError.Code = CBATTError.insufficientAuthentication
  // CBATTError.requestNotSupported
  let _: CBATTError.Code = CBATTError.requestNotSupported
  // CBATTError.invalidOffset
  let _: CBATTError.Code = CBATTError.invalidOffset
  // CBATTError.insufficientAuthorization
  let _: CBATTError.Code = CBATTError.insufficientAuthorization
  // CBATTError.prepareQueueFull
  let _: CBATTError.Code = CBATTError.prepareQueueFull
  // CBATTError.attributeNotFound
  let _: CBATTError.Code = CBATTError.attributeNotFound
  // CBATTError.attributeNotLong
  let _: CBATTError.Code = CBATTError.attributeNotLong
  // CBATTError.insufficientEncryptionKeySize
  let _: CBATTError.Code = CBATTError.insufficientEncryptionKeySize
  // CBATTError.invalidAttributeValueLength
  let _: CBATTError.Code = CBATTError.invalidAttributeValueLength
  // CBATTError.unlikelyError
  let _: CBATTError.Code = CBATTError.unlikelyError
  // CBATTError.insufficientEncryption
  let _: CBATTError.Code = CBATTError.insufficientEncryption
  // CBATTError.unsupportedGroupType
  let _: CBATTError.Code = CBATTError.unsupportedGroupType
  // CBATTError.insufficientResources
  let _: CBATTError.Code = CBATTError.insufficientResources
  // CBATTError.init(_:userInfo:)
  let _: (CBATTError.Code, [String: Any]) -> CBATTError = CBATTError.init(_:userInfo:)
  let _: (CBATTError.Code) -> CBATTError = { CBATTError($0) }
  // CBATTError.code
  let _: KeyPath<CBATTError, CBATTError.Code> = \CBATTError.code
  // CBATTError.errorCode
  let _: KeyPath<CBATTError, Int> = \CBATTError.errorCode
  // CBATTError.errorUserInfo
  let _: KeyPath<CBATTError, [String: Any]> = \CBATTError.errorUserInfo
  // CBATTError.userInfo
  let _: KeyPath<CBATTError, [String: Any]> = \CBATTError.userInfo
  // CBATTError.localizedDescription
  let _: KeyPath<CBATTError, String> = \CBATTError.localizedDescription
  // CBATTError.errorDomain
  let _: String = CBATTError.errorDomain
  // CBATTErrorDomain
  let _: String = CBATTErrorDomain
}
