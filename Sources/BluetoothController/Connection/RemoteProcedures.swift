import BluetoothWire

/// LL Control PDUs of the peer · Vol 6, Part B, 2.4.2, 5.1.
extension Connection {
  mutating func receiveControl(_ payload: ByteSlice, at now: Instant, into output: inout HostOutput) {
    let pdu: LL.ControlPDU
    do throws(DecodingError) {
      pdu = try LL.ControlPDU(payload: payload)
    } catch {
      refuse(payload, in: output.pool)
      return
    }
    if takeRequest(pdu, at: now, into: &output) { return }
    takeResponse(pdu, at: now, into: &output)
  }

  /// What is unknown, or has not the length that it should have, is not understood; what would be a response to this
  /// device is not answered.
  private mutating func refuse(_ payload: ByteSlice, in pool: PacketPool) {
    guard !payload.isEmpty else { return }
    switch LL.ControlOpcode(rawValue: payload[0]) {
    case .encRsp?, .startEncRsp?, .pauseEncRsp?, .unknownRsp?, .rejectInd?, .rejectExtInd?, .featureRsp?,
      .connectionParamRsp?, .pingRsp?, .lengthRsp?, .phyRsp?, .clockAccuracyRsp?:
      return
    default: send(.unknownRsp(payload[0]), in: pool)
    }
  }

  /// LL_REJECT_EXT_IND, unless the peer is known not to understand it · 5.1.
  private mutating func reject(_ opcode: LL.ControlOpcode, _ reason: HCI.ErrorCode, in pool: PacketPool) {
    let understands = procedures.remoteFeatures?.contains(.extendedRejectIndication) ?? true
    send(understands ? .rejectExtInd(opcode: opcode.rawValue, reason) : .rejectInd(reason), in: pool)
  }

  /// Takes what the peer begins; false: it is a response.
  private mutating func takeRequest(_ pdu: LL.ControlPDU, at now: Instant, into output: inout HostOutput) -> Bool {
    let pool = output.pool
    switch pdu {
    case .connectionUpdateInd(let timing, let instant): takeUpdate(timing, instant: instant, at: now, into: &output)
    case .channelMapInd(let map, let instant): takeChannelMap(map, instant: instant, at: now, into: &output)
    case .terminateInd(let reason): ending = .afterAnswer(reason)
    case .featureReq(let features):
      guard role == .peripheral else { return notForThisRole(pdu, in: pool) }
      takeFeatures(features, in: pool)
    case .peripheralFeatureReq(let features):
      guard role == .central else { return notForThisRole(pdu, in: pool) }
      takeFeatures(features, in: pool)
    case .versionInd(let version):
      procedures.remoteVersion = version
      sendVersion(in: pool)
      if case .versionExchange? = procedures.active {
        reportVersion(version, into: &output)
        finishProcedure(at: now, into: &output)
      }
    case .connectionParamReq(let proposal): takeParameterRequest(proposal, into: &output)
    case .pingReq: send(.pingRsp, in: pool)
    // Encryption is a feature that is not claimed.
    case .encReq, .startEncReq, .pauseEncReq: return notForThisRole(pdu, in: pool)
    case .lengthReq(let lengths):
      guard lengths.isValid else {
        reject(pdu.opcode, .invalidLLParameters, in: pool)
        return true
      }
      learn(lengths, into: &output)
      send(.lengthRsp(self.lengths.announce()), in: pool)
    // Features that are not claimed.
    case .periodicSyncInd, .phyReq, .phyUpdateInd, .minUsedChannelsInd, .clockAccuracyReq, .channelReportingInd,
      .channelStatusInd:
      return notForThisRole(pdu, in: pool)
    default: return false
    }
    return true
  }

  /// A central has no use for what only a central sends, nor a peripheral for what only a peripheral does.
  private mutating func notForThisRole(_ pdu: LL.ControlPDU, in pool: PacketPool) -> Bool {
    send(.unknownRsp(pdu.opcode.rawValue), in: pool)
    return true
  }

  /// FeatureSet of the answer: what both have in octet 0, and what this device has in the others · 2.4.2.10.
  private mutating func takeFeatures(_ features: UInt64, in pool: PacketPool) {
    procedures.remoteFeatures = HCI.LEFeatures(rawValue: features)
    let own = HCI.LEFeatures.claimed.rawValue
    send(.featureRsp(own & (features | ~0xFF)), in: pool)
  }

  /// Takes what answers a request of this device; what answers nothing is not looked at.
  private mutating func takeResponse(_ pdu: LL.ControlPDU, at now: Instant, into output: inout HostOutput) {
    switch (pdu, procedures.active) {
    case (.featureRsp(let features), .featureExchange?):
      procedures.remoteFeatures = HCI.LEFeatures(rawValue: features)
      output.send(.leReadRemoteFeaturesComplete(.success, handle, HCI.LEFeatures(rawValue: features)))
    case (.lengthRsp(let lengths), .dataLengthUpdate?):
      if lengths.isValid { learn(lengths, into: &output) }
    case (.unknownRsp(let opcode), let procedure?):
      guard procedure.request(role: role)?.rawValue == opcode else { return }
      fail(procedure, .unsupportedRemoteFeature, into: &output)
    case (.rejectExtInd(let opcode, let reason), let procedure?):
      guard procedure.request(role: role)?.rawValue == opcode else { return }
      fail(procedure, reason, into: &output)
    case (.rejectInd(let reason), let procedure?):
      guard procedure.request(role: role) != nil else { return }
      fail(procedure, reason, into: &output)
    default: return
    }
    finishProcedure(at: now, into: &output)
  }

  /// Tells the host that what it asked for does not come.
  private func fail(
    _ procedure: ControlProcedures.Procedure, _ reason: HCI.ErrorCode, into output: inout HostOutput
  ) {
    switch procedure {
    case .featureExchange: output.send(.leReadRemoteFeaturesComplete(reason, handle, []))
    case .versionExchange:
      output.send(
        .readRemoteVersionInformationComplete(
          reason, handle, HCI.RemoteVersion(version: 0, companyIdentifier: 0, subversion: 0)))
    case .parameterRequest: output.send(.leConnectionUpdateComplete(reason, handle, values))
    case .dataLengthUpdate, .connectionUpdate, .channelMapUpdate, .termination: break
    }
  }

  func reportVersion(_ version: LL.VersionInformation, into output: inout HostOutput) {
    output.send(
      .readRemoteVersionInformationComplete(
        .success, handle,
        HCI.RemoteVersion(
          version: version.version, companyIdentifier: version.company, subversion: version.subversion)))
  }

  private mutating func learn(_ lengths: LL.DataLengths, into output: inout HostOutput) {
    guard self.lengths.learn(lengths) else { return }
    output.send(.leDataLengthChange(handle, transmit: self.lengths.transmit, receive: self.lengths.receive))
  }

  // MARK: Instants

  private mutating func takeUpdate(
    _ timing: LL.ConnectionTiming, instant: UInt16, at now: Instant, into output: inout HostOutput
  ) {
    guard role == .peripheral else {
      _ = notForThisRole(.connectionUpdateInd(timing, instant: instant), in: output.pool)
      return
    }
    guard let event = futureEvent(instant) else { return }
    guard timing.isValid, procedures.update == nil else {
      begin(.termination(reason: .invalidLLParameters, code: .invalidLLParameters), at: now, into: &output)
      return
    }
    if event == schedule.next {
      // That is this event: the packet that brought the news was already sent at the new place.
      var timing = timing
      (timing.windowOffset, timing.windowSize) = (0, 0)
      apply(timing, instant: event, into: &output)
    } else {
      procedures.update = (timing, event)
    }
  }

  private mutating func takeChannelMap(
    _ map: ChannelMap, instant: UInt16, at now: Instant, into output: inout HostOutput
  ) {
    guard role == .peripheral else {
      _ = notForThisRole(.channelMapInd(map, instant: instant), in: output.pool)
      return
    }
    guard let event = futureEvent(instant) else { return }
    guard map.isValid, procedures.mapUpdate == nil else {
      begin(.termination(reason: .invalidLLParameters, code: .invalidLLParameters), at: now, into: &output)
      return
    }
    if event == schedule.next { channelMap = map } else { procedures.mapUpdate = (map, event) }
  }

  /// The number of the event that a PDU's Instant means. One that has passed, which is one that lies 32,767 events ahead or
  /// more, ends the connection at once · 5.1.1, 5.1.2.
  private mutating func futureEvent(_ instant: UInt16) -> Int? {
    let distance = Int(instant &- UInt16(truncatingIfNeeded: schedule.next))
    guard distance < 32_767 else {
      ending = .over(.instantPassed)
      return nil
    }
    return schedule.next + distance
  }

  // MARK: Connection parameter request · 5.1.7

  private mutating func takeParameterRequest(
    _ proposal: LL.ConnectionParameterProposal, into output: inout HostOutput
  ) {
    let refusal: HCI.ErrorCode?
    if !proposal.parameters.isValid {
      refusal = .invalidLLParameters
    } else if !procedures.acceptsParameterRequest(role: role) {
      refusal = .llProcedureCollision
    } else if !output.wants(.remoteConnectionParameterRequest) {
      refusal = .unsupportedRemoteFeature
    } else {
      refusal = nil
    }
    if let refusal {
      reject(.connectionParamReq, refusal, in: output.pool)
      return
    }
    procedures.remoteRequest = proposal
    output.send(.leRemoteConnectionParameterRequest(handle, proposal.parameters))
  }

  /// The host accepts the peer's request with these parameters.
  mutating func acceptParameterRequest(
    _ parameters: ConnectionParameters, at now: Instant, into output: inout HostOutput
  ) {
    guard procedures.remoteRequest != nil else { return }
    procedures.remoteRequest = nil
    switch role {
    case .central: begin(.connectionUpdate(parameters), at: now, into: &output)
    case .peripheral:
      send(.connectionParamRsp(LL.ConnectionParameterProposal(parameters: parameters)), in: output.pool)
      schedule.hasten(at: now)
    }
  }

  mutating func rejectParameterRequest(_ reason: HCI.ErrorCode, at now: Instant, in pool: PacketPool) {
    guard procedures.remoteRequest != nil else { return }
    procedures.remoteRequest = nil
    reject(.connectionParamReq, reason, in: pool)
    schedule.hasten(at: now)
  }
}

extension ControlProcedures {
  /// Only one procedure with an instant at a time · 5.3; a peripheral's own request gives way to the central's.
  func acceptsParameterRequest(role: Connection.Role) -> Bool {
    guard remoteRequest == nil, update == nil, mapUpdate == nil else { return false }
    guard role == .central else { return true }
    switch active {
    case .connectionUpdate, .channelMapUpdate: return false
    default: return true
    }
  }
}

extension ControlProcedures.Procedure {
  /// The PDU that begins this procedure and that the peer may refuse; nil: it can't refuse.
  func request(role: Connection.Role) -> LL.ControlOpcode? {
    switch self {
    case .featureExchange: role == .central ? .featureReq : .peripheralFeatureReq
    case .versionExchange: .versionInd
    case .dataLengthUpdate: .lengthReq
    case .parameterRequest: .connectionParamReq
    case .termination, .connectionUpdate, .channelMapUpdate: nil
    }
  }
}
