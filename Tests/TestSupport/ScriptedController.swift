import BluetoothWire

/// The answers of a controller that has no radio: what it reports during a host's start-up, and success for all
/// commands.
package struct ScriptedController: Sendable {
  package enum Answer: Sendable {
    case complete(HCI.ReturnParameters)
    case status(HCI.ErrorCode)
    case noAnswer
  }

  /// The commands that every such controller supports.
  package static let commands: [HCI.Opcode] = [
    .disconnect, .setEventMask, .reset, .readLocalVersionInformation, .readLocalSupportedFeatures, .readBDADDR,
    .readRSSI, .leSetEventMask, .leReadBufferSize, .leReadLocalSupportedFeatures, .leSetRandomAddress,
    .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable,
    .leSetScanParameters, .leSetScanEnable, .leCreateConnection, .leCreateConnectionCancel,
    .leReadFilterAcceptListSize, .leClearFilterAcceptList, .leAddDeviceToFilterAcceptList,
    .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate,
  ]

  package var supportedCommands: HCI.SupportedCommands
  package var publicAddress: UInt64
  package var lmpFeatures: HCI.LMPFeatures = [.bredrNotSupported, .leSupported]
  package var leFeatures: HCI.LEFeatures
  package var aclLength: UInt16 = 251
  package var aclCount: UInt8 = 8
  package var acceptListSize: UInt8 = 8
  /// The level in dBm that Read RSSI returns.
  package var rssi: Int8 = -40

  /// - Parameter others: The commands that the controller supports beside `commands`.
  package init(
    supporting others: [HCI.Opcode], publicAddress: UInt64 = 0, leFeatures: HCI.LEFeatures = []
  ) {
    supportedCommands = HCI.SupportedCommands(Self.commands + others)
    self.publicAddress = publicAddress
    self.leFeatures = leFeatures
  }

  /// Returns the answer to a command.
  package func answer(_ command: HCI.Command) -> Answer {
    switch command {
    case .readLocalSupportedCommands: .complete(.localSupportedCommands(supportedCommands))
    case .readLocalSupportedFeatures: .complete(.localSupportedFeatures(lmpFeatures))
    case .readBDADDR: .complete(.bdADDR(publicAddress))
    case .leReadLocalSupportedFeatures: .complete(.leLocalSupportedFeatures(leFeatures))
    case .leReadBufferSize where !lmpFeatures.contains(.leSupported): .complete(.status(.unknownHCICommand))
    case .leReadBufferSize: .complete(.leBufferSize(aclLength: aclLength, aclCount: aclCount))
    case .leReadFilterAcceptListSize: .complete(.leFilterAcceptListSize(acceptListSize))
    case .leReadMaximumDataLength:
      .complete(
        .leMaximumDataLength(
          transmit: HCI.DataLength(octets: 251, time: 2120), receive: HCI.DataLength(octets: 251, time: 2120)))
    case .leSetExtendedAdvertisingParameters(let parameters):
      .complete(.leSelectedTransmitPower(parameters.transmitPower))
    case .readRSSI(let handle): .complete(.rssi(handle, rssi))
    case .leSetDataLength(let handle, _), .leLongTermKeyRequestReply(let handle, _),
      .leLongTermKeyRequestNegativeReply(let handle), .leRemoteConnectionParameterRequestReply(let handle, _, _),
      .leRemoteConnectionParameterRequestNegativeReply(let handle, _):
      .complete(.handle(.success, handle))
    case .leCreateConnection, .disconnect, .leConnectionUpdate, .leReadRemoteFeatures, .leEnableEncryption:
      .status(.success)
    default: .complete(.status(.success))
    }
  }

  /// Returns the event that carries an answer; nil for no answer.
  package static func event(_ answer: Answer, to opcode: HCI.Opcode) -> HCI.Event? {
    switch answer {
    case .complete(let parameters): .commandComplete(credits: 1, opcode, parameters)
    case .status(let status): .commandStatus(status, credits: 1, opcode)
    case .noAnswer: nil
    }
  }
}
