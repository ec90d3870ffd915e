extension HCI {
  /// An error code of the controller · Vol 1, Part F. Any octet can arrive; only the codes that this project uses
  /// have names.
  package struct ErrorCode: RawRepresentable, Hashable, Sendable, Error {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let success = ErrorCode(rawValue: 0x00)
    package static let unknownHCICommand = ErrorCode(rawValue: 0x01)
    package static let unknownConnectionIdentifier = ErrorCode(rawValue: 0x02)
    package static let hardwareFailure = ErrorCode(rawValue: 0x03)
    package static let authenticationFailure = ErrorCode(rawValue: 0x05)
    package static let pinOrKeyMissing = ErrorCode(rawValue: 0x06)
    package static let memoryCapacityExceeded = ErrorCode(rawValue: 0x07)
    package static let connectionTimeout = ErrorCode(rawValue: 0x08)
    package static let connectionLimitExceeded = ErrorCode(rawValue: 0x09)
    package static let connectionAlreadyExists = ErrorCode(rawValue: 0x0B)
    package static let commandDisallowed = ErrorCode(rawValue: 0x0C)
    package static let connectionRejectedLimitedResources = ErrorCode(rawValue: 0x0D)
    package static let unsupportedFeatureOrParameterValue = ErrorCode(rawValue: 0x11)
    package static let invalidHCICommandParameters = ErrorCode(rawValue: 0x12)
    package static let remoteUserTerminatedConnection = ErrorCode(rawValue: 0x13)
    package static let remoteDeviceTerminatedLowResources = ErrorCode(rawValue: 0x14)
    package static let remoteDeviceTerminatedPowerOff = ErrorCode(rawValue: 0x15)
    package static let connectionTerminatedByLocalHost = ErrorCode(rawValue: 0x16)
    package static let unsupportedRemoteFeature = ErrorCode(rawValue: 0x1A)
    package static let invalidLLParameters = ErrorCode(rawValue: 0x1E)
    package static let unspecifiedError = ErrorCode(rawValue: 0x1F)
    package static let unsupportedLLParameterValue = ErrorCode(rawValue: 0x20)
    package static let llResponseTimeout = ErrorCode(rawValue: 0x22)
    package static let llProcedureCollision = ErrorCode(rawValue: 0x23)
    package static let lmpPDUNotAllowed = ErrorCode(rawValue: 0x24)
    package static let instantPassed = ErrorCode(rawValue: 0x28)
    package static let differentTransactionCollision = ErrorCode(rawValue: 0x2A)
    package static let controllerBusy = ErrorCode(rawValue: 0x3A)
    package static let unacceptableConnectionParameters = ErrorCode(rawValue: 0x3B)
    package static let advertisingTimeout = ErrorCode(rawValue: 0x3C)
    package static let connectionTerminatedMICFailure = ErrorCode(rawValue: 0x3D)
    package static let connectionFailedToBeEstablished = ErrorCode(rawValue: 0x3E)
    package static let unknownAdvertisingIdentifier = ErrorCode(rawValue: 0x42)
    package static let limitReached = ErrorCode(rawValue: 0x43)
    package static let operationCancelledByHost = ErrorCode(rawValue: 0x44)
    package static let packetTooLong = ErrorCode(rawValue: 0x45)
  }
}

extension HCI.ErrorCode: CustomStringConvertible {
  package var description: String { "0x" + rawValue.hexadecimal }
}
