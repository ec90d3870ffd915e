import BluetoothWire

extension Controller {
  /// The commands that this controller can serve; all others are answered with Unknown HCI Command, and so are those whose
  /// feature, role or version the configuration leaves out. The bitmap of Read Local Supported Commands is made of it.
  static let servedOpcodes: [HCI.Opcode] = [
    .disconnect, .readRemoteVersionInformation,
    .setEventMask, .reset, .readTransmitPowerLevel, .setControllerToHostFlowControl, .hostBufferSize,
    .hostNumberOfCompletedPackets, .setEventMaskPage2,
    .readAuthenticatedPayloadTimeout, .writeAuthenticatedPayloadTimeout,
    .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures, .readLocalExtendedFeatures,
    .readBufferSize,
    .readBDADDR, .readRSSI,
    .leSetEventMask, .leReadBufferSize, .leReadLocalSupportedFeatures, .leSetRandomAddress,
    .leSetAdvertisingParameters, .leReadAdvertisingPhysicalChannelTxPower, .leSetAdvertisingData,
    .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable,
    .leCreateConnection, .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
    .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate,
    .leSetHostChannelClassification, .leReadChannelMap, .leReadRemoteFeatures, .leEncrypt, .leRand,
    .leEnableEncryption, .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply, .leReadSupportedStates,
    .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList, .leClearResolvingList, .leReadResolvingListSize,
    .leReadPeerResolvableAddress, .leReadLocalResolvableAddress, .leSetAddressResolutionEnable,
    .leSetResolvablePrivateAddressTimeout, .leSetPrivacyMode, .leSetDataRelatedAddressChanges,
    .leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply, .leSetDataLength,
    .leReadSuggestedDefaultDataLength, .leWriteSuggestedDefaultDataLength, .leReadMaximumDataLength,
    .leReadLocalP256PublicKey, .leGenerateDHKey, .leGenerateDHKeyV2,
    .leReadPHY, .leSetDefaultPHY, .leSetPHY, .leReadTransmitPower, .leRequestPeerSCA, .leModifySleepClockAccuracy,
    .leSetHostFeature,
    .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
    .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingParametersV2,
    .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable,
    .leReadMaximumAdvertisingDataLength, .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet,
    .leClearAdvertisingSets, .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData,
    .leSetPeriodicAdvertisingEnable, .lePeriodicAdvertisingSetInfoTransfer,
    .lePeriodicAdvertisingCreateSync, .lePeriodicAdvertisingCreateSyncCancel, .lePeriodicAdvertisingTerminateSync,
    .leAddDeviceToPeriodicAdvertiserList, .leRemoveDeviceFromPeriodicAdvertiserList, .leClearPeriodicAdvertiserList,
    .leReadPeriodicAdvertiserListSize, .leSetPeriodicAdvertisingReceiveEnable, .lePeriodicAdvertisingSyncTransfer,
    .leSetPeriodicAdvertisingSyncTransferParameters,
    .leSetDefaultPeriodicAdvertisingSyncTransferParameters,
  ]

  /// What each of them wants. Asked for every command: a table is found in faster than a hundred cases are compared.
  private static let requirements = [HCI.Opcode: Requirement](
    uniqueKeysWithValues: servedOpcodes.map { ($0, $0.requirement) })

  func supports(_ opcode: HCI.Opcode) -> Bool { Self.requirements[opcode]?.isMet(by: self) ?? false }

  var supportedOpcodes: [HCI.Opcode] { Self.servedOpcodes.filter { supports($0) } }

  /// BR/EDR not supported, LE supported · Vol 2, Part C, 3.3.
  static let lmpFeatures: HCI.LMPFeatures = [.bredrNotSupported, .leSupported]
}

/// What a controller must have for a command to make sense · Vol 4, Part E, 3, table 3.1.
private struct Requirement {
  /// One of these; none: no feature is needed.
  var anyFeature: HCI.LEFeatures = []
  /// All of these.
  var roles: ControllerRoles = []
  var version = ControllerConfiguration.version40

  func isMet(by controller: borrowing Controller) -> Bool {
    (anyFeature.isEmpty || !anyFeature.isDisjoint(with: controller.features))
      && roles.isSubset(of: controller.configuration.roles) && version <= controller.configuration.version
  }
}

extension HCI.Opcode {
  fileprivate var requirement: Requirement {
    switch self {
    case .leSetAdvertisingParameters, .leReadAdvertisingPhysicalChannelTxPower, .leSetAdvertisingData,
      .leSetScanResponseData, .leSetAdvertisingEnable:
      Requirement(roles: .advertiser)
    case .leSetScanParameters, .leSetScanEnable: Requirement(roles: .scanner)
    case .leCreateConnection, .leCreateConnectionCancel, .leSetHostChannelClassification:
      Requirement(roles: .central)
    case .leEnableEncryption: Requirement(anyFeature: .encryption, roles: .central)
    case .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply:
      Requirement(anyFeature: .encryption, roles: .peripheral)
    case .setEventMaskPage2, .readAuthenticatedPayloadTimeout, .writeAuthenticatedPayloadTimeout:
      Requirement(anyFeature: .ping)
    case .leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply:
      Requirement(anyFeature: .connectionParametersRequestProcedure)
    case .leSetDataLength, .leReadSuggestedDefaultDataLength, .leWriteSuggestedDefaultDataLength,
      .leReadMaximumDataLength:
      Requirement(anyFeature: .dataPacketLengthExtension)
    case .leReadLocalP256PublicKey, .leGenerateDHKey: Requirement(version: ControllerConfiguration.version42)
    case .leGenerateDHKeyV2: Requirement(version: ControllerConfiguration.version51)
    case .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList, .leClearResolvingList,
      .leReadResolvingListSize, .leReadPeerResolvableAddress, .leReadLocalResolvableAddress,
      .leSetAddressResolutionEnable, .leSetResolvablePrivateAddressTimeout, .leSetPrivacyMode,
      .leSetDataRelatedAddressChanges:
      Requirement(anyFeature: .llPrivacy)
    case .leReadPHY, .leSetDefaultPHY, .leSetPHY: Requirement(anyFeature: [.le2MPHY, .leCodedPHY])
    case .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
      .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leReadMaximumAdvertisingDataLength,
      .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet, .leClearAdvertisingSets:
      Requirement(anyFeature: .extendedAdvertising, roles: .advertiser)
    case .leSetExtendedScanParameters, .leSetExtendedScanEnable:
      Requirement(anyFeature: .extendedAdvertising, roles: .scanner)
    case .leExtendedCreateConnection: Requirement(anyFeature: .extendedAdvertising, roles: .central)
    case .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable:
      Requirement(anyFeature: .periodicAdvertising, roles: .advertiser)
    case .lePeriodicAdvertisingCreateSync, .lePeriodicAdvertisingCreateSyncCancel,
      .lePeriodicAdvertisingTerminateSync, .leAddDeviceToPeriodicAdvertiserList,
      .leRemoveDeviceFromPeriodicAdvertiserList, .leClearPeriodicAdvertiserList, .leReadPeriodicAdvertiserListSize:
      Requirement(anyFeature: .periodicAdvertising, roles: .scanner)
    case .leSetPeriodicAdvertisingReceiveEnable:
      Requirement(anyFeature: [.periodicAdvertisingSyncTransferRecipient, .periodicAdvertisingADI], roles: .scanner)
    case .lePeriodicAdvertisingSyncTransfer, .lePeriodicAdvertisingSetInfoTransfer:
      Requirement(anyFeature: .periodicAdvertisingSyncTransferSender)
    case .leSetPeriodicAdvertisingSyncTransferParameters, .leSetDefaultPeriodicAdvertisingSyncTransferParameters:
      Requirement(anyFeature: .periodicAdvertisingSyncTransferRecipient)
    case .leReadTransmitPower: Requirement(version: ControllerConfiguration.version50)
    case .leModifySleepClockAccuracy, .leRequestPeerSCA: Requirement(anyFeature: .sleepClockAccuracyUpdates)
    case .leSetHostFeature, .leSetExtendedAdvertisingParametersV2:
      Requirement(anyFeature: .advertisingCodingSelection)
    default: Requirement()
    }
  }
}
