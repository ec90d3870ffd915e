import BluetoothWire

/// Commands for connections · Vol 4, Part E, 7.1.6, 7.1.23, 7.5.4, 7.8.12, 7.8.13, 7.8.18 to 7.8.21, 7.8.31 to 7.8.33.
extension ConnectionTable {
  // MARK: Checks: the status of commands that are answered with Command Status

  /// Returns the status of Disconnect.
  mutating func checkDisconnect(_ handle: HCI.ConnectionHandle, _ reason: HCI.ErrorCode) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard Self.disconnectReasons.contains(reason.rawValue) else { return .invalidHCICommandParameters }
    return self[index].isTerminating ? .commandDisallowed : .success
  }

  /// Returns the status of a command that begins a procedure which every peer supports.
  mutating func checkProcedure(on handle: HCI.ConnectionHandle) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    return self[index].procedures.isFull ? .controllerBusy : .success
  }

  /// Returns the status of LE Read Remote Features.
  mutating func checkReadRemoteFeatures(_ handle: HCI.ConnectionHandle) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard self[index].canReadFeatures else { return .commandDisallowed }
    return self[index].procedures.isFull ? .controllerBusy : .success
  }

  /// Returns the status of LE Request Peer SCA.
  mutating func checkRequestPeerSCA(_ handle: HCI.ConnectionHandle) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard !self[index].procedures.peerLacks(.sleepClockAccuracyUpdates) else { return .unsupportedRemoteFeature }
    return self[index].procedures.isFull ? .controllerBusy : .success
  }

  /// Returns the status of LE Set PHY.
  mutating func checkSetPHY(_ handle: HCI.ConnectionHandle, _ preference: HCI.PHYPreference) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    return self[index].check(preference)
  }

  /// Returns the status of LE Connection Update.
  mutating func checkConnectionUpdate(
    _ handle: HCI.ConnectionHandle, _ parameters: LinkParameters
  ) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard parameters.isValid else { return .invalidHCICommandParameters }
    guard self[index].canRequestParameters else { return .unsupportedRemoteFeature }
    return self[index].procedures.isFull ? .controllerBusy : .success
  }

  /// The reasons that a host may give · 7.1.6.
  private static let disconnectReasons: [UInt8] = [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B]

  // MARK: Procedures, which begin after Command Status

  /// Begins a procedure on a link.
  mutating func begin(
    _ procedure: ControlProcedures.Procedure, on handle: HCI.ConnectionHandle, at now: Instant,
    into output: inout HCIEventQueue
  ) {
    guard let index = index(of: handle) else { return }
    self[index].begin(procedure, at: now, into: &output)
  }

  /// Executes LE Read Remote Features.
  mutating func readRemoteFeatures(_ handle: HCI.ConnectionHandle, at now: Instant, into output: inout HCIEventQueue) {
    guard let index = index(of: handle) else { return }
    self[index].readFeatures(at: now, into: &output)
  }

  /// Executes LE Connection Update.
  mutating func update(
    _ handle: HCI.ConnectionHandle, _ parameters: LinkParameters, at now: Instant,
    into output: inout HCIEventQueue
  ) {
    guard let index = index(of: handle) else { return }
    let placement = placement(of: index, for: parameters)
    begin(.parameterRequest(parameters, placement), on: handle, at: now, into: &output)
  }

  /// Executes LE Set PHY.
  mutating func setPHY(
    _ handle: HCI.ConnectionHandle, _ preference: HCI.PHYPreference, options: UInt16, at now: Instant,
    into output: inout HCIEventQueue
  ) {
    guard let index = index(of: handle) else { return }
    let features = self[index].features
    self[index].phys.prefer(preference, options: options, features: features)
    begin(.phyUpdate, on: handle, at: now, into: &output)
  }

  // MARK: Commands that are answered with Command Complete

  /// Executes LE Set Default PHY.
  mutating func setDefaultPHY(_ preference: HCI.PHYPreference, features: HCI.LEFeatures) -> HCI.ErrorCode {
    let preferences = LL.PHYPreferences(preference, of: features)
    if let refusal = preferences.refusal(with: features) { return refusal }
    preferredPHYs = preferences
    return .success
  }

  /// Executes LE Set Data Length.
  mutating func setDataLength(
    _ length: HCI.DataLength, on handle: HCI.ConnectionHandle, device: inout LocalDevice, at now: Instant
  ) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard length.isValid else { return .invalidHCICommandParameters }
    self[index].setDataLength(length.supported(by: device.features), at: now, into: &device.output)
    return .success
  }

  /// Executes LE Remote Connection Parameter Request Reply.
  mutating func acceptParameterRequest(
    on handle: HCI.ConnectionHandle, _ parameters: LinkParameters, at now: Instant,
    into output: inout HCIEventQueue
  ) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard let proposal = self[index].parameterRequest else { return .commandDisallowed }
    guard parameters.isValid else { return .invalidHCICommandParameters }
    let placement = placement(of: index, for: parameters, granting: proposal)
    self[index].acceptParameterRequest(parameters, placement, at: now, into: &output)
    return .success
  }

  /// Executes LE Remote Connection Parameter Request Negative Reply.
  mutating func rejectParameterRequest(
    on handle: HCI.ConnectionHandle, _ reason: HCI.ErrorCode, at now: Instant, into output: inout HCIEventQueue
  ) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard self[index].parameterRequest != nil else { return .commandDisallowed }
    self[index].rejectParameterRequest(reason, at: now, into: &output)
    return .success
  }

  /// Returns parameters of a link, or the error for an unknown one.
  mutating func with(
    _ handle: HCI.ConnectionHandle, _ body: (borrowing Connection) -> HCI.ReturnParameters
  ) -> HCI.ReturnParameters {
    guard let index = index(of: handle) else { return .handle(.unknownConnectionIdentifier, handle) }
    return body(self[index])
  }

  /// Executes LE Write Suggested Default Data Length.
  mutating func setPreferredLength(_ length: HCI.DataLength) -> HCI.ErrorCode {
    guard length.isValid else { return .invalidHCICommandParameters }
    preferredLength = length
    return .success
  }
}
