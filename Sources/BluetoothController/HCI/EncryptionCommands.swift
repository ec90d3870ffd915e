import BluetoothWire

/// Commands for encryption and for the authenticated payload timeout · Vol 4, Part E, 7.3.93, 7.3.94, 7.8.24 to
/// 7.8.26.
extension Controller {
  /// Returns the status of LE Enable Encryption, which is for centrals only.
  mutating func checkEnableEncryption(_ handle: HCI.ConnectionHandle) -> HCI.ErrorCode {
    guard let index = index(of: handle) else { return .unknownConnectionIdentifier }
    return connections[index].canStartEncryption ? .success : .commandDisallowed
  }

  /// Executes the commands that are answered with Command Complete.
  mutating func ofEncryption(_ command: HCI.Command, at now: Instant) -> HCI.ReturnParameters? {
    switch command {
    case .leLongTermKeyRequestReply(let handle, let key):
      return answerLongTermKeyRequest(handle) { connection, output in
        connection.takeLongTermKey(key, at: now, into: &output)
      }
    case .leLongTermKeyRequestNegativeReply(let handle):
      return answerLongTermKeyRequest(handle) { connection, output in
        connection.refuseLongTermKey(at: now, into: &output)
        connection.schedule.hasten(at: now)
      }
    case .readAuthenticatedPayloadTimeout(let handle):
      guard let index = index(of: handle) else { return .handle(.unknownConnectionIdentifier, handle) }
      return .authenticatedPayloadTimeout(handle, connections[index].encryption.payloadTimer.timeout)
    case .writeAuthenticatedPayloadTimeout(let handle, let timeout):
      guard let index = index(of: handle) else { return .handle(.unknownConnectionIdentifier, handle) }
      // The timeout is at least the time between two packets, in units of 1.25 ms · 7.3.94.
      let events = Int(connections[index].values.interval) * (1 + Int(connections[index].values.latency))
      guard timeout > 0, Int(timeout) * 8 >= events else { return .handle(.invalidHCICommandParameters, handle) }
      connections[index].encryption.payloadTimer.set(timeout, at: now)
      return .handle(.success, handle)
    default: return nil
    }
  }

  private mutating func answerLongTermKeyRequest(
    _ handle: HCI.ConnectionHandle, _ answer: (inout Connection, inout HCIEventQueue) -> Void
  ) -> HCI.ReturnParameters {
    guard let index = index(of: handle) else { return .handle(.unknownConnectionIdentifier, handle) }
    guard case .longTermKey = connections[index].encryption.phase else { return .handle(.commandDisallowed, handle) }
    answer(&connections[index], &output)
    return .handle(.success, handle)
  }
}

extension Connection {
  /// True if the host may start encryption now: only a central can, and one start at a time.
  fileprivate var canStartEncryption: Bool {
    role == .central && !isTerminating && !procedures.has { $0.isEncryption }
  }
}
