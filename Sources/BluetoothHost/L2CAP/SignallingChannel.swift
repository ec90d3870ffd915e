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
  /// Asked for while another request was open.
  private var next: ConnectionParameters?

  init(role: Link.Role) { self.role = role }

  var deadline: Instant? { pending?.until }

  /// As peripheral: asks the central for other parameters · 4.20. One request is open at a time; of those that were made
  /// meanwhile the last one follows. The result is the packet to send now.
  mutating func requestUpdate(_ parameters: ConnectionParameters, at now: Instant) -> L2CAP.Signal? {
    guard pending == nil else {
      next = parameters
      return nil
    }
    let identifier = identifiers.next()
    pending = (identifier, now + Self.responseTimeout)
    return L2CAP.Signal(identifier: identifier, content: .connectionParameterUpdateRequest(parameters))
  }

  /// Takes in the payload of a C-frame, of any content.
  /// - Parameter mayUpdate: whether this host can change the parameters of the link now.
  mutating func receive(_ octets: ByteSlice, mayUpdate: Bool, at now: Instant) -> Outcome {
    // Without an identifier there is nothing to answer to.
    guard let header = try? L2CAP.SignalHeader(octets), header.identifier != 0 else { return .nothing }
    let isResponse = L2CAP.SignalCode.isResponse(header.code)
    if octets.count > L2CAP.signallingMTU {
      let actual = UInt16(L2CAP.signallingMTU)
      return isResponse ? .nothing : reject(header, .signallingMTUExceeded(actual: actual))
    }
    do throws(DecodingError) {
      return receive(try L2CAP.Signal(octets), mayUpdate: mayUpdate, at: now)
    } catch {
      // A packet that is cut is no packet; anything else is a command that is not understood · 4.1.
      return isResponse || error == .truncated && Int(header.length) + 4 > octets.count
        ? .nothing : reject(header, .commandNotUnderstood)
    }
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
      guard signal.identifier == pending?.identifier else { return .nothing }
      return Outcome(answer: endRequest(at: now))
    case .commandReject where signal.identifier == pending?.identifier: return Outcome(answer: endRequest(at: now))
    default: return Outcome(forChannels: signal)
    }
  }

  /// The open request has ended, in whatever way. The result is the packet of the one that follows.
  private mutating func endRequest(at now: Instant) -> L2CAP.Signal? {
    pending = nil
    guard let parameters = next else { return nil }
    next = nil
    return requestUpdate(parameters, at: now)
  }

  /// The result is a packet to send.
  mutating func timeReached(_ now: Instant) -> L2CAP.Signal? {
    guard let deadline, deadline <= now else { return nil }
    return endRequest(at: now)
  }
}
