import BluetoothWire

/// The peripheral's side of the encryption procedures · Vol 6, Part B, 5.1.3.
extension Connection {
  /// Processes a request of the central and answers it; returns false if the PDU was not expected now.
  mutating func takeAsPeripheral(_ pdu: LL.ControlPDU, at now: Instant, into output: inout HCIEventQueue) -> Bool {
    let pool = output.pool
    switch (pdu, encryption.phase) {
    case (.pauseEncReq, .none) where encryption.session != nil:
      encryption.isRefresh = true
      encryption.phase = .pauseConfirmation
      encryption.payloadTimer.stop()
      flow.holdBack()
      send(.pauseEncRsp, meaning: .encryptionPause, in: pool)
    case (.pauseEncRsp, .pauseConfirmation):
      encryption.session = nil
      encryption.phase = .request
    case (.encReq(let random, let diversifier, let theirs), .none) where encryption.session == nil,
      (.encReq(let random, let diversifier, let theirs), .request):
      let own = encryption.newPart()
      encryption.phase = .longTermKey(central: theirs, peripheral: own)
      flow.holdBack()
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

  /// Continues with the key from the host.
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
