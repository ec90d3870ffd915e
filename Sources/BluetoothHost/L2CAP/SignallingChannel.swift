import BluetoothWire

/// The LE signalling channel of one link · Vol 3, Part A, 4. It handles malformed packets and connection parameter
/// updates; `CreditChannels` handles the signals about channels.
struct SignallingChannel {
  /// The actions that a received packet requires of the owner.
  struct Outcome {
    /// The packet to send.
    var answer: L2CAP.Signal?
    /// The parameters that the peer has requested and this central has accepted.
    var update: LinkParameters?
    /// The central's answer to the pending request for connection parameters; nil: the packet is no answer to it.
    var requestEnd: HCI.ErrorCode?
    /// The signal for `CreditChannels`.
    var forChannels: L2CAP.Signal?

    static let nothing = Outcome()
  }

  /// The maximum wait for a response · Vol 3, Part A, 6.2.1: RTX, at most 60 s.
  static let responseTimeout = TimeSpan.seconds(30)

  private let role: Link.Role
  var identifiers = SignalIdentifiers()
  private var pending: (identifier: UInt8, until: Instant)?
  /// The pending request before it is sent.
  private var unsent: L2CAP.Signal?
  /// The parameters that were requested while another request was pending.
  private var next: LinkParameters?

  init(role: Link.Role) { self.role = role }

  var deadline: Instant? { pending?.until }

  /// Requests connection parameters as peripheral · 4.20. One request is pending at a time; of the requests made
  /// meanwhile only the last one is kept.
  mutating func requestUpdate(_ parameters: LinkParameters, at now: Instant) {
    guard pending == nil else {
      next = parameters
      return
    }
    let identifier = identifiers.nextOfRequest()
    pending = (identifier, now + Self.responseTimeout)
    unsent = L2CAP.Signal(identifier: identifier, content: .connectionParameterUpdateRequest(parameters))
  }

  /// True if `takeSignal` has a packet.
  // Inlined: a call would copy the channel.
  @inline(__always)
  var hasSignal: Bool {
    // A comparison with nil would copy the signal.
    if case .some = unsent { return true }
    return false
  }

  /// Removes and returns the packet to send now; nil: none.
  mutating func takeSignal() -> L2CAP.Signal? {
    guard unsent != nil else { return nil }
    defer { unsent = nil }
    return unsent
  }

  /// Processes the beginning of a C-frame that was too long to be stored. Returns the response; nil: none.
  func receiveTooLong(_ beginning: ByteSlice) -> L2CAP.Signal? {
    guard let header = try? L2CAP.SignalHeader(beginning), header.identifier != 0,
      !L2CAP.SignalCode.isResponse(header.code)
    else { return nil }
    return rejectLength(header)
  }

  /// Processes the payload of a C-frame with arbitrary content.
  ///
  /// - Parameter mayUpdate: True if this host can change the parameters of the link now.
  mutating func receive(_ octets: ByteSlice, mayUpdate: Bool, at now: Instant) -> Outcome {
    // A packet without a valid identifier cannot be answered.
    guard let header = try? L2CAP.SignalHeader(octets), header.identifier != 0 else { return .nothing }
    let isResponse = L2CAP.SignalCode.isResponse(header.code)
    if octets.count > L2CAP.signallingMTU {
      return isResponse ? .nothing : Outcome(answer: rejectLength(header))
    }
    do throws(DecodingError) {
      return receive(try L2CAP.Signal(octets), mayUpdate: mayUpdate, at: now)
    } catch {
      // Ignore a truncated packet; reject any other malformed one as not understood · 4.1.
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
    func answer(_ content: L2CAP.SignalContent, update: LinkParameters? = nil) -> Outcome {
      Outcome(answer: L2CAP.Signal(identifier: signal.identifier, content: content), update: update)
    }
    switch signal.content {
    case .connectionParameterUpdateRequest(let parameters):
      // Only a peripheral may send this request · 4.20.
      guard role == .central else { return answer(.commandReject(.commandNotUnderstood)) }
      guard parameters.isValid, mayUpdate else {
        return answer(.connectionParameterUpdateResponse(isAccepted: false))
      }
      return answer(.connectionParameterUpdateResponse(isAccepted: true), update: parameters)
    case .connectionParameterUpdateResponse(let isAccepted):
      guard signal.identifier == pending?.identifier else { return .nothing }
      endRequest(at: now)
      return Outcome(requestEnd: isAccepted ? .success : .unacceptableConnectionParameters)
    case .commandReject where signal.identifier == pending?.identifier:
      endRequest(at: now)
      return Outcome(requestEnd: .unsupportedRemoteFeature)
    default: return Outcome(forChannels: signal)
    }
  }

  /// Ends the pending request and sends the next one, if there is one.
  private mutating func endRequest(at now: Instant) {
    if let pending { identifiers.close(pending.identifier) }
    pending = nil
    unsent = nil
    guard let parameters = next else { return }
    next = nil
    requestUpdate(parameters, at: now)
  }

  /// Handles an expired timer. Returns true if the central has not answered the pending request in time.
  mutating func timeReached(_ now: Instant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    endRequest(at: now)
    return true
  }
}
