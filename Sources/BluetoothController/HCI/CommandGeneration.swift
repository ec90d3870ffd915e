import BluetoothWire

/// The legacy commands of Bluetooth 4.0 and the extended commands that replace them: a host uses one kind or the
/// other until the next reset · Vol 4, Part E, 3.1.1.
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

  /// Creates the kind of a command; nil if the command belongs to neither kind.
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
  /// True if the host has not used a command of the other kind; its first command decides.
  mutating func admits(_ command: ServedCommand) -> Bool {
    guard let generation = command.generation else { return true }
    if host.commandGeneration == nil { host.commandGeneration = generation }
    return host.commandGeneration == generation
  }
}

extension HCI.Opcode {
  /// True if the controller answers the command with Command Status when it begins, and with a specific event when it
  /// is done · Vol 4, Part E, 4.4.
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
