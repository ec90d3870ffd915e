import BluetoothWire

extension Controller {
  /// The commands that this controller knows; all others are answered with Unknown HCI Command. The bitmap of Read Local
  /// Supported Commands is made of it.
  static let supportedOpcodes: [HCI.Opcode] = [
    .disconnect, .readRemoteVersionInformation,
    .setEventMask, .reset, .readTransmitPowerLevel, .setEventMaskPage2,
    .readAuthenticatedPayloadTimeout, .writeAuthenticatedPayloadTimeout,
    .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures, .readBufferSize,
    .readBDADDR, .readRSSI,
    .leSetEventMask, .leReadBufferSize, .leReadLocalSupportedFeatures, .leSetRandomAddress,
    .leSetAdvertisingParameters, .leReadAdvertisingPhysicalChannelTxPower, .leSetAdvertisingData,
    .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable,
    .leCreateConnection, .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
    .leAddDeviceToFilterAcceptList, .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate,
    .leSetHostChannelClassification, .leReadChannelMap, .leReadRemoteFeatures, .leRand, .leEnableEncryption,
    .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply, .leReadSupportedStates,
    .leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply, .leSetDataLength,
    .leReadSuggestedDefaultDataLength, .leWriteSuggestedDefaultDataLength, .leReadMaximumDataLength,
    .leReadPHY, .leSetDefaultPHY, .leSetPHY, .leReadTransmitPower, .leRequestPeerSCA,
    .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
  ]

  static let supportedOpcodeSet = Set(supportedOpcodes)

  /// Every state and combination of states that has a bit, 0 to 41 · Vol 4, Part E, 7.8.27.
  static let supportedStates: UInt64 = 0x3FF_FFFF_FFFF

  /// BR/EDR not supported, LE supported · Vol 2, Part C, 3.3.
  static let lmpFeatures: HCI.LMPFeatures = [.bredrNotSupported, .leSupported]
}
