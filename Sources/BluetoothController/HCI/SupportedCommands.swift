import BluetoothWire

extension Controller {
  /// The commands that this controller implements. It answers all other commands with Unknown HCI Command, and also
  /// those whose feature, role or version the configuration excludes. The bitmap of Read Local Supported Commands
  /// follows from this list.
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

  /// Returns the properties of a command; nil if the controller does not support it.
  mutating func supported(_ opcode: HCI.Opcode) -> ServedCommand? {
    guard let command = ServedCommands.all[opcode],
      command.requirement.isMet(
        features: features, roles: configuration.roles, version: configuration.version)
    else { return nil }
    return command
  }

  mutating func supports(_ opcode: HCI.Opcode) -> Bool { supported(opcode) != nil }

  var supportedOpcodes: [HCI.Opcode] { mutating get { Self.servedOpcodes.filter { supports($0) } } }

  /// BR/EDR not supported, LE supported · Vol 2, Part C, 3.3.
  static let lmpFeatures: HCI.LMPFeatures = [.bredrNotSupported, .leSupported]
}

/// The properties of a command that are needed before its parameters are decoded.
struct ServedCommand {
  fileprivate let requirement: Requirement
  /// The kind of the command; nil: it belongs to both kinds.
  let generation: CommandGeneration?
}

/// The supported commands by opcode. The lookup runs for every command, so it is an array index instead of a hundred
/// comparisons or the hashing of an opcode.
private struct ServedCommands {
  static let all = ServedCommands(Controller.servedOpcodes)

  private var commands: [ServedCommand] = []
  /// The index in `commands` plus 1, by opcode; 0: not supported.
  private var places = [UInt8](repeating: 0, count: capacity)

  /// The size of the table. No supported command has a group from 16 on or a command number from 256 on.
  private static let capacity = 16 << 8

  private init(_ opcodes: [HCI.Opcode]) {
    for opcode in opcodes {
      commands.append(ServedCommand(requirement: opcode.requirement, generation: CommandGeneration(opcode)))
      guard let place = Self.place(of: opcode) else { preconditionFailure("no place for command \(opcode)") }
      precondition(places[place] == 0, "command \(opcode) is served twice")
      places[place] = UInt8(commands.count)
    }
  }

  private static func place(of opcode: HCI.Opcode) -> Int? {
    opcode.command < 256 && opcode.group < 16 ? Int(opcode.group) << 8 + Int(opcode.command) : nil
  }

  subscript(opcode: HCI.Opcode) -> ServedCommand? {
    guard let place = Self.place(of: opcode), places[place] > 0 else { return nil }
    return commands[Int(places[place]) - 1]
  }
}

/// The properties of a controller that a command requires · Vol 4, Part E, 3, table 3.1.
private struct Requirement {
  /// The features of which one is required; empty: none is required.
  var anyFeature: HCI.LEFeatures = []
  /// The roles that are all required.
  var roles: ControllerRoles = []
  var version = ControllerConfiguration.version40

  func isMet(features: HCI.LEFeatures, roles: ControllerRoles, version: UInt8) -> Bool {
    // The comparison uses the bits because it runs for every command: set operators from another module are not
    // inlined.
    (anyFeature.rawValue == 0 || anyFeature.rawValue & features.rawValue != 0)
      && self.roles.rawValue & ~roles.rawValue == 0 && self.version <= version
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
