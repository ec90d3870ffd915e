extension HCI.Opcode {
  package init(_ code: HCI.CommandCode) { self.init(rawValue: code.rawValue) }
  package init(group: UInt8, command: UInt16) { self.init(rawValue: UInt16(group) << 10 | command & 0x3FF) }

  /// OGF, the upper 6 bits.
  package var group: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 10) }
  /// OCF, the lower 10 bits.
  package var command: UInt16 { rawValue & 0x3FF }

  /// The opcode of no command: an event with it only updates the number of allowed commands · Vol 4, Part E, 7.7.14.
  package static let none = HCI.Opcode(rawValue: 0x0000)

  /// The command with this opcode; nil: it has no case in `CommandCode`.
  package var code: HCI.CommandCode? { HCI.CommandCode(rawValue: rawValue) }
}

extension HCI.Opcode: CustomStringConvertible {
  /// The specification's name of the command, or the opcode in hexadecimal if it has no name here.
  package var description: String { name?.description ?? "0x" + rawValue.hexadecimal }

  /// The specification's name without `HCI_`.
  package var name: StaticString? { code?.definition.name }

  /// The octet and the bit of this command in the Supported_Commands bitmap · Vol 4, Part E, 6.27; nil if it has no
  /// bit there.
  package var supportedCommandsPosition: (octet: Int, bit: Int)? { code?.definition.supportedCommandsPosition }
}

/// The opcodes of the commands in `CommandCode`.
extension HCI.Opcode {
  package static let disconnect = HCI.Opcode(.disconnect)
  package static let readRemoteVersionInformation = HCI.Opcode(.readRemoteVersionInformation)
  package static let setEventMask = HCI.Opcode(.setEventMask)
  package static let reset = HCI.Opcode(.reset)
  package static let readTransmitPowerLevel = HCI.Opcode(.readTransmitPowerLevel)
  package static let setControllerToHostFlowControl = HCI.Opcode(.setControllerToHostFlowControl)
  package static let hostBufferSize = HCI.Opcode(.hostBufferSize)
  package static let hostNumberOfCompletedPackets = HCI.Opcode(.hostNumberOfCompletedPackets)
  package static let setEventMaskPage2 = HCI.Opcode(.setEventMaskPage2)
  package static let readLEHostSupport = HCI.Opcode(.readLEHostSupport)
  package static let writeLEHostSupport = HCI.Opcode(.writeLEHostSupport)
  package static let readAuthenticatedPayloadTimeout = HCI.Opcode(.readAuthenticatedPayloadTimeout)
  package static let writeAuthenticatedPayloadTimeout = HCI.Opcode(.writeAuthenticatedPayloadTimeout)
  package static let readLocalVersionInformation = HCI.Opcode(.readLocalVersionInformation)
  package static let readLocalSupportedCommands = HCI.Opcode(.readLocalSupportedCommands)
  package static let readLocalSupportedFeatures = HCI.Opcode(.readLocalSupportedFeatures)
  package static let readLocalExtendedFeatures = HCI.Opcode(.readLocalExtendedFeatures)
  package static let readBufferSize = HCI.Opcode(.readBufferSize)
  package static let readBDADDR = HCI.Opcode(.readBDADDR)
  package static let readRSSI = HCI.Opcode(.readRSSI)
  package static let leSetEventMask = HCI.Opcode(.leSetEventMask)
  package static let leReadBufferSize = HCI.Opcode(.leReadBufferSize)
  package static let leReadLocalSupportedFeatures = HCI.Opcode(.leReadLocalSupportedFeatures)
  package static let leSetRandomAddress = HCI.Opcode(.leSetRandomAddress)
  package static let leSetAdvertisingParameters = HCI.Opcode(.leSetAdvertisingParameters)
  package static let leReadAdvertisingPhysicalChannelTxPower = HCI.Opcode(.leReadAdvertisingPhysicalChannelTxPower)
  package static let leSetAdvertisingData = HCI.Opcode(.leSetAdvertisingData)
  package static let leSetScanResponseData = HCI.Opcode(.leSetScanResponseData)
  package static let leSetAdvertisingEnable = HCI.Opcode(.leSetAdvertisingEnable)
  package static let leSetScanParameters = HCI.Opcode(.leSetScanParameters)
  package static let leSetScanEnable = HCI.Opcode(.leSetScanEnable)
  package static let leCreateConnection = HCI.Opcode(.leCreateConnection)
  package static let leCreateConnectionCancel = HCI.Opcode(.leCreateConnectionCancel)
  package static let leReadFilterAcceptListSize = HCI.Opcode(.leReadFilterAcceptListSize)
  package static let leClearFilterAcceptList = HCI.Opcode(.leClearFilterAcceptList)
  package static let leAddDeviceToFilterAcceptList = HCI.Opcode(.leAddDeviceToFilterAcceptList)
  package static let leRemoveDeviceFromFilterAcceptList = HCI.Opcode(.leRemoveDeviceFromFilterAcceptList)
  package static let leConnectionUpdate = HCI.Opcode(.leConnectionUpdate)
  package static let leSetHostChannelClassification = HCI.Opcode(.leSetHostChannelClassification)
  package static let leReadChannelMap = HCI.Opcode(.leReadChannelMap)
  package static let leReadRemoteFeatures = HCI.Opcode(.leReadRemoteFeatures)
  package static let leEncrypt = HCI.Opcode(.leEncrypt)
  package static let leRand = HCI.Opcode(.leRand)
  package static let leEnableEncryption = HCI.Opcode(.leEnableEncryption)
  package static let leLongTermKeyRequestReply = HCI.Opcode(.leLongTermKeyRequestReply)
  package static let leLongTermKeyRequestNegativeReply = HCI.Opcode(.leLongTermKeyRequestNegativeReply)
  package static let leReadSupportedStates = HCI.Opcode(.leReadSupportedStates)
  package static let leReceiverTest = HCI.Opcode(.leReceiverTest)
  package static let leTransmitterTest = HCI.Opcode(.leTransmitterTest)
  package static let leTestEnd = HCI.Opcode(.leTestEnd)
  package static let leRemoteConnectionParameterRequestReply = HCI.Opcode(.leRemoteConnectionParameterRequestReply)
  package static let leRemoteConnectionParameterRequestNegativeReply = HCI.Opcode(
    .leRemoteConnectionParameterRequestNegativeReply)
  package static let leSetDataLength = HCI.Opcode(.leSetDataLength)
  package static let leReadSuggestedDefaultDataLength = HCI.Opcode(.leReadSuggestedDefaultDataLength)
  package static let leWriteSuggestedDefaultDataLength = HCI.Opcode(.leWriteSuggestedDefaultDataLength)
  package static let leReadLocalP256PublicKey = HCI.Opcode(.leReadLocalP256PublicKey)
  package static let leGenerateDHKey = HCI.Opcode(.leGenerateDHKey)
  package static let leAddDeviceToResolvingList = HCI.Opcode(.leAddDeviceToResolvingList)
  package static let leRemoveDeviceFromResolvingList = HCI.Opcode(.leRemoveDeviceFromResolvingList)
  package static let leClearResolvingList = HCI.Opcode(.leClearResolvingList)
  package static let leReadResolvingListSize = HCI.Opcode(.leReadResolvingListSize)
  package static let leReadPeerResolvableAddress = HCI.Opcode(.leReadPeerResolvableAddress)
  package static let leReadLocalResolvableAddress = HCI.Opcode(.leReadLocalResolvableAddress)
  package static let leSetAddressResolutionEnable = HCI.Opcode(.leSetAddressResolutionEnable)
  package static let leSetResolvablePrivateAddressTimeout = HCI.Opcode(.leSetResolvablePrivateAddressTimeout)
  package static let leReadMaximumDataLength = HCI.Opcode(.leReadMaximumDataLength)
  package static let leReadPHY = HCI.Opcode(.leReadPHY)
  package static let leSetDefaultPHY = HCI.Opcode(.leSetDefaultPHY)
  package static let leSetPHY = HCI.Opcode(.leSetPHY)
  package static let leSetAdvertisingSetRandomAddress = HCI.Opcode(.leSetAdvertisingSetRandomAddress)
  package static let leSetExtendedAdvertisingParameters = HCI.Opcode(.leSetExtendedAdvertisingParameters)
  package static let leSetExtendedAdvertisingData = HCI.Opcode(.leSetExtendedAdvertisingData)
  package static let leSetExtendedScanResponseData = HCI.Opcode(.leSetExtendedScanResponseData)
  package static let leSetExtendedAdvertisingEnable = HCI.Opcode(.leSetExtendedAdvertisingEnable)
  package static let leReadMaximumAdvertisingDataLength = HCI.Opcode(.leReadMaximumAdvertisingDataLength)
  package static let leReadNumberOfSupportedAdvertisingSets = HCI.Opcode(.leReadNumberOfSupportedAdvertisingSets)
  package static let leRemoveAdvertisingSet = HCI.Opcode(.leRemoveAdvertisingSet)
  package static let leClearAdvertisingSets = HCI.Opcode(.leClearAdvertisingSets)
  package static let leSetPeriodicAdvertisingParameters = HCI.Opcode(.leSetPeriodicAdvertisingParameters)
  package static let leSetPeriodicAdvertisingData = HCI.Opcode(.leSetPeriodicAdvertisingData)
  package static let leSetPeriodicAdvertisingEnable = HCI.Opcode(.leSetPeriodicAdvertisingEnable)
  package static let leSetExtendedScanParameters = HCI.Opcode(.leSetExtendedScanParameters)
  package static let leSetExtendedScanEnable = HCI.Opcode(.leSetExtendedScanEnable)
  package static let leExtendedCreateConnection = HCI.Opcode(.leExtendedCreateConnection)
  package static let lePeriodicAdvertisingCreateSync = HCI.Opcode(.lePeriodicAdvertisingCreateSync)
  package static let lePeriodicAdvertisingCreateSyncCancel = HCI.Opcode(.lePeriodicAdvertisingCreateSyncCancel)
  package static let lePeriodicAdvertisingTerminateSync = HCI.Opcode(.lePeriodicAdvertisingTerminateSync)
  package static let leAddDeviceToPeriodicAdvertiserList = HCI.Opcode(.leAddDeviceToPeriodicAdvertiserList)
  package static let leRemoveDeviceFromPeriodicAdvertiserList = HCI.Opcode(.leRemoveDeviceFromPeriodicAdvertiserList)
  package static let leClearPeriodicAdvertiserList = HCI.Opcode(.leClearPeriodicAdvertiserList)
  package static let leReadPeriodicAdvertiserListSize = HCI.Opcode(.leReadPeriodicAdvertiserListSize)
  package static let leReadTransmitPower = HCI.Opcode(.leReadTransmitPower)
  package static let leReadRFPathCompensation = HCI.Opcode(.leReadRFPathCompensation)
  package static let leWriteRFPathCompensation = HCI.Opcode(.leWriteRFPathCompensation)
  package static let leSetPrivacyMode = HCI.Opcode(.leSetPrivacyMode)
  package static let leSetPeriodicAdvertisingReceiveEnable = HCI.Opcode(.leSetPeriodicAdvertisingReceiveEnable)
  package static let lePeriodicAdvertisingSyncTransfer = HCI.Opcode(.lePeriodicAdvertisingSyncTransfer)
  package static let lePeriodicAdvertisingSetInfoTransfer = HCI.Opcode(.lePeriodicAdvertisingSetInfoTransfer)
  package static let leSetPeriodicAdvertisingSyncTransferParameters = HCI.Opcode(
    .leSetPeriodicAdvertisingSyncTransferParameters)
  package static let leSetDefaultPeriodicAdvertisingSyncTransferParameters = HCI.Opcode(
    .leSetDefaultPeriodicAdvertisingSyncTransferParameters)
  package static let leGenerateDHKeyV2 = HCI.Opcode(.leGenerateDHKeyV2)
  package static let leModifySleepClockAccuracy = HCI.Opcode(.leModifySleepClockAccuracy)
  package static let leReadBufferSizeV2 = HCI.Opcode(.leReadBufferSizeV2)
  package static let leRequestPeerSCA = HCI.Opcode(.leRequestPeerSCA)
  package static let leSetHostFeature = HCI.Opcode(.leSetHostFeature)
  package static let leSetDataRelatedAddressChanges = HCI.Opcode(.leSetDataRelatedAddressChanges)
  package static let leSetExtendedAdvertisingParametersV2 = HCI.Opcode(.leSetExtendedAdvertisingParametersV2)
}
