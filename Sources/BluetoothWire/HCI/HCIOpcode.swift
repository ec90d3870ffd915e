extension HCI.Opcode {
  package init(group: UInt8, command: UInt16) { self.init(rawValue: UInt16(group) << 10 | command & 0x3FF) }

  /// OGF, the upper 6 bits.
  package var group: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 10) }
  /// OCF, the lower 10 bits.
  package var command: UInt16 { rawValue & 0x3FF }

  /// The opcode of no command: an event with it only updates the number of allowed commands · Vol 4, Part E, 7.7.14.
  package static let none = HCI.Opcode(rawValue: 0x0000)
}

extension HCI.Opcode: CustomStringConvertible {
  /// The specification's name of the command, or the opcode in hexadecimal if it has no name here.
  package var description: String { name?.description ?? "0x" + rawValue.hexadecimal }

  /// The specification's name without `HCI_`.
  package var name: StaticString? { definition?.name }

  /// The octet and the bit of this command in the Supported_Commands bitmap · Vol 4, Part E, 6.27; nil if it has no
  /// bit there.
  package var supportedCommandsPosition: (octet: Int, bit: Int)? { definition?.supportedCommandsPosition }
}

/// The opcodes of the commands.
extension HCI.Opcode {
  package static let disconnect = HCI.commands.disconnect.number
  package static let readRemoteVersionInformation = HCI.commands.readRemoteVersionInformation.number
  package static let setEventMask = HCI.commands.setEventMask.number
  package static let reset = HCI.commands.reset.number
  package static let readTransmitPowerLevel = HCI.commands.readTransmitPowerLevel.number
  package static let setControllerToHostFlowControl = HCI.commands.setControllerToHostFlowControl.number
  package static let hostBufferSize = HCI.commands.hostBufferSize.number
  package static let hostNumberOfCompletedPackets = HCI.commands.hostNumberOfCompletedPackets.number
  package static let setEventMaskPage2 = HCI.commands.setEventMaskPage2.number
  package static let readLEHostSupport = HCI.commands.readLEHostSupport.number
  package static let writeLEHostSupport = HCI.commands.writeLEHostSupport.number
  package static let readAuthenticatedPayloadTimeout = HCI.commands.readAuthenticatedPayloadTimeout.number
  package static let writeAuthenticatedPayloadTimeout = HCI.commands.writeAuthenticatedPayloadTimeout.number
  package static let readLocalVersionInformation = HCI.commands.readLocalVersionInformation.number
  package static let readLocalSupportedCommands = HCI.commands.readLocalSupportedCommands.number
  package static let readLocalSupportedFeatures = HCI.commands.readLocalSupportedFeatures.number
  package static let readLocalExtendedFeatures = HCI.commands.readLocalExtendedFeatures.number
  package static let readBufferSize = HCI.commands.readBufferSize.number
  package static let readBDADDR = HCI.commands.readBDADDR.number
  package static let readRSSI = HCI.commands.readRSSI.number
  package static let leSetEventMask = HCI.commands.leSetEventMask.number
  package static let leReadBufferSize = HCI.commands.leReadBufferSize.number
  package static let leReadLocalSupportedFeatures = HCI.commands.leReadLocalSupportedFeatures.number
  package static let leSetRandomAddress = HCI.commands.leSetRandomAddress.number
  package static let leSetAdvertisingParameters = HCI.commands.leSetAdvertisingParameters.number
  package static let leReadAdvertisingPhysicalChannelTxPower = HCI.commands.leReadAdvertisingPhysicalChannelTxPower
    .number
  package static let leSetAdvertisingData = HCI.commands.leSetAdvertisingData.number
  package static let leSetScanResponseData = HCI.commands.leSetScanResponseData.number
  package static let leSetAdvertisingEnable = HCI.commands.leSetAdvertisingEnable.number
  package static let leSetScanParameters = HCI.commands.leSetScanParameters.number
  package static let leSetScanEnable = HCI.commands.leSetScanEnable.number
  package static let leCreateConnection = HCI.commands.leCreateConnection.number
  package static let leCreateConnectionCancel = HCI.commands.leCreateConnectionCancel.number
  package static let leReadFilterAcceptListSize = HCI.commands.leReadFilterAcceptListSize.number
  package static let leClearFilterAcceptList = HCI.commands.leClearFilterAcceptList.number
  package static let leAddDeviceToFilterAcceptList = HCI.commands.leAddDeviceToFilterAcceptList.number
  package static let leRemoveDeviceFromFilterAcceptList = HCI.commands.leRemoveDeviceFromFilterAcceptList.number
  package static let leConnectionUpdate = HCI.commands.leConnectionUpdate.number
  package static let leSetHostChannelClassification = HCI.commands.leSetHostChannelClassification.number
  package static let leReadChannelMap = HCI.commands.leReadChannelMap.number
  package static let leReadRemoteFeatures = HCI.commands.leReadRemoteFeatures.number
  package static let leEncrypt = HCI.commands.leEncrypt.number
  package static let leRand = HCI.commands.leRand.number
  package static let leEnableEncryption = HCI.commands.leEnableEncryption.number
  package static let leLongTermKeyRequestReply = HCI.commands.leLongTermKeyRequestReply.number
  package static let leLongTermKeyRequestNegativeReply = HCI.commands.leLongTermKeyRequestNegativeReply.number
  package static let leReadSupportedStates = HCI.commands.leReadSupportedStates.number
  package static let leReceiverTest = HCI.commands.leReceiverTest.number
  package static let leTransmitterTest = HCI.commands.leTransmitterTest.number
  package static let leTestEnd = HCI.commands.leTestEnd.number
  package static let leRemoteConnectionParameterRequestReply = HCI.commands.leRemoteConnectionParameterRequestReply
    .number
  package static let leRemoteConnectionParameterRequestNegativeReply = HCI.commands
    .leRemoteConnectionParameterRequestNegativeReply.number
  package static let leSetDataLength = HCI.commands.leSetDataLength.number
  package static let leReadSuggestedDefaultDataLength = HCI.commands.leReadSuggestedDefaultDataLength.number
  package static let leWriteSuggestedDefaultDataLength = HCI.commands.leWriteSuggestedDefaultDataLength.number
  package static let leReadLocalP256PublicKey = HCI.commands.leReadLocalP256PublicKey.number
  package static let leGenerateDHKey = HCI.commands.leGenerateDHKey.number
  package static let leAddDeviceToResolvingList = HCI.commands.leAddDeviceToResolvingList.number
  package static let leRemoveDeviceFromResolvingList = HCI.commands.leRemoveDeviceFromResolvingList.number
  package static let leClearResolvingList = HCI.commands.leClearResolvingList.number
  package static let leReadResolvingListSize = HCI.commands.leReadResolvingListSize.number
  package static let leReadPeerResolvableAddress = HCI.commands.leReadPeerResolvableAddress.number
  package static let leReadLocalResolvableAddress = HCI.commands.leReadLocalResolvableAddress.number
  package static let leSetAddressResolutionEnable = HCI.commands.leSetAddressResolutionEnable.number
  package static let leSetResolvablePrivateAddressTimeout = HCI.commands.leSetResolvablePrivateAddressTimeout.number
  package static let leReadMaximumDataLength = HCI.commands.leReadMaximumDataLength.number
  package static let leReadPHY = HCI.commands.leReadPHY.number
  package static let leSetDefaultPHY = HCI.commands.leSetDefaultPHY.number
  package static let leSetPHY = HCI.commands.leSetPHY.number
  package static let leSetAdvertisingSetRandomAddress = HCI.commands.leSetAdvertisingSetRandomAddress.number
  package static let leSetExtendedAdvertisingParameters = HCI.commands.leSetExtendedAdvertisingParameters.number
  package static let leSetExtendedAdvertisingData = HCI.commands.leSetExtendedAdvertisingData.number
  package static let leSetExtendedScanResponseData = HCI.commands.leSetExtendedScanResponseData.number
  package static let leSetExtendedAdvertisingEnable = HCI.commands.leSetExtendedAdvertisingEnable.number
  package static let leReadMaximumAdvertisingDataLength = HCI.commands.leReadMaximumAdvertisingDataLength.number
  package static let leReadNumberOfSupportedAdvertisingSets = HCI.commands.leReadNumberOfSupportedAdvertisingSets.number
  package static let leRemoveAdvertisingSet = HCI.commands.leRemoveAdvertisingSet.number
  package static let leClearAdvertisingSets = HCI.commands.leClearAdvertisingSets.number
  package static let leSetPeriodicAdvertisingParameters = HCI.commands.leSetPeriodicAdvertisingParameters.number
  package static let leSetPeriodicAdvertisingData = HCI.commands.leSetPeriodicAdvertisingData.number
  package static let leSetPeriodicAdvertisingEnable = HCI.commands.leSetPeriodicAdvertisingEnable.number
  package static let leSetExtendedScanParameters = HCI.commands.leSetExtendedScanParameters.number
  package static let leSetExtendedScanEnable = HCI.commands.leSetExtendedScanEnable.number
  package static let leExtendedCreateConnection = HCI.commands.leExtendedCreateConnection.number
  package static let lePeriodicAdvertisingCreateSync = HCI.commands.lePeriodicAdvertisingCreateSync.number
  package static let lePeriodicAdvertisingCreateSyncCancel = HCI.commands.lePeriodicAdvertisingCreateSyncCancel.number
  package static let lePeriodicAdvertisingTerminateSync = HCI.commands.lePeriodicAdvertisingTerminateSync.number
  package static let leAddDeviceToPeriodicAdvertiserList = HCI.commands.leAddDeviceToPeriodicAdvertiserList.number
  package static let leRemoveDeviceFromPeriodicAdvertiserList = HCI.commands.leRemoveDeviceFromPeriodicAdvertiserList
    .number
  package static let leClearPeriodicAdvertiserList = HCI.commands.leClearPeriodicAdvertiserList.number
  package static let leReadPeriodicAdvertiserListSize = HCI.commands.leReadPeriodicAdvertiserListSize.number
  package static let leReadTransmitPower = HCI.commands.leReadTransmitPower.number
  package static let leReadRFPathCompensation = HCI.commands.leReadRFPathCompensation.number
  package static let leWriteRFPathCompensation = HCI.commands.leWriteRFPathCompensation.number
  package static let leSetPrivacyMode = HCI.commands.leSetPrivacyMode.number
  package static let leSetPeriodicAdvertisingReceiveEnable = HCI.commands.leSetPeriodicAdvertisingReceiveEnable.number
  package static let lePeriodicAdvertisingSyncTransfer = HCI.commands.lePeriodicAdvertisingSyncTransfer.number
  package static let lePeriodicAdvertisingSetInfoTransfer = HCI.commands.lePeriodicAdvertisingSetInfoTransfer.number
  package static let leSetPeriodicAdvertisingSyncTransferParameters = HCI.commands
    .leSetPeriodicAdvertisingSyncTransferParameters.number
  package static let leSetDefaultPeriodicAdvertisingSyncTransferParameters = HCI.commands
    .leSetDefaultPeriodicAdvertisingSyncTransferParameters.number
  package static let leGenerateDHKeyV2 = HCI.commands.leGenerateDHKeyV2.number
  package static let leModifySleepClockAccuracy = HCI.commands.leModifySleepClockAccuracy.number
  package static let leReadBufferSizeV2 = HCI.commands.leReadBufferSizeV2.number
  package static let leRequestPeerSCA = HCI.commands.leRequestPeerSCA.number
  package static let leSetHostFeature = HCI.commands.leSetHostFeature.number
  package static let leSetDataRelatedAddressChanges = HCI.commands.leSetDataRelatedAddressChanges.number
  package static let leSetExtendedAdvertisingParametersV2 = HCI.commands.leSetExtendedAdvertisingParametersV2.number
}
