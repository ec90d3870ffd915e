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
      if lengths.isValid { self.lengths.learn(lengths) }
    case (.pingRsp, .ping): break
    case (.clockAccuracyRsp(let accuracy), .clockAccuracyUpdate(let isHosts)):
      schedule.setPeerAccuracy(accuracy.partsPerMillion)
      guard isHosts else { break }
      output.send(.leRequestPeerSCAComplete(.success, handle, clockAccuracy: accuracy.rawValue))
    case (.phyRsp(let preferences), .phyUpdate):
      guard role == .central, procedures.update == nil else { return }
      if announcePHYUpdate(with: preferences, into: &output) { return }
      output.report(phys, .success, of: handle)
    case (.connectionParamRsp(let proposal), .parameterRequest(_, let placement)):
      guard role == .central, procedures.update == nil else { return }
      guard proposal.parameters.isValid else {
        output.report(failureOf: procedure, .invalidLLParameters, of: handle, values, phys)
        break
      }
      announceUpdate(proposal.parameters, placement, in: output.pool)
      return
    case (.unknownRsp(let opcode), _):
      guard procedure.request(role: role)?.rawValue == opcode else { return }
      if case .parameterRequest = procedure { procedures.isParameterRequestUnknown = true }
      if decide(on: procedure, in: output.pool) { return }
      output.report(failureOf: procedure, .unsupportedRemoteFeature, of: handle, values, phys)
    case (.rejectExtInd(let opcode, let reason), _):
      guard procedure.request(role: role)?.rawValue == opcode else { return }
      if reason == .unsupportedRemoteFeature, decide(on: procedure, in: output.pool) { return }
      output.report(failureOf: procedure, reason, of: handle, values, phys)
    case (.rejectInd(let reason), _):
      guard procedure.request(role: role) != nil else { return }
      output.report(failureOf: procedure, reason, of: handle, values, phys)
    default: return
    }
    finishProcedure(at: now, into: &output)
  }

  /// Continues a parameter request as a connection update by the central alone: the peer does not support
  /// LL_CONNECTION_PARAM_REQ, or its host does not accept it · 5.1.7. Returns false for other procedures.
  mutating func decide(on procedure: ControlProcedures.Procedure, in pool: PacketPool) -> Bool {
    guard role == .central, case .parameterRequest(let parameters, let placement) = procedure else { return false }
    procedures.replaceActive(with: .connectionUpdate(parameters, placement))
    announceUpdate(parameters, placement, in: pool)
    return true
  }
}
