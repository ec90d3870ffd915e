import BluetoothWire

/// The ATT transaction of a bearer's client: one request at a time, with 30 s for the response
/// · Vol 3, Part F, 3.3.2, 3.3.3.
struct ATTTransaction {
  private enum State {
    case idle
    /// A PDU waits for room on the link.
    case ready(ATT.PDU)
    case waiting(ATT.Opcode, until: Instant)
  }

  /// The meaning of a received PDU for the request in progress.
  enum Answer {
    case response(ATT.PDU)
    case refused(ATT.ErrorCode)
    /// The PDU has the right opcode but violates the specification.
    case malformed
    /// The PDU answers no request; the client ignores it.
    case unsolicited
  }

  private var state = State.idle

  var deadline: Instant? {
    guard case .waiting(_, let until) = state else { return nil }
    return until
  }

  /// True if a PDU is ready for `take`.
  var isReady: Bool {
    guard case .ready = state else { return false }
    return true
  }

  /// Queues `pdu` as the next one to send. No transaction may be in progress.
  mutating func begin(_ pdu: consuming ATT.PDU) { state = .ready(pdu) }

  mutating func cancel() { state = .idle }

  /// Returns the PDU to send, if there is one. A request then waits for its response; a command ends the transaction.
  mutating func take(at now: Instant) -> ATT.PDU? {
    guard isReady, case .ready(let pdu) = exchange(&state, with: .idle) else { return nil }
    let opcode = pdu.opcode
    if case .request = opcode.kind { state = .waiting(opcode, until: now + ATT.transactionTimeout) }
    return pdu
  }

  /// Matches a received PDU with the request in progress. The transaction ends unless the result is `unsolicited`.
  mutating func receive(_ opcode: ATT.Opcode, _ octets: ByteSlice) -> Answer {
    guard case .waiting(let request, _) = state else { return .unsolicited }
    if case .errorResponse = opcode {
      guard case .errorResponse(request.rawValue, _, let code) = try? ATT.PDU.decode(octets) else {
        return .unsolicited
      }
      state = .idle
      return .refused(code)
    }
    guard opcode.rawValue == request.response?.rawValue else { return .unsolicited }
    state = .idle
    guard let pdu = try? ATT.PDU.decode(octets) else { return .malformed }
    return .response(pdu)
  }
}
