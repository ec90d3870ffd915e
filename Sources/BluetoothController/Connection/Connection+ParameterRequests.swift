import BluetoothWire

/// The Connection Parameters Request procedure · Vol 6, Part B, 5.1.7: the peer requests parameters, the host
/// decides.
extension Connection {
  mutating func takeParameterRequest(
    _ proposal: LL.ConnectionParameterProposal, at now: Instant, into output: inout HCIEventQueue
  ) {
    let refusal: HCI.ErrorCode?
    if !proposal.isValid {
      refusal = .invalidLLParameters
    } else if let reason = procedures.collision(with: .parameters, role: role) {
      refusal = reason
    } else if !isOnlyMoved(by: proposal), !output.wants(.remoteConnectionParameterRequest) {
      refusal = .unsupportedRemoteFeature
    } else {
      refusal = nil
    }
    if let refusal {
      reject(.connectionParamReq, refusal, in: output.pool)
      return
    }
    procedures.remote = .parameterRequest(proposal)
    guard isOnlyMoved(by: proposal) else {
      output.send(.leRemoteConnectionParameterRequest(handle, proposal.parameters))
      return
    }
    // The host does not decide about new anchor points alone · 5.1.7.3.
    let anchor = proposal.offsets[0].map {
      schedule.anchor(of: schedule.referenceEvent(of: proposal)) + ConnectionParameters.intervalUnit * Int64($0)
    }
    acceptParameterRequest(
      proposal.parameters, EventPlacement(interval: values.interval, anchor: anchor), at: now, into: &output)
  }

  private func isOnlyMoved(by proposal: LL.ConnectionParameterProposal) -> Bool {
    proposal.parameters
      == ConnectionParameters(
        minimumInterval: values.interval, maximumInterval: values.interval, latency: values.latency,
        supervisionTimeout: values.supervisionTimeout)
  }

  /// The peer's request that waits for the host's decision.
  var parameterRequest: LL.ConnectionParameterProposal? {
    if case .parameterRequest(let proposal)? = procedures.remote { proposal } else { nil }
  }

  /// Accepts the peer's request with the parameters of the host.
  mutating func acceptParameterRequest(
    _ parameters: ConnectionParameters, _ placement: EventPlacement, at now: Instant, into output: inout HCIEventQueue
  ) {
    guard parameterRequest != nil else { return }
    switch role {
    case .central:
      announceUpdate(parameters, placement, in: output.pool)
    case .peripheral:
      procedures.remote = .connectionUpdate(until: now + ControlProcedures.timeout)
      send(.connectionParamRsp(proposal(of: parameters, placement)), in: output.pool)
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

  /// Returns LL_CONNECTION_PARAM_REQ or LL_CONNECTION_PARAM_RSP for these parameters, with the preferred anchor
  /// points.
  func proposal(
    of parameters: ConnectionParameters, _ placement: EventPlacement
  ) -> LL.ConnectionParameterProposal {
    let offset: UInt16? =
      placement.anchor == nil
      ? nil
      : UInt16(
        clamping: schedule.offset(to: placement, from: schedule.next).nanoseconds
          / ConnectionParameters.intervalUnit.nanoseconds)
    return LL.ConnectionParameterProposal(
      parameters: parameters, referenceConnectionEventCount: UInt16(truncatingIfNeeded: schedule.next),
      offsets: offset.map { .init(first: $0) } ?? .none)
  }
}

extension LL.ConnectionParameterProposal {
  /// True if the parameters are valid · 2.4.2.16.
  fileprivate var isValid: Bool {
    parameters.isValid && UInt16(preferredPeriodicity) <= parameters.maximumInterval
  }
}
