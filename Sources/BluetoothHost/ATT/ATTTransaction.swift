import BluetoothWire

/// What the client of a bearer has on its way: one request at a time, with 30 s to answer it · Vol 3, Part F, 3.3.2, 3.3.3.
struct ATTTransaction {
  private enum State {
    case idle
    /// Waits for room on the link.
    case ready(ATT.PDU)
    case waiting(ATT.Opcode, until: Instant)
  }

  /// What a received response is to the request on its way.
  enum Answer {
    case response(ATT.PDU)
    case refused(ATT.ErrorCode)
    /// It has the right opcode, but does not follow the specification.
    case malformed
    /// It answers nothing and is to be ignored.
    case unsolicited
  }

  private var state = State.idle

  var deadline: Instant? {
    guard case .waiting(_, let until) = state else { return nil }
    return until
  }

  /// Whether a PDU waits for `take`.
  var isReady: Bool {
    guard case .ready = state else { return false }
    return true
  }

  /// Makes `pdu` the next one to leave. Nothing may be on its way.
  mutating func begin(_ pdu: consuming ATT.PDU) { state = .ready(pdu) }

  mutating func cancel() { state = .idle }

  /// The PDU that waits for room. After a command the transaction is over.
  mutating func take(at now: Instant) -> ATT.PDU? {
    guard isReady, case .ready(let pdu) = exchange(&state, with: .idle) else { return nil }
    let opcode = pdu.opcode
    if case .request = opcode.kind { state = .waiting(opcode, until: now + ATT.transactionTimeout) }
    return pdu
  }

  /// Matches what was received with the request on its way, which is over unless the answer is `unsolicited`.
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
