import BluetoothWire

/// The encryption procedures · Vol 6, Part B, 5.1.3: the part that both roles share.
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

  /// True if data may arrive now; otherwise the connection ends.
  mutating func admitsData() -> Bool {
    guard case .endConnection = encryption.others else { return true }
    ending = .over(.connectionTerminatedMICFailure)
    return false
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

  /// Starts an encrypted session, as all its parameters are known, and reports it to the session observer.
  mutating func beginSession(_ keys: LL.SessionKeys, at now: Instant, into output: inout HCIEventQueue) {
    encryption.session = EncryptionSession(keys, role: role, pool: output.pool)
    guard let observer = output.sessions else { return }
    let (central, peripheral) = role == .central ? (own, peer) : (peer, own)
    observer.sessionBegins(
      LL.SessionRecord(accessAddress: accessAddress, central: central, peripheral: peripheral, keys: keys), at: now)
  }
}
