import BluetoothWire

/// The Connection Parameters Request procedure · Vol 6, Part B, 5.1.7: the peer requests parameters, the host
/// decides.
extension Connection {
  mutating func takeParameterRequest(
    _ proposal: LL.ConnectionParameterProposal, at now: Instant, into output: inout HCIEventQueue
  ) {
    guard proposal.isValid else {
      reject(.connectionParamReq, .invalidLLParameters, in: output.pool)
      return
    }
    if refuses(.connectionParamReq, of: .parameters, in: output.pool) { return }
    guard proposal.isMove(of: values) || output.wants(.remoteConnectionParameterRequest) else {
      reject(.connectionParamReq, .unsupportedRemoteFeature, in: output.pool)
      return
    }
    procedures.remote = .parameterRequest(proposal)
    guard proposal.isMove(of: values) else {
      output.send(.leRemoteConnectionParameterRequest(handle, proposal.parameters))
      return
    }
    // The host does not decide about new anchor points alone · 5.1.7.3.
    let anchor = proposal.offsets[0].map {
      schedule.anchor(of: schedule.referenceEvent(of: proposal)) + LinkParameters.intervalUnit * Int64($0)
    }
    acceptParameterRequest(
      proposal.parameters, EventPlacement(interval: values.interval, anchor: anchor), at: now, into: &output)
  }

  /// The peer's request that waits for the host's decision.
  var parameterRequest: LL.ConnectionParameterProposal? {
    if case .parameterRequest(let proposal)? = procedures.remote { proposal } else { nil }
  }

  /// Accepts the peer's request with the parameters of the host.
  mutating func acceptParameterRequest(
    _ parameters: LinkParameters, _ placement: EventPlacement, at now: Instant, into output: inout HCIEventQueue
  ) {
    guard parameterRequest != nil else { return }
    switch role {
    case .central:
      announceUpdate(parameters, placement, in: output.pool)
    case .peripheral:
      procedures.remote = .connectionUpdate(until: now + ControlProcedures.timeout)
      send(.connectionParamRsp(schedule.proposal(of: parameters, placement)), in: output.pool)
    }
    schedule.hasten(at: now)
  }

  mutating func rejectParameterRequest(_ reason: HCI.ErrorCode, at now: Instant, into output: inout HCIEventQueue) {
    guard parameterRequest != nil else { return }
    procedures.remote = nil
    reject(.connectionParamReq, reason, in: output.pool)
    schedule.hasten(at: now)
    beginNextProcedure(at: now, into: &output)
  }
}

extension LL.ConnectionParameterProposal {
  /// True if the parameters are valid · 2.4.2.16.
  fileprivate var isValid: Bool {
    parameters.isValid && UInt16(preferredPeriodicity) <= parameters.maximumInterval
  }

  /// True if the proposal moves the anchor points only and keeps the present values.
  fileprivate func isMove(of values: HCI.ConnectionValues) -> Bool {
    parameters
      == LinkParameters(
        minimumInterval: values.interval, maximumInterval: values.interval, latency: values.latency,
        supervisionTimeout: values.supervisionTimeout)
  }
}
