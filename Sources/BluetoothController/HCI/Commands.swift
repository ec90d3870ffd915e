import BluetoothWire

/// What the host commands · Vol 4, Part E, 7.
extension Controller {
  mutating func command(_ opcode: HCI.Opcode, _ parameters: ByteSlice, at now: Instant) {
    guard Self.supportedOpcodeSet.contains(opcode) else {
      output.send(.commandStatus(.unknownHCICommand, credits: 1, opcode))
      return
    }
    let command: HCI.Command
    do throws(DecodingError) {
      command = try HCI.Command(opcode: opcode, parameters: parameters)
    } catch {
      // What is asked for exists in no version that is known here, such as a PHY.
      if case .unknown = error { return refuse(opcode, .unsupportedFeatureOrParameterValue) }
      return refuse(opcode, .invalidHCICommandParameters)
    }
    if let status = answerWithStatus(command, at: now) ?? statusOfInitiating(command) {
      output.send(.commandStatus(status, credits: 1, opcode))
      followStatus(command, status, at: now)
      if status == .success { followInitiating(command, at: now) }
    } else if let result = advertising(command, at: now) ?? advertisingSets(command, at: now)
      ?? periodicAdvertising(command, at: now) ?? scanning(command, at: now) ?? ofConnection(command, at: now)
      ?? ofEncryption(command, at: now) ?? general(command)
    {
      output.send(.commandComplete(credits: 1, opcode, result))
      followCompletion(command, result)
    } else {
      output.send(.commandStatus(.unknownHCICommand, credits: 1, opcode))
    }
  }

  private mutating func refuse(_ opcode: HCI.Opcode, _ status: HCI.ErrorCode) {
    switch opcode {
    case .disconnect, .readRemoteVersionInformation, .leCreateConnection, .leConnectionUpdate, .leReadRemoteFeatures,
      .leSetPHY, .leRequestPeerSCA, .leExtendedCreateConnection, .leEnableEncryption:
      output.send(.commandStatus(status, credits: 1, opcode))
    default: output.send(.commandComplete(credits: 1, opcode, .status(status)))
    }
  }

  /// Commands that say something of the controller or set something for all of it.
  private mutating func general(_ command: HCI.Command) -> HCI.ReturnParameters? {
    switch command {
    case .reset:
      reset()
      return .status(.success)
    case .setEventMask(let mask):
      output.eventMask = mask
      return .status(.success)
    case .setEventMaskPage2(let mask):
      output.eventMaskPage2 = mask
      return .status(.success)
    case .leSetEventMask(let mask):
      output.leEventMask = mask
      return .status(.success)
    case .readLocalVersionInformation:
      return .localVersionInformation(
        HCI.VersionInformation(
          hciVersion: configuration.version, hciSubversion: configuration.subversion,
          lmpVersion: configuration.version, companyIdentifier: configuration.companyIdentifier,
          lmpSubversion: configuration.subversion))
    case .readLocalSupportedCommands:
      return .localSupportedCommands(HCI.SupportedCommands(Self.supportedOpcodes))
    case .readLocalSupportedFeatures: return .localSupportedFeatures(Self.lmpFeatures)
    case .readBufferSize:
      return .bufferSize(
        HCI.BufferSize(
          aclLength: UInt16(clamping: configuration.aclBufferLength),
          aclCount: UInt16(clamping: configuration.aclBufferCount)))
    case .leReadBufferSize:
      return .leBufferSize(
        aclLength: UInt16(clamping: configuration.aclBufferLength),
        aclCount: UInt8(clamping: configuration.aclBufferCount))
    case .readBDADDR:
      // A controller without public address says so with zeros · 7.4.6.
      return .bdADDR(configuration.address.kind == .public ? configuration.address.value : 0)
    case .leReadLocalSupportedFeatures: return .leLocalSupportedFeatures(.claimed)
    case .leReadSupportedStates: return .leSupportedStates(Self.supportedStates)
    case .leRand: return .leRand(random.next())
    case .leReadTransmitPower:
      let level = configuration.transmitPower.hciLevel
      return .leTransmitPower(minimum: level, maximum: level)
    case .leReadSuggestedDefaultDataLength: return .leSuggestedDefaultDataLength(host.suggestedLength)
    case .leWriteSuggestedDefaultDataLength(let length):
      guard length.isValid else { return .status(.invalidHCICommandParameters) }
      host.suggestedLength = length.supported
      return .status(.success)
    case .leReadMaximumDataLength:
      return .leMaximumDataLength(transmit: DataLengthState.maximum, receive: DataLengthState.maximum)
    default: return nil
    }
  }
}

extension HCI.DataLength {
  /// · Vol 4, Part E, 7.8.33, 7.8.35
  var isValid: Bool { 27...251 ~= octets && 328...17_040 ~= time }
  /// No more than this controller can send.
  var supported: HCI.DataLength {
    HCI.DataLength(
      octets: min(octets, DataLengthState.maximum.octets), time: min(time, DataLengthState.maximum.time))
  }
}
