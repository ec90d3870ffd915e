import BluetoothCrypto
import BluetoothWire

@testable import BluetoothController

/// Every command that the controller claims in its bitmap, with parameters in range · Vol 4, Part E, 7.
enum CommandTable {
  static let rows: [CommandRow] = general + legacy + lists + connections + security + extended + periodic + others

  static func row(_ opcode: HCI.Opcode) -> CommandRow? { rows.first { $0.opcode == opcode } }

  // MARK: Parameters shared by several commands

  /// A public address: type and value.
  static let peer: [UInt8] = [0, 1, 2, 3, 4, 5, 6]
  /// Interval 30 ms, no latency, supervision timeout 2 s, and no event lengths.
  static let connection: [UInt8] = [24, 0, 24, 0, 0, 0, 200, 0, 0, 0, 0, 0]
  static let everything = [UInt8](repeating: 0xFF, count: 8)
  static let key = [UInt8](repeating: 0x5A, count: 16)
  static let otherKey = [UInt8](repeating: 0xA5, count: 16)
  /// Mode 2, no skip, timeout 1 s, any Constant Tone Extension.
  static let syncTransfer: [UInt8] = [2, 0, 0, 100, 0, 0]
  /// The coordinates of a point on the curve: the debug key.
  static let point: [UInt8] = {
    let key = P256KeyPair.debug.publicKey
    return key.x.reversed() + key.y.reversed()
  }()
  /// Handle 1, no properties, 20 to 40 ms, all channels, public, no filter, any power, LE 1M, no skip, LE 1M, SID 0, no
  /// notification.
  static let advertisingSet: [UInt8] = [1, 0, 0, 32, 0, 0, 64, 0, 0, 7, 0] + peer + [0, 127, 1, 0, 1, 0, 0]
  /// The bit of Advertising Coding Selection (Host Support).
  static let hostFeature = UInt8(HCI.LEFeatures.advertisingCodingSelectionHostSupport.rawValue.trailingZeroBitCount)

  // MARK: The commands

  private static let general: [CommandRow] = [
    .statusOnLink(.disconnect, "7.1.6", [0x13]),
    .statusOnLink(.readRemoteVersionInformation, "7.1.23"),
    .complete(.setEventMask, "7.3.1", everything),
    .complete(.reset, "7.3.2"),
    .completeOnLink(.readTransmitPowerLevel, "7.3.35", [0], returns: 4),
    .complete(.setControllerToHostFlowControl, "7.3.38", [0], connected: .commandDisallowed),
    .complete(.hostBufferSize, "7.3.39", [251, 0, 0, 10, 0, 0, 0]),
    CommandRow(
      opcode: .hostNumberOfCompletedPackets, section: "7.3.40", generation: .both, parameters: [0], hasHandle: false,
      answer: .none, returns: 0, idle: .success, connected: .success),
    .complete(.setEventMaskPage2, "7.3.69", everything),
    .completeOnLink(.readAuthenticatedPayloadTimeout, "7.3.93", returns: 5),
    .completeOnLink(.writeAuthenticatedPayloadTimeout, "7.3.94", [0xB8, 0x0B]),
    .complete(.readLocalVersionInformation, "7.4.1", returns: 9),
    .complete(.readLocalSupportedCommands, "7.4.2", returns: 65),
    .complete(.readLocalSupportedFeatures, "7.4.3", returns: 9),
    .complete(.readLocalExtendedFeatures, "7.4.4", [0], returns: 11),
    .complete(.readBufferSize, "7.4.5", returns: 8),
    .complete(.readBDADDR, "7.4.6", returns: 7),
    .completeOnLink(.readRSSI, "7.5.4", returns: 4),
    .complete(.leSetEventMask, "7.8.1", everything),
    .complete(.leReadBufferSize, "7.8.2", returns: 4),
    .complete(.leReadLocalSupportedFeatures, "7.8.3", returns: 9),
    .complete(.leSetRandomAddress, "7.8.4", [1, 2, 3, 4, 5, 0xC6]),
    .complete(.leReadSupportedStates, "7.8.27", returns: 9),
    .complete(.leReadTransmitPower, "7.8.74", returns: 3),
    .complete(.leModifySleepClockAccuracy, "7.8.94", [1]),
    .complete(.leSetHostFeature, "7.8.115", [hostFeature, 1], connected: .commandDisallowed),
  ]

  private static let legacy: [CommandRow] = [
    .complete(.leSetAdvertisingParameters, "7.8.5", [32, 0, 64, 0, 0, 0] + peer + [7, 0], generation: .legacy),
    .complete(.leReadAdvertisingPhysicalChannelTxPower, "7.8.6", returns: 2, generation: .legacy),
    .complete(.leSetAdvertisingData, "7.8.7", [3, 2, 1, 6] + [UInt8](repeating: 0, count: 28), generation: .legacy),
    .complete(.leSetScanResponseData, "7.8.8", [3, 2, 9, 65] + [UInt8](repeating: 0, count: 28), generation: .legacy),
    .complete(.leSetAdvertisingEnable, "7.8.9", [1], generation: .legacy),
    .complete(.leSetScanParameters, "7.8.10", [0, 16, 0, 16, 0, 0, 0], generation: .legacy),
    .complete(.leSetScanEnable, "7.8.11", [1, 0], generation: .legacy),
    .status(.leCreateConnection, "7.8.12", [16, 0, 16, 0, 0] + peer + [0] + connection, generation: .legacy),
    .complete(.leCreateConnectionCancel, "7.8.13", idle: .commandDisallowed),
  ]

  private static let lists: [CommandRow] = [
    .complete(.leReadFilterAcceptListSize, "7.8.14", returns: 2),
    .complete(.leClearFilterAcceptList, "7.8.15"),
    .complete(.leAddDeviceToFilterAcceptList, "7.8.16", peer),
    .complete(.leRemoveDeviceFromFilterAcceptList, "7.8.17", peer),
    .complete(.leAddDeviceToResolvingList, "7.8.38", peer + key + otherKey),
    .complete(.leRemoveDeviceFromResolvingList, "7.8.39", peer, idle: .unknownConnectionIdentifier),
    .complete(.leClearResolvingList, "7.8.40"),
    .complete(.leReadResolvingListSize, "7.8.41", returns: 2),
    .complete(.leReadPeerResolvableAddress, "7.8.42", peer, returns: 7, idle: .unknownConnectionIdentifier),
    .complete(.leReadLocalResolvableAddress, "7.8.43", peer, returns: 7, idle: .unknownConnectionIdentifier),
    .complete(.leSetAddressResolutionEnable, "7.8.44", [1]),
    .complete(.leSetResolvablePrivateAddressTimeout, "7.8.45", [0x84, 0x03]),
    .complete(.leSetPrivacyMode, "7.8.77", peer + [1], idle: .unknownConnectionIdentifier),
  ]

  private static let connections: [CommandRow] = [
    .statusOnLink(.leConnectionUpdate, "7.8.18", connection),
    .complete(.leSetHostChannelClassification, "7.8.19", [0xFF, 0xFF, 0xFF, 0xFF, 0x1F]),
    .completeOnLink(.leReadChannelMap, "7.8.20", returns: 8),
    .statusOnLink(.leReadRemoteFeatures, "7.8.21"),
    .completeOnLink(
      .leRemoteConnectionParameterRequestReply, "7.8.31", connection, connected: .commandDisallowed),
    .completeOnLink(
      .leRemoteConnectionParameterRequestNegativeReply, "7.8.32", [0x3B], connected: .commandDisallowed),
    .completeOnLink(.leSetDataLength, "7.8.33", [251, 0, 0x90, 0x42]),
    .complete(.leReadSuggestedDefaultDataLength, "7.8.34", returns: 5),
    .complete(.leWriteSuggestedDefaultDataLength, "7.8.35", [251, 0, 0x90, 0x42]),
    .complete(.leReadMaximumDataLength, "7.8.46", returns: 9),
    .completeOnLink(.leReadPHY, "7.8.47", returns: 5),
    .complete(.leSetDefaultPHY, "7.8.48", [0, 1, 1]),
    .statusOnLink(.leSetPHY, "7.8.49", [0, 2, 2, 0, 0]),
    .statusOnLink(.leRequestPeerSCA, "7.8.108"),
  ]

  private static let security: [CommandRow] = [
    .complete(.leEncrypt, "7.8.22", key + otherKey, returns: 17),
    .complete(.leRand, "7.8.23", returns: 9),
    .statusOnLink(.leEnableEncryption, "7.8.24", [UInt8](repeating: 0, count: 10) + key),
    .completeOnLink(.leLongTermKeyRequestReply, "7.8.25", key, connected: .commandDisallowed),
    .completeOnLink(.leLongTermKeyRequestNegativeReply, "7.8.26", connected: .commandDisallowed),
    .status(.leReadLocalP256PublicKey, "7.8.36"),
    .status(.leGenerateDHKey, "7.8.37", point, idle: .commandDisallowed),
    .status(.leGenerateDHKeyV2, "7.8.37", point + [1]),
  ]

  private static let extended: [CommandRow] = [
    .complete(
      .leSetAdvertisingSetRandomAddress, "7.8.52", [1, 1, 2, 3, 4, 5, 0xC6], idle: .unknownAdvertisingIdentifier),
    .complete(.leSetExtendedAdvertisingParameters, "7.8.53", advertisingSet, returns: 2, generation: .extended),
    .complete(
      .leSetExtendedAdvertisingParametersV2, "7.8.53", advertisingSet + [0, 0], returns: 2, generation: .extended),
    .complete(
      .leSetExtendedAdvertisingData, "7.8.54", [1, 3, 0, 3, 2, 1, 6], idle: .unknownAdvertisingIdentifier,
      generation: .extended),
    .complete(
      .leSetExtendedScanResponseData, "7.8.55", [1, 3, 0, 0], idle: .unknownAdvertisingIdentifier, generation: .extended
    ),
    .complete(
      .leSetExtendedAdvertisingEnable, "7.8.56", [1, 1, 1, 0, 0, 0], idle: .unknownAdvertisingIdentifier,
      generation: .extended),
    .complete(.leReadMaximumAdvertisingDataLength, "7.8.57", returns: 3, generation: .extended),
    .complete(.leReadNumberOfSupportedAdvertisingSets, "7.8.58", returns: 2, generation: .extended),
    .complete(.leRemoveAdvertisingSet, "7.8.59", [1], idle: .unknownAdvertisingIdentifier, generation: .extended),
    .complete(.leClearAdvertisingSets, "7.8.60", generation: .extended),
    .complete(.leSetExtendedScanParameters, "7.8.64", [0, 0, 1, 0, 16, 0, 16, 0], generation: .extended),
    .complete(.leSetExtendedScanEnable, "7.8.65", [1, 0, 0, 0, 0, 0], generation: .extended),
    .status(
      .leExtendedCreateConnection, "7.8.66", [0, 0] + peer + [1, 16, 0, 16, 0] + connection, generation: .extended),
    .complete(.leSetDataRelatedAddressChanges, "7.8.122", [1, 3], idle: .unknownAdvertisingIdentifier),
  ]

  private static let periodic: [CommandRow] = [
    .complete(
      .leSetPeriodicAdvertisingParameters, "7.8.61", [1, 80, 0, 160, 0, 0, 0], idle: .unknownAdvertisingIdentifier,
      generation: .extended),
    .complete(
      .leSetPeriodicAdvertisingData, "7.8.62", [1, 3, 2, 1, 6], idle: .unknownAdvertisingIdentifier,
      generation: .extended),
    .complete(
      .leSetPeriodicAdvertisingEnable, "7.8.63", [1, 1], idle: .unknownAdvertisingIdentifier, generation: .extended),
    .status(.lePeriodicAdvertisingCreateSync, "7.8.67", [0, 0] + peer + [0, 0, 100, 0, 0], generation: .extended),
    .complete(.lePeriodicAdvertisingCreateSyncCancel, "7.8.68", idle: .commandDisallowed, generation: .extended),
    .complete(
      .lePeriodicAdvertisingTerminateSync, "7.8.69", [0, 0], idle: .unknownAdvertisingIdentifier, generation: .extended),
    .complete(.leAddDeviceToPeriodicAdvertiserList, "7.8.70", peer + [0], generation: .extended),
    .complete(
      .leRemoveDeviceFromPeriodicAdvertiserList, "7.8.71", peer + [0], idle: .unknownAdvertisingIdentifier,
      generation: .extended),
    .complete(.leClearPeriodicAdvertiserList, "7.8.72", generation: .extended),
    .complete(.leReadPeriodicAdvertiserListSize, "7.8.73", returns: 2, generation: .extended),
  ]

  private static let others: [CommandRow] = [
    .complete(
      .leSetPeriodicAdvertisingReceiveEnable, "7.8.88", [0, 0, 1], idle: .unknownAdvertisingIdentifier),
    .completeOnLink(
      .lePeriodicAdvertisingSyncTransfer, "7.8.89", [0, 0, 0, 0], connected: .unknownAdvertisingIdentifier),
    .completeOnLink(
      .lePeriodicAdvertisingSetInfoTransfer, "7.8.90", [0, 0, 1], connected: .unknownAdvertisingIdentifier),
    .completeOnLink(.leSetPeriodicAdvertisingSyncTransferParameters, "7.8.91", syncTransfer, generation: .extended),
    .complete(.leSetDefaultPeriodicAdvertisingSyncTransferParameters, "7.8.92", syncTransfer, generation: .extended),
  ]
}
