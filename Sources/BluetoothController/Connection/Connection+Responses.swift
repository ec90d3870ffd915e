import BluetoothWire

/// The peer's answers to this device's requests · Vol 6, Part B, 5.1.
extension Connection {
  /// Processes an answer to a request of this device; other PDUs are ignored.
  mutating func takeResponse(_ pdu: LL.ControlPDU, at now: Instant, into output: inout HCIEventQueue) {
    guard let procedure = procedures.active else { return }
    switch (pdu, procedure) {
    case (.featureRsp(let features), .featureExchange):
      procedures.remoteFeatures = HCI.LEFeatures(rawValue: features)
      output.send(.leReadRemoteFeaturesComplete(.success, handle, HCI.LEFeatures(rawValue: features)))
    case (.lengthRsp(let lengths), .dataLengthUpdate):
      if lengths.isValid { learn(lengths, into: &output) }
    case (.pingRsp, .ping): break
    case (.clockAccuracyRsp(let accuracy), .clockAccuracyUpdate(let isHosts)):
      schedule.setPeerAccuracy(accuracy.partsPerMillion)
      guard isHosts else { break }
      output.send(.leRequestPeerSCAComplete(.success, handle, clockAccuracy: accuracy.rawValue))
    case (.phyRsp(let preferences), .phyUpdate):
      guard role == .central, procedures.update == nil else { return }
      if announcePHYUpdate(with: preferences, into: &output) { return }
      reportPHYs(.success, into: &output)
    case (.connectionParamRsp(let proposal), .parameterRequest(_, let placement)):
      guard role == .central, procedures.update == nil else { return }
      guard proposal.parameters.isValid else {
        fail(procedure, .invalidLLParameters, into: &output)
        break
      }
      announceUpdate(proposal.parameters, placement, in: output.pool)
      return
    case (.unknownRsp(let opcode), _):
      guard procedure.request(role: role)?.rawValue == opcode else { return }
      if case .parameterRequest = procedure { procedures.isParameterRequestUnknown = true }
      if isReplaced(procedure, in: output.pool) { return }
      fail(procedure, .unsupportedRemoteFeature, into: &output)
    case (.rejectExtInd(let opcode, let reason), _):
      guard procedure.request(role: role)?.rawValue == opcode else { return }
      if reason == .unsupportedRemoteFeature, isReplaced(procedure, in: output.pool) { return }
      fail(procedure, reason, into: &output)
    case (.rejectInd(let reason), _):
      guard procedure.request(role: role) != nil else { return }
      fail(procedure, reason, into: &output)
    default: return
    }
    finishProcedure(at: now, into: &output)
  }

  /// Continues as a connection update by the central alone, if the peer does not support LL_CONNECTION_PARAM_REQ, or
  /// its host does not accept it · 5.1.7.
  private mutating func isReplaced(_ procedure: ControlProcedures.Procedure, in pool: PacketPool) -> Bool {
    guard role == .central, case .parameterRequest(let parameters, let placement) = procedure else { return false }
    decide(on: parameters, placement, in: pool)
    return true
  }

  /// Changes the parameters as central without a request to the peripheral.
  mutating func decide(on parameters: ConnectionParameters, _ placement: EventPlacement, in pool: PacketPool) {
    procedures.replaceActive(with: .connectionUpdate(parameters, placement))
    announceUpdate(parameters, placement, in: pool)
  }

  /// Reports to the host that its request has failed.
  private mutating func fail(
    _ procedure: ControlProcedures.Procedure, _ reason: HCI.ErrorCode, into output: inout HCIEventQueue
  ) {
    switch procedure {
    case .featureExchange: output.send(.leReadRemoteFeaturesComplete(reason, handle, []))
    case .versionExchange:
      output.send(
        .readRemoteVersionInformationComplete(
          reason, handle, HCI.RemoteVersion(version: 0, companyIdentifier: 0, subversion: 0)))
    case .parameterRequest: output.send(.leConnectionUpdateComplete(reason, handle, values))
    case .phyUpdate: reportPHYs(reason, into: &output)
    case .clockAccuracyUpdate(isHosts: true): output.send(.leRequestPeerSCAComplete(reason, handle, clockAccuracy: 0))
    case .encryption, .ping, .dataLengthUpdate, .connectionUpdate, .channelMapUpdate, .termination,
      .minimumUsedChannels, .syncTransfer, .clockAccuracyUpdate, .channelReporting, .channelStatus:
      break
    }
  }

  func reportVersion(_ version: LL.VersionInformation, into output: inout HCIEventQueue) {
    output.send(
      .readRemoteVersionInformationComplete(
        .success, handle,
        HCI.RemoteVersion(
          version: version.version, companyIdentifier: version.company, subversion: version.subversion)))
  }
}
