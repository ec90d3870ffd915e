import BluetoothWire

/// The encryption procedures · Vol 6, Part B, 5.1.3.
extension Connection {
  /// Processes a PDU that belongs to an encryption procedure, or queues a PDU until the procedure ends; returns false
  /// for other PDUs.
  mutating func takeEncryption(
    _ pdu: LL.ControlPDU, _ payload: ByteSlice, at now: Instant, into output: inout HCIEventQueue
  ) -> Bool {
    if case .terminateInd = pdu { return false }
    switch role {
    case .central: if takeAsCentral(pdu, at: now, into: &output) { return true }
    case .peripheral: if takeAsPeripheral(pdu, at: now, into: &output) { return true }
    }
    switch encryption.others {
    case .take: return refuseEncryption(pdu, in: output.pool)
    case .keep:
      flow.hold(request: payload)
      return true
    case .endConnection:
      ending = .over(.connectionTerminatedMICFailure)
      return true
    }
  }

  /// Rejects a PDU that begins a procedure at the wrong time, and ignores answers.
  private mutating func refuseEncryption(_ pdu: LL.ControlPDU, in pool: PacketPool) -> Bool {
    switch pdu {
    case .encReq where role == .peripheral, .pauseEncReq where role == .peripheral:
      reject(pdu.opcode, .lmpPDUNotAllowed, in: pool)
    case .encRsp, .startEncRsp, .pauseEncRsp: break
    default: return false
    }
    return true
  }

  /// Reports that the link is encrypted with a new key.
  mutating func encryptionStarted(at now: Instant, into output: inout HCIEventQueue) {
    encryption.payloadTimer.start(interval: interval * Int64(1 + values.latency), at: now)
    if encryption.isRefresh {
      output.send(.encryptionKeyRefreshComplete(.success, handle))
    } else {
      output.send(.encryptionChange(.success, handle, enabled: 1))
    }
    encryptionEnded(at: now, into: &output)
  }

  /// Ends the procedure and releases waiting data and requests.
  mutating func encryptionEnded(at now: Instant, into output: inout HCIEventQueue) {
    encryption.phase = .none
    encryption.isRefresh = false
    encryption.deadline = nil
    flow.release()
    if case .encryption? = procedures.active { finishProcedure(at: now, into: &output) }
    schedule.hasten(at: now)
    while ending == nil, let payload = flow.takeHeldRequest() { receiveControl(payload, at: now, into: &output) }
  }

  /// Handles the authenticated payload timer · 5.4.
  mutating func checkAuthenticatedPayload(at now: Instant, into output: inout HCIEventQueue) {
    switch encryption.payloadTimer.timeReached(now) {
    case nil: break
    case .isNear?:
      guard procedures.remoteFeatures?.contains(.ping) ?? true, !procedures.has({ $0.isPing }) else { return }
      begin(.ping, at: now, into: &output)
    case .isOver?: output.send(.authenticatedPayloadTimeoutExpired(handle))
    }
  }

  /// Starts an encrypted session, once all its parameters are known, and reports it to the session observer.
  mutating func beginSession(_ keys: LL.SessionKeys, at now: Instant, into output: inout HCIEventQueue) {
    encryption.session = EncryptionSession(keys, role: role, pool: output.pool)
    guard let observer = output.sessions else { return }
    let (central, peripheral) = role == .central ? (own, peer) : (peer, own)
    observer.sessionBegins(
      LL.SessionRecord(accessAddress: accessAddress, central: central, peripheral: peripheral, keys: keys), at: now)
  }

  // MARK: Central's side

  /// Starts encryption for the host, or changes the key of an encrypted link, which is paused first.
  mutating func startEncryption(
    _ request: Encryption.Request, at now: Instant, into output: inout HCIEventQueue
  ) {
    if let features = procedures.remoteFeatures, !features.contains(.encryption) {
      output.send(.encryptionChange(.unsupportedRemoteFeature, handle, enabled: 0))
      procedures.finish()
      return
    }
    flow.pauseData()
    if encryption.session == nil {
      send(encryption.begin(request), in: output.pool)
    } else {
      encryption.isRefresh = true
      encryption.phase = .pauseResponse(request)
      send(.pauseEncReq, in: output.pool)
    }
  }

  /// Processes an answer of the peripheral; returns false if the PDU is not an answer to this procedure.
  mutating func takeAsCentral(_ pdu: LL.ControlPDU, at now: Instant, into output: inout HCIEventQueue) -> Bool {
    let pool = output.pool
    switch (pdu, encryption.phase) {
    case (.pauseEncRsp, .pauseResponse(let request)):
      encryption.payloadTimer.stop()
      encryption.session = nil
      send(.pauseEncRsp, in: pool)
      send(encryption.begin(request), in: pool)
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
      guard let reason = encryption.refusal(in: pdu) else { return false }
      // The link stays as it was: unencrypted, or with its present key.
      if encryption.isRefresh {
        output.send(.encryptionKeyRefreshComplete(reason, handle))
      } else {
        encryption.session = nil
        output.send(.encryptionChange(reason, handle, enabled: 0))
      }
      encryptionEnded(at: now, into: &output)
      return true
    }
    if case .encryption? = procedures.active { procedures.setDeadline(now + ControlProcedures.timeout) }
    return true
  }

  // MARK: Peripheral's side

  /// Processes a request of the central and answers it; returns false if the PDU was not expected now.
  mutating func takeAsPeripheral(_ pdu: LL.ControlPDU, at now: Instant, into output: inout HCIEventQueue) -> Bool {
    let pool = output.pool
    switch (pdu, encryption.phase) {
    case (.pauseEncReq, .none) where encryption.session != nil:
      encryption.isRefresh = true
      encryption.phase = .pauseConfirmation
      encryption.payloadTimer.stop()
      flow.pauseData()
      send(.pauseEncRsp, meaning: .encryptionPause, in: pool)
    case (.pauseEncRsp, .pauseConfirmation):
      encryption.session = nil
      encryption.phase = .request
    case (.encReq(let random, let diversifier, let theirs), .none) where encryption.session == nil,
      (.encReq(let random, let diversifier, let theirs), .request):
      let own = encryption.newPart()
      encryption.phase = .longTermKey(central: theirs, peripheral: own)
      flow.pauseData()
      send(.encRsp(own), in: pool)
      guard output.wants(.longTermKeyRequest) else {
        refuseLongTermKey(at: now, into: &output)
        return true
      }
      output.send(.leLongTermKeyRequest(handle, random: random, encryptedDiversifier: diversifier))
    case (.startEncRsp, .startConfirmation):
      encryption.session?.encrypts = true
      send(.startEncRsp, in: pool)
      encryptionStarted(at: now, into: &output)
      return true
    default: return false
    }
    encryption.deadline = now + ControlProcedures.timeout
    return true
  }

  /// Continues the encryption procedure with the key from the host.
  mutating func takeLongTermKey(_ key: Secret<UInt128>, at now: Instant, into output: inout HCIEventQueue) {
    guard case .longTermKey(let central, let peripheral) = encryption.phase else { return }
    beginSession(
      LL.SessionKeys(longTermKey: key, central: central, peripheral: peripheral), at: now, into: &output)
    encryption.phase = .startConfirmation
    encryption.deadline = now + ControlProcedures.timeout
    send(.startEncReq, meaning: .encryptionStart, in: output.pool)
    schedule.hasten(at: now)
  }

  /// Rejects encryption because the host has no key. A link that was encrypted ends · 5.1.3.1.
  mutating func refuseLongTermKey(at now: Instant, into output: inout HCIEventQueue) {
    guard case .longTermKey = encryption.phase else { return }
    if encryption.isRefresh {
      begin(.termination(reason: .pinOrKeyMissing, code: .pinOrKeyMissing), at: now, into: &output)
    } else {
      reject(.encReq, .pinOrKeyMissing, in: output.pool)
      encryptionEnded(at: now, into: &output)
    }
  }
}
