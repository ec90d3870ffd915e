import BluetoothWire

/// The commands that came with Bluetooth 4.0 and those that take their place: a host uses one kind or the other until the
/// next reset · Vol 4, Part E, 3.1.1.
enum CommandGeneration {
  case legacy, extended

  private static let legacyCommands: Set<HCI.Opcode> = [
    .leSetAdvertisingParameters, .leReadAdvertisingPhysicalChannelTxPower, .leSetAdvertisingData,
    .leSetScanResponseData, .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable, .leCreateConnection,
  ]
  private static let extendedCommands: Set<HCI.Opcode> = [
    .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingParametersV2, .leSetExtendedAdvertisingData,
    .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leReadMaximumAdvertisingDataLength,
    .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet, .leClearAdvertisingSets,
    .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable,
    .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection,
    .lePeriodicAdvertisingCreateSync, .lePeriodicAdvertisingCreateSyncCancel, .lePeriodicAdvertisingTerminateSync,
    .leAddDeviceToPeriodicAdvertiserList, .leRemoveDeviceFromPeriodicAdvertiserList,
    .leClearPeriodicAdvertiserList, .leReadPeriodicAdvertiserListSize,
    .leSetPeriodicAdvertisingSyncTransferParameters, .leSetDefaultPeriodicAdvertisingSyncTransferParameters,
  ]

  /// nil: the command belongs to neither.
  init?(_ opcode: HCI.Opcode) {
    if Self.legacyCommands.contains(opcode) {
      self = .legacy
    } else if Self.extendedCommands.contains(opcode) {
      self = .extended
    } else {
      return nil
    }
  }
}

extension Controller {
  /// Whether the host has not used a command of the other kind before; the first one decides.
  mutating func admits(_ command: ServedCommand) -> Bool {
    guard let generation = command.generation else { return true }
    if host.commandGeneration == nil { host.commandGeneration = generation }
    return host.commandGeneration == generation
  }
}

extension HCI.Opcode {
  /// The command is answered with Command Status when it begins, and with an event of its own when it is done ·
  /// Vol 4, Part E, 4.4.
  var isAnsweredWithStatus: Bool {
    switch self {
    case .disconnect, .readRemoteVersionInformation, .leCreateConnection, .leExtendedCreateConnection,
      .leConnectionUpdate, .leReadRemoteFeatures, .leEnableEncryption, .leReadLocalP256PublicKey, .leGenerateDHKey,
      .leGenerateDHKeyV2, .leSetPHY, .lePeriodicAdvertisingCreateSync, .leRequestPeerSCA:
      true
    default: false
    }
  }
}
