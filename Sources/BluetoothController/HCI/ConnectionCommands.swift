import BluetoothWire

/// Commands for connections · Vol 4, Part E, 7.1.6, 7.1.23, 7.5.4, 7.8.12, 7.8.13, 7.8.18 to 7.8.21, 7.8.31 to 7.8.33.
extension Controller {
  // MARK: Checks: the status of commands that are answered with Command Status

  /// Returns the status of Disconnect.
  mutating func checkDisconnect(_ handle: HCI.ConnectionHandle, _ reason: HCI.ErrorCode) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard Self.disconnectReasons.contains(reason.rawValue) else { return .invalidHCICommandParameters }
    return connections[index].isTerminating ? .commandDisallowed : .success
  }

  /// Returns the status of a command that begins a procedure which every peer supports.
  mutating func checkProcedure(on handle: HCI.ConnectionHandle) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    return connections[index].procedures.isFull ? .controllerBusy : .success
  }

  /// Returns the status of LE Read Remote Features.
  mutating func checkReadRemoteFeatures(_ handle: HCI.ConnectionHandle) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard connections[index].canReadFeatures else { return .commandDisallowed }
    return connections[index].procedures.isFull ? .controllerBusy : .success
  }

  /// Returns the status of LE Request Peer SCA.
  mutating func checkRequestPeerSCA(_ handle: HCI.ConnectionHandle) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard !connections[index].peerLacks(.sleepClockAccuracyUpdates) else { return .unsupportedRemoteFeature }
    return connections[index].procedures.isFull ? .controllerBusy : .success
  }

  /// Returns the status of LE Set PHY.
  mutating func checkSetPHY(_ handle: HCI.ConnectionHandle, _ preference: HCI.PHYPreference) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    return connections[index].check(preference)
  }

  /// Returns the status of LE Connection Update.
  mutating func checkConnectionUpdate(
    _ handle: HCI.ConnectionHandle, _ parameters: ConnectionParameters
  ) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard parameters.isValid else { return .invalidHCICommandParameters }
    guard connections[index].canRequestParameters else { return .unsupportedRemoteFeature }
    return connections[index].procedures.isFull ? .controllerBusy : .success
  }

  /// The reasons that a host may give · 7.1.6.
  private static let disconnectReasons: [UInt8] = [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B]

  // MARK: Procedures, which begin after Command Status

  /// Begins a procedure on a link.
  mutating func begin(
    _ procedure: ControlProcedures.Procedure, on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    guard let index = index(of: handle) else { return }
    connections[index].begin(procedure, at: now, into: &output)
  }

  /// Executes LE Read Remote Features.
  mutating func readRemoteFeatures(_ handle: HCI.ConnectionHandle, at now: Instant) {
    guard let index = index(of: handle) else { return }
    connections[index].readFeatures(at: now, into: &output)
  }

  /// Executes LE Connection Update.
  mutating func updateConnection(
    _ handle: HCI.ConnectionHandle, _ parameters: ConnectionParameters, at now: Instant
  ) {
    guard let index = index(of: handle) else { return }
    let placement = placement(of: index, for: parameters)
    begin(.parameterRequest(parameters, placement), on: handle, at: now)
  }

  /// Executes LE Set PHY.
  mutating func setPHY(
    _ handle: HCI.ConnectionHandle, _ preference: HCI.PHYPreference, options: UInt16, at now: Instant
  ) {
    guard let index = index(of: handle) else { return }
    connections[index].prefer(preference, options: options)
    begin(.phyUpdate, on: handle, at: now)
  }

  // MARK: Commands that are answered with Command Complete

  /// Executes LE Set Default PHY.
  mutating func setDefaultPHY(_ preference: HCI.PHYPreference) -> HCI.ErrorCode {
    let preferences = LL.PHYPreferences(preference, of: features)
    if let refusal = preferences.refusal(with: features) { return refusal }
    host.preferredPHYs = preferences
    return .success
  }

  /// Executes LE Set Data Length.
  mutating func setDataLength(
    _ length: HCI.DataLength, on handle: HCI.ConnectionHandle, at now: Instant
  ) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard length.isValid else { return .invalidHCICommandParameters }
    connections[index].setDataLength(length.supported(by: features), at: now, into: &output)
    return .success
  }

  /// Executes LE Remote Connection Parameter Request Reply.
  mutating func acceptParameterRequest(
    on handle: HCI.ConnectionHandle, _ parameters: ConnectionParameters, at now: Instant
  ) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard let proposal = connections[index].parameterRequest else { return .commandDisallowed }
    guard parameters.isValid else { return .invalidHCICommandParameters }
    let placement = placement(of: index, for: parameters, granting: proposal)
    connections[index].acceptParameterRequest(parameters, placement, at: now, into: &output)
    return .success
  }

  /// Executes LE Remote Connection Parameter Request Negative Reply.
  mutating func rejectParameterRequest(
    on handle: HCI.ConnectionHandle, _ reason: HCI.ErrorCode, at now: Instant
  ) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard connections[index].parameterRequest != nil else { return .commandDisallowed }
    connections[index].rejectParameterRequest(reason, at: now, into: &output)
    return .success
  }

  /// Returns parameters of a link, or the error for an unknown one.
  mutating func with(
    _ handle: HCI.ConnectionHandle, _ body: (borrowing Connection) -> HCI.ReturnParameters
  ) -> HCI.ReturnParameters {
    guard let index = index(of: handle) else { return .handle(.unknownConnectionIdentifier, handle) }
    return body(connections[index])
  }

  /// Excludes the channels that the host knows to be bad; a central does so at once · 7.8.19.
  mutating func setChannelClassification(_ map: ChannelMap, at now: Instant) -> HCI.ErrorCode {
    guard map.count >= 1 else { return .invalidHCICommandParameters }
    // One channel is too few for a connection, so all channels are used.
    host.channelMap = map.isValid ? map : .all
    for index in connections.indices {
      connections[index].channels.host = host.channelMap
      connections[index].channelsChanged(at: now, into: &output)
    }
    for index in sets.indices { sets[index]?.advertiser?.auxiliary?.channelMap = host.channelMap }
    trainChannelsChanged()
    return .success
  }
}

extension Connection {
  var isTerminating: Bool {
    if case .termination? = procedures.active { return true }
    return ending != nil
  }

  /// True if the peer is known not to support a feature.
  func peerLacks(_ feature: HCI.LEFeatures) -> Bool { procedures.remoteFeatures?.contains(feature) == false }

  /// True if the controller sends LL_CONNECTION_PARAM_REQ for new parameters: this device supports the procedure, and
  /// the peer is not known to lack it. A central that does not send it decides alone · Vol 6, Part B, 5.1.1, 5.1.7.
  var asksForParameters: Bool {
    let procedure = HCI.LEFeatures.connectionParametersRequestProcedure
    return features.contains(procedure) && !procedures.isParameterRequestUnknown && !peerLacks(procedure)
  }

  /// True if the host may change the parameters: a peripheral can only request a change.
  var canRequestParameters: Bool { role == .central || asksForParameters }

  /// Returns the status of LE Set PHY · Vol 4, Part E, 7.8.49.
  func check(_ preference: HCI.PHYPreference) -> HCI.ErrorCode {
    let preferences = LL.PHYPreferences(preference, of: features)
    if let refusal = preferences.refusal(with: features) { return refusal }
    let wanted = preferences.transmit.union(preferences.receive)
    if peerLacks(.le2MPHY), peerLacks(.leCodedPHY), !wanted.contains(.le1M) { return .unsupportedRemoteFeature }
    return procedures.isFull ? .controllerBusy : .success
  }

  mutating func prefer(_ preference: HCI.PHYPreference, options: UInt16) {
    phys.preferences = LL.PHYPreferences(preference, of: features)
    // PHY_Options: 0 no preference, 1: S=2, 2: S=8.
    phys.prefersS2 = options & 0b11 == 1
  }

  /// True if this device may request the peer's features: in Bluetooth 4.0 only a central does · 5.1.4.
  var canReadFeatures: Bool { role == .central || features.contains(.peripheralInitiatedFeaturesExchange) }

  /// Reports the peer's features. The controller requests them once in a connection · Vol 4, Part E, 7.8.21.
  mutating func readFeatures(at now: Instant, into output: inout HCIEventQueue) {
    if let features = procedures.remoteFeatures {
      output.send(.leReadRemoteFeaturesComplete(.success, handle, features))
    } else {
      begin(.featureExchange, at: now, into: &output)
    }
  }

  mutating func setDataLength(_ length: HCI.DataLength, at now: Instant, into output: inout HCIEventQueue) {
    guard length != lengths.preferred || lengths.transmit != length else { return }
    lengths.preferred = length
    // A waiting procedure will carry the new lengths.
    guard !procedures.isWaiting(where: { if case .dataLengthUpdate = $0 { true } else { false } }) else { return }
    begin(.dataLengthUpdate, at: now, into: &output)
  }
}

extension LL.PHYPreferences {
  /// Creates the preferences of the host; without a preference, all PHYs.
  fileprivate init(_ preference: HCI.PHYPreference, of features: HCI.LEFeatures) {
    self.init(transmit: preference.transmit ?? features.phys, receive: preference.receive ?? features.phys)
  }

  /// Returns the error if the host of a controller with these features can't have this preference; nil: it can · Vol
  /// 4, Part E, 7.8.48, 7.8.49.
  fileprivate func refusal(with features: HCI.LEFeatures) -> HCI.ErrorCode? {
    if transmit.isEmpty || receive.isEmpty { return .invalidHCICommandParameters }
    return transmit.union(receive).isSubset(of: features.phys) ? nil : .unsupportedFeatureOrParameterValue
  }
}
