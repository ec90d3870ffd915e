import BluetoothWire

/// Commands for encryption and for the authenticated payload timeout · Vol 4, Part E, 7.3.93, 7.3.94, 7.8.24 to
/// 7.8.26.
extension ConnectionTable {
  /// Returns the status of LE Enable Encryption, which is for centrals only.
  mutating func checkEnableEncryption(_ handle: HCI.ConnectionHandle) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    return self[index].canStartEncryption ? .success : .commandDisallowed
  }

  /// Executes LE Long Term Key Request Reply.
  mutating func takeLongTermKey(
    _ key: Secret<UInt128>, on handle: HCI.ConnectionHandle, at now: Instant, into output: inout HCIEventQueue
  ) -> HCI.ErrorCode {
    answerLongTermKeyRequest(handle, into: &output) { connection, output in
      connection.takeLongTermKey(key, at: now, into: &output)
    }
  }

  /// Executes LE Long Term Key Request Negative Reply.
  mutating func refuseLongTermKey(
    on handle: HCI.ConnectionHandle, at now: Instant, into output: inout HCIEventQueue
  ) -> HCI.ErrorCode {
    answerLongTermKeyRequest(handle, into: &output) { connection, output in
      connection.refuseLongTermKey(at: now, into: &output)
      connection.schedule.hasten(at: now)
    }
  }

  /// Executes Write Authenticated Payload Timeout.
  mutating func setPayloadTimeout(
    _ timeout: UInt16, on handle: HCI.ConnectionHandle, at now: Instant
  ) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    // The timeout is at least the time between two packets, in units of 1.25 ms · 7.3.94.
    let events = Int(self[index].values.interval) * (1 + Int(self[index].values.latency))
    guard timeout > 0, Int(timeout) * 8 >= events else { return .invalidHCICommandParameters }
    self[index].encryption.payloadTimer.set(timeout, at: now)
    return .success
  }

  private mutating func answerLongTermKeyRequest(
    _ handle: HCI.ConnectionHandle, into output: inout HCIEventQueue,
    _ answer: (inout Connection, inout HCIEventQueue) -> Void
  ) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    guard case .longTermKey = self[index].encryption.phase else { return .commandDisallowed }
    answer(&self[index], &output)
    return .success
  }
}
