import BluetoothWire

/// The execution of HCI commands · Vol 4, Part E, 7.
extension Controller {
  /// Executes a command of the host and answers it. Returns true if the command may have changed anything; false if
  /// it was refused before it was decoded, or only asks for information.
  mutating func command(_ opcode: HCI.Opcode, _ parameters: ByteSlice, at now: Instant) -> Bool {
    guard let served = supported(opcode) else {
      output.send(.commandStatus(.unknownHCICommand, credits: 1, opcode))
      return false
    }
    guard admits(served) else {
      refuse(opcode, parameters, .commandDisallowed)
      return false
    }
    let command: HCI.Command
    do throws(DecodingError) {
      command = try HCI.Command(opcode: opcode, parameters: parameters)
    } catch {
      refuse(opcode, parameters, HCI.ErrorCode(error))
      return false
    }
    if let answer = answer(to: command) {
      output.send(.commandComplete(credits: 1, opcode, answer))
      return false
    }
    perform(command, opcode, parameters, at: now)
    return true
  }

  private mutating func perform(_ command: HCI.Command, _ opcode: HCI.Opcode, _ parameters: ByteSlice, at now: Instant)
  {
    if case .hostNumberOfCompletedPackets(let packets) = command {
      // The controller answers this command only if it is wrong · 7.3.40.
      if !output.hostCompleted(packets) { refuse(opcode, parameters, .invalidHCICommandParameters) }
      return
    }
    if let status = answerWithStatus(command, at: now) ?? statusOfInitiating(command, at: now)
      ?? statusOfSynchronizing(command) ?? statusOfCryptography(command)
    {
      output.send(.commandStatus(status, credits: 1, opcode))
      followStatus(command, status, at: now)
      if status == .success {
        followInitiating(command, at: now)
        followSynchronizing(command)
        followCryptography(command)
      }
    } else if let result = complete(command, at: now) {
      output.send(.commandComplete(credits: 1, opcode, result))
      followCompletion(command, result)
    } else {
      output.send(.commandStatus(.unknownHCICommand, credits: 1, opcode))
    }
  }

  /// Executes a command that is done at once and returns its parameters; nil: the command is not known here.
  private mutating func complete(_ command: HCI.Command, at now: Instant) -> HCI.ReturnParameters? {
    if let result = general(command) { return result }
    if let result = advertising(command, at: now) { return result }
    if let result = advertisingSets(command, at: now) { return result }
    if let result = periodicAdvertising(command, at: now) { return result }
    if let result = scanning(command, at: now) { return result }
    if let result = synchronizing(command, at: now) { return result }
    if let result = transferringSyncs(command, at: now) { return result }
    if let result = ofConnection(command, at: now) { return result }
    if let result = ofEncryption(command, at: now) { return result }
    if let result = ofPrivacy(command, at: now) { return result }
    return cryptography(command) ?? hostFlowControl(command)
  }

  private mutating func refuse(_ opcode: HCI.Opcode, _ parameters: ByteSlice, _ status: HCI.ErrorCode) {
    if opcode.isAnsweredWithStatus {
      output.send(.commandStatus(status, credits: 1, opcode))
    } else {
      output.send(.commandComplete(credits: 1, opcode, .failure(status, of: opcode, parameters)))
    }
  }

  /// Returns the answer to a command that only reads properties of the controller; nil: another command.
  private mutating func answer(to command: HCI.Command) -> HCI.ReturnParameters? {
    switch command {
    case .readLocalVersionInformation:
      return .localVersionInformation(
        HCI.VersionInformation(
          hciVersion: configuration.version, hciSubversion: configuration.subversion,
          lmpVersion: configuration.version, companyIdentifier: configuration.companyIdentifier,
          lmpSubversion: configuration.subversion))
    case .readLocalSupportedCommands:
      return .localSupportedCommands(HCI.SupportedCommands(supportedOpcodes))
    case .readLocalSupportedFeatures: return .localSupportedFeatures(Self.lmpFeatures)
    case .readLocalExtendedFeatures(let page):
      // Page 0 is the only page · 7.4.4.
      guard page == 0 else { return .status(.invalidHCICommandParameters) }
      return .localExtendedFeatures(page: 0, maximumPage: 0, Self.lmpFeatures.rawValue)
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
      // A controller without a public address reports zeros · 7.4.6.
      return .bdADDR(configuration.address.kind == .public ? configuration.address.value : 0)
    case .leReadLocalSupportedFeatures: return .leLocalSupportedFeatures(features)
    case .leReadSupportedStates: return .leSupportedStates(configuration.supportedStates)
    case .leReadTransmitPower:
      return .leTransmitPower(
        minimum: AdvertisingProperties.minimumPower.hciLevel, maximum: AdvertisingProperties.maximumPower.hciLevel)
    case .leReadSuggestedDefaultDataLength: return .leSuggestedDefaultDataLength(host.suggestedLength)
    case .leReadMaximumDataLength:
      let longest = DataLengthState.maximum(with: features)
      return .leMaximumDataLength(transmit: longest, receive: longest)
    default: return nil
    }
  }

  /// Executes the commands that set something for the whole controller.
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
    case .leSetHostFeature(let bit, let value): return .status(setHostFeature(bit, value))
    case .leWriteSuggestedDefaultDataLength(let length):
      guard length.isValid else { return .status(.invalidHCICommandParameters) }
      host.suggestedLength = length
      return .status(.success)
    default: return nil
    }
  }
}

extension HCI.DataLength {
  /// True if both values are in range · Vol 4, Part E, 7.8.33, 7.8.35.
  var isValid: Bool { 27...251 ~= octets && 328...17_040 ~= time }
  /// Returns the values limited to what a controller with these features can send.
  func supported(by features: HCI.LEFeatures) -> HCI.DataLength {
    let longest = DataLengthState.maximum(with: features)
    return HCI.DataLength(octets: min(octets, longest.octets), time: min(time, longest.time))
  }
}

extension HCI.ErrorCode {
  /// Creates the status of a command that can't be decoded · Vol 4, Part E, 4.5: reserved values may have a meaning
  /// in a later version.
  fileprivate init(_ error: DecodingError) {
    switch error {
    case .truncated, .excess, .invalid: self = .invalidHCICommandParameters
    case .unknown: self = .unsupportedFeatureOrParameterValue
    }
  }
}
