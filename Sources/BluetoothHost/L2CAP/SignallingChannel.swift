import BluetoothWire

/// The LE signalling channel of one link · Vol 3, Part A, 4: what is malformed, and the connection parameters. What concerns
/// channels is for `CreditChannels`.
struct SignallingChannel {
  /// What the owner is to do.
  struct Outcome {
    /// The packet to send.
    var answer: L2CAP.Signal?
    /// As central: the peer's wish, which was accepted.
    var update: ConnectionParameters?
    /// What `CreditChannels` is to deal with.
    var forChannels: L2CAP.Signal?

    static let nothing = Outcome()
  }

  /// How long a response may take · Vol 3, Part A, 6.2.1: RTX, at most 60 s.
  static let responseTimeout = TimeSpan.seconds(30)

  private let role: Link.Role
  var identifiers = SignalIdentifiers()
  private var pending: (identifier: UInt8, until: Instant)?
  /// The open request, as long as it can be taken back.
  private var unsent: L2CAP.Signal?
  /// Asked for while another request was open.
  private var next: ConnectionParameters?

  init(role: Link.Role) { self.role = role }

  var deadline: Instant? { pending?.until }

  /// As peripheral: asks the central for other parameters · 4.20. One request is open at a time; of those that were made
  /// meanwhile the last one follows.
  mutating func requestUpdate(_ parameters: ConnectionParameters, at now: Instant) {
    guard pending == nil else {
      next = parameters
      return
    }
    let identifier = identifiers.nextOfRequest()
    pending = (identifier, now + Self.responseTimeout)
    unsent = L2CAP.Signal(identifier: identifier, content: .connectionParameterUpdateRequest(parameters))
  }

  /// Whether `takeSignal` has a packet.
  // Inlined: a call would be handed a copy of the channel.
  @inline(__always)
  var hasSignal: Bool {
    // A comparison with nil would copy it.
    if case .some = unsent { return true }
    return false
  }

  /// The packet to send now; nil: none.
  mutating func takeSignal() -> L2CAP.Signal? {
    guard unsent != nil else { return nil }
    defer { unsent = nil }
    return unsent
  }

  /// Takes in what there is of a C-frame that was too long to be kept; the result is the answer.
  func receiveTooLong(_ beginning: ByteSlice) -> L2CAP.Signal? {
    guard let header = try? L2CAP.SignalHeader(beginning), header.identifier != 0,
      !L2CAP.SignalCode.isResponse(header.code)
    else { return nil }
    return rejectLength(header)
  }

  /// Takes in the payload of a C-frame, of any content.
  /// - Parameter mayUpdate: whether this host can change the parameters of the link now.
  mutating func receive(_ octets: ByteSlice, mayUpdate: Bool, at now: Instant) -> Outcome {
    // Without an identifier there is nothing to answer to.
    guard let header = try? L2CAP.SignalHeader(octets), header.identifier != 0 else { return .nothing }
    let isResponse = L2CAP.SignalCode.isResponse(header.code)
    if octets.count > L2CAP.signallingMTU {
      return isResponse ? .nothing : Outcome(answer: rejectLength(header))
    }
    do throws(DecodingError) {
      return receive(try L2CAP.Signal(octets), mayUpdate: mayUpdate, at: now)
    } catch {
      // A packet that is cut is no packet; anything else is a command that is not understood · 4.1.
      return isResponse || error == .truncated && Int(header.length) + 4 > octets.count
        ? .nothing : reject(header, .commandNotUnderstood)
    }
  }

  private func rejectLength(_ header: L2CAP.SignalHeader) -> L2CAP.Signal {
    let reason = L2CAP.RejectReason.signallingMTUExceeded(actual: UInt16(L2CAP.signallingMTU))
    return L2CAP.Signal(identifier: header.identifier, content: .commandReject(reason))
  }

  private func reject(_ header: L2CAP.SignalHeader, _ reason: L2CAP.RejectReason) -> Outcome {
    Outcome(answer: L2CAP.Signal(identifier: header.identifier, content: .commandReject(reason)))
  }

  private mutating func receive(_ signal: L2CAP.Signal, mayUpdate: Bool, at now: Instant) -> Outcome {
    func answer(_ content: L2CAP.SignalContent, update: ConnectionParameters? = nil) -> Outcome {
      Outcome(answer: L2CAP.Signal(identifier: signal.identifier, content: content), update: update)
    }
    switch signal.content {
    case .connectionParameterUpdateRequest(let parameters):
      // Only a peripheral may ask · 4.20.
      guard role == .central else { return answer(.commandReject(.commandNotUnderstood)) }
      guard parameters.isValid, mayUpdate else {
        return answer(.connectionParameterUpdateResponse(isAccepted: false))
      }
      return answer(.connectionParameterUpdateResponse(isAccepted: true), update: parameters)
    case .connectionParameterUpdateResponse:
      if signal.identifier == pending?.identifier { endRequest(at: now) }
      return .nothing
    case .commandReject where signal.identifier == pending?.identifier:
      endRequest(at: now)
      return .nothing
    default: return Outcome(forChannels: signal)
    }
  }

  /// The open request has ended, in whatever way.
  private mutating func endRequest(at now: Instant) {
    if let pending { identifiers.close(pending.identifier) }
    pending = nil
    unsent = nil
    guard let parameters = next else { return }
    next = nil
    requestUpdate(parameters, at: now)
  }

  mutating func timeReached(_ now: Instant) {
    if let deadline, deadline <= now { endRequest(at: now) }
  }
}
