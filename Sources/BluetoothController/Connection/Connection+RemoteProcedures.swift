import BluetoothWire

/// The processing of the peer's LL Control PDUs · Vol 6, Part B, 2.4.2, 5.1.
extension Connection {
  mutating func receiveControl(_ payload: ByteSlice, at now: Instant, into output: inout HCIEventQueue) {
    let pdu: LL.ControlPDU
    do throws(DecodingError) {
      pdu = try LL.ControlPDU(payload: payload)
    } catch {
      refuse(payload, in: output.pool)
      return
    }
    if features.contains(.encryption), takeEncryption(pdu, payload, at: now, into: &output) { return }
    guard features.allow(pdu.opcode) else {
      refuse(payload, in: output.pool)
      return
    }
    if takeRequest(pdu, at: now, into: &output) { return }
    takeResponse(pdu, at: now, into: &output)
  }

  /// Answers LL_UNKNOWN_RSP to a PDU with an unknown opcode or a wrong length; responses to this device get no
  /// answer.
  private mutating func refuse(_ payload: ByteSlice, in pool: PacketPool) {
    guard !payload.isEmpty else { return }
    switch LL.ControlOpcode(rawValue: payload[0]) {
    case .encRsp?, .startEncRsp?, .pauseEncRsp?, .unknownRsp?, .rejectInd?, .rejectExtInd?, .featureRsp?,
      .connectionParamRsp?, .pingRsp?, .lengthRsp?, .phyRsp?, .clockAccuracyRsp?:
      return
    default: send(.unknownRsp(payload[0]), in: pool)
    }
  }

  /// Sends LL_REJECT_EXT_IND, or LL_REJECT_IND if the peer is known not to support the former · 5.1.
  mutating func reject(_ opcode: LL.ControlOpcode, _ reason: HCI.ErrorCode, in pool: PacketPool) {
    let understands =
      features.contains(.extendedRejectIndication)
      && procedures.remoteFeatures?.contains(.extendedRejectIndication) ?? true
    send(
      understands ? .rejectExtInd(opcode: opcode.rawValue, reason) : .rejectInd(reason), rejecting: opcode, in: pool)
  }

  /// Rejects a request of the peer for a procedure with an instant, or ends the connection, if the request collides with
  /// a procedure in progress. Returns false if it does not.
  mutating func refuses(
    _ opcode: LL.ControlOpcode, of transaction: ControlProcedures.Transaction, in pool: PacketPool
  ) -> Bool {
    guard let collision = procedures.collision(with: transaction, role: role) else { return false }
    if collision.endsConnection {
      ending = .over(collision.error)
    } else {
      reject(opcode, collision.error, in: pool)
    }
    return true
  }

  /// Processes a PDU with which the peer begins a procedure; returns false if the PDU is a response.
  private mutating func takeRequest(_ pdu: LL.ControlPDU, at now: Instant, into output: inout HCIEventQueue) -> Bool {
    let pool = output.pool
    guard pdu.opcode.isSent(by: role.other) else {
      send(.unknownRsp(pdu.opcode.rawValue), in: pool)
      return true
    }
    switch pdu {
    case .connectionUpdateInd(let timing, let instant):
      takeUpdate(.parameters(timing, delay: .zero), isValid: timing.isValid, instant: instant, at: now, into: &output)
    case .channelMapInd(let map, let instant):
      takeUpdate(.channelMap(map), isValid: map.isValid, instant: instant, at: now, into: &output)
    case .phyUpdateInd(let update, let instant): takePHYUpdate(update, instant: instant, at: now, into: &output)
    case .terminateInd(let reason): ending = .afterAnswer(reason)
    case .featureReq(let features), .peripheralFeatureReq(let features):
      procedures.remoteFeatures = HCI.LEFeatures(rawValue: features)
      // The features of both devices in octet 0, and this device's features in the other octets · 2.4.2.10.
      send(.featureRsp(self.features.featureSet & (features | ~0xFF)), in: pool)
    case .versionInd(let version):
      procedures.remoteVersion = version
      sendVersion(in: pool)
      if case .versionExchange? = procedures.active {
        output.report(version, of: handle)
        finishProcedure(at: now, into: &output)
      }
    case .connectionParamReq(let proposal): takeParameterRequest(proposal, at: now, into: &output)
    case .pingReq: send(.pingRsp, in: pool)
    case .startEncReq: send(.unknownRsp(pdu.opcode.rawValue), in: pool)
    case .periodicSyncInd(let transfer): procedures.syncTransfers.append(transfer)
    case .lengthReq(let lengths):
      guard lengths.isValid else {
        reject(pdu.opcode, .invalidLLParameters, in: pool)
        return true
      }
      send(.lengthRsp(self.lengths.announce(features, remote: procedures.remoteFeatures)), in: pool)
      self.lengths.learn(lengths)
      updateLengths(into: &output)
    case .phyReq(let preferences): takePHYRequest(preferences, at: now, into: &output)
    case .minUsedChannelsInd(let minimum):
      guard minimum.isValid else { return true }
      channels.require(minimum)
      updateChannelMap(at: now, into: &output)
    case .clockAccuracyReq(let accuracy):
      schedule.setPeerAccuracy(accuracy.partsPerMillion)
      send(.clockAccuracyRsp(sleepClockAccuracy), in: pool)
    case .channelReportingInd(let reporting):
      guard reporting.isValid else { return true }
      channels.take(reporting)
    case .channelStatusInd(let status):
      guard channels.reporting?.isEnabled == true else { return true }
      channels.reportedBad = status.channels(.bad)
      updateChannelMap(at: now, into: &output)
    default: return false
    }
    return true
  }

  // MARK: Data length update · 5.1.9

  /// Recomputes the effective lengths and reports changes to the host.
  mutating func updateLengths(into output: inout HCIEventQueue) {
    guard lengths.update(phys: phys, candidates: possiblePHYs, interval: interval) else { return }
    output.send(.leDataLengthChange(handle, transmit: lengths.transmit, receive: lengths.receive))
  }

  // MARK: PHY update · 5.1.10

  /// The PHYs on which this device may send after the procedure in progress.
  private var possiblePHYs: HCI.PHYs {
    mutating get {
      if case .phyUpdate? = procedures.active { return phys.preferences.transmit }
      if case .phyUpdate? = procedures.remote { return phys.preferences.transmit }
      guard case .phys(let update)? = procedures.update?.change else { return [] }
      return role == .central ? update.centralToPeripheral : update.peripheralToCentral
    }
  }

  private mutating func takePHYRequest(
    _ preferences: LL.PHYPreferences, at now: Instant, into output: inout HCIEventQueue
  ) {
    if refuses(.phyReq, of: .phys, in: output.pool) { return }
    switch role {
    case .central: announcePHYUpdate(with: preferences, into: &output)
    case .peripheral:
      procedures.remote = .phyUpdate(until: now + ControlProcedures.timeout)
      send(.phyRsp(phys.preferences), in: output.pool)
      updateLengths(into: &output)
    }
  }

  /// Sends LL_PHY_UPDATE_IND as central; returns true if a PHY changes.
  @discardableResult
  mutating func announcePHYUpdate(with peer: LL.PHYPreferences, into output: inout HCIEventQueue) -> Bool {
    let update = phys.update(with: peer)
    guard !update.isEmpty else {
      // An update that changes nothing has no instant.
      send(.phyUpdateInd(update, instant: 0), in: output.pool)
      return false
    }
    announce(.phys(update), in: output.pool)
    updateLengths(into: &output)
    return true
  }

  private mutating func takePHYUpdate(
    _ update: LL.PHYUpdate, instant: UInt16, at now: Instant, into output: inout HCIEventQueue
  ) {
    guard update.isEmpty else {
      let phys = update.centralToPeripheral.union(update.peripheralToCentral)
      let isValid = update.isValid && phys.isSubset(of: features.phys)
      takeUpdate(.phys(update), isValid: isValid, instant: instant, at: now, into: &output)
      return
    }
    // Nothing changes, so the procedure ends.
    if case .phyUpdate? = procedures.remote {
      procedures.remote = nil
      updateLengths(into: &output)
      beginNextProcedure(at: now, into: &output)
    } else if case .phyUpdate? = procedures.active {
      output.report(phys, .success, of: handle)
      finishProcedure(at: now, into: &output)
    }
  }
}

extension LL.ControlOpcode {
  /// True if a device in this role may send the PDU · Vol 6, Part B, 2.4.2, table 2.18.
  fileprivate func isSent(by role: ConnectionRole) -> Bool {
    switch self {
    case .connectionUpdateInd, .channelMapInd, .featureReq, .phyUpdateInd, .channelReportingInd, .encReq, .pauseEncReq:
      role == .central
    case .peripheralFeatureReq, .minUsedChannelsInd, .channelStatusInd, .encRsp, .startEncReq: role == .peripheral
    case .terminateInd, .unknownRsp, .featureRsp, .versionInd, .rejectInd, .connectionParamReq, .connectionParamRsp,
      .rejectExtInd, .pingReq, .pingRsp, .lengthReq, .lengthRsp, .phyReq, .phyRsp, .clockAccuracyReq,
      .clockAccuracyRsp, .startEncRsp, .pauseEncRsp, .periodicSyncInd:
      true
    }
  }
}
