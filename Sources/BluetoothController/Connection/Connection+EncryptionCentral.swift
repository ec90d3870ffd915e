import BluetoothWire

/// The central's side of the encryption procedures · Vol 6, Part B, 5.1.3.
extension Connection {
  /// Starts encryption for the host, or changes the key of an encrypted link, which is paused first.
  mutating func startEncryption(
    _ request: Encryption.Request, at now: Instant, into output: inout HCIEventQueue
  ) {
    if let features = procedures.remoteFeatures, !features.contains(.encryption) {
      output.send(.encryptionChange(.unsupportedRemoteFeature, handle, enabled: 0))
      procedures.finish()
      return
    }
    flow.holdBack()
    if encryption.session == nil {
      requestEncryption(request, in: output.pool)
    } else {
      encryption.isRefresh = true
      encryption.phase = .pauseResponse(request)
      send(.pauseEncReq, in: output.pool)
    }
  }

  private mutating func requestEncryption(_ request: Encryption.Request, in pool: PacketPool) {
    let part = encryption.newPart()
    encryption.phase = .response(request, part)
    send(
      .encReq(random: request.random, encryptedDiversifier: request.encryptedDiversifier, part), in: pool)
  }

  /// Processes an answer of the peripheral; returns false if the PDU is not an answer to this procedure.
  mutating func takeAsCentral(_ pdu: LL.ControlPDU, at now: Instant, into output: inout HCIEventQueue) -> Bool {
    let pool = output.pool
    switch (pdu, encryption.phase) {
    case (.pauseEncRsp, .pauseResponse(let request)):
      encryption.payloadTimer.stop()
      encryption.session = nil
      send(.pauseEncRsp, in: pool)
      requestEncryption(request, in: pool)
    case (.encRsp(let theirs), .response(let request, let own)):
      beginSession(
        LL.SessionKeys(longTermKey: request.longTermKey, central: own, peripheral: theirs), at: now, into: &output)
      encryption.phase = .startRequest
    case (.startEncReq, .startRequest):
      encryption.session?.encrypts = true
      encryption.session?.decrypts = true
      encryption.phase = .startResponse
      send(.startEncRsp, in: pool)
    case (.startEncRsp, .startResponse):
      encryptionStarted(at: now, into: &output)
      return true
    default:
      guard let reason = refusal(in: pdu) else { return false }
      encryptionFailed(reason, at: now, into: &output)
      return true
    }
    if case .encryption? = procedures.active { procedures.setDeadline(now + ControlProcedures.timeout) }
    return true
  }

  /// Returns the error with which the peripheral rejects the request; nil: the PDU is not a rejection. A paused link
  /// can't continue without encryption, so rejections do not count then · 5.1.3.1.
  private func refusal(in pdu: LL.ControlPDU) -> HCI.ErrorCode? {
    let request: LL.ControlOpcode
    switch encryption.phase {
    case .pauseResponse: request = .pauseEncReq
    case .response, .startRequest: request = .encReq
    default: return nil
    }
    guard request == .pauseEncReq || !encryption.isRefresh else { return nil }
    switch pdu {
    case .rejectInd(let reason): return reason
    case .rejectExtInd(request.rawValue, let reason): return reason
    case .unknownRsp(request.rawValue): return .unsupportedRemoteFeature
    default: return nil
    }
  }

  /// Ends the procedure; the link stays as it was: unencrypted, or with its present key.
  private mutating func encryptionFailed(
    _ reason: HCI.ErrorCode, at now: Instant, into output: inout HCIEventQueue
  ) {
    if encryption.isRefresh {
      output.send(.encryptionKeyRefreshComplete(reason, handle))
    } else {
      encryption.session = nil
      output.send(.encryptionChange(reason, handle, enabled: 0))
    }
    encryptionEnded(at: now, into: &output)
  }
}
