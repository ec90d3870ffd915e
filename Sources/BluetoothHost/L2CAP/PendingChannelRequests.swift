import BluetoothWire

/// The upper layer's requests for channels on one link, until the channels are open or have failed. Requests that the
/// peer has refused because of insufficient security wait here for a higher level · Vol 3, Part C, 10.3.2.
struct PendingChannelRequests {
  private var requests: [PendingChannelRequest] = []

  /// The effect of an event on the requests.
  enum Effect {
    /// The event must be reported to the upper layer.
    case isReported
    /// The event is a refusal that a higher security level may overcome.
    case isKept
  }

  /// Adds a request that is being sent.
  mutating func add(_ request: PendingChannelRequest) { requests.append(request) }

  /// Processes an event of the channels. Returns its effect, and the security that the link must have before a request
  /// is repeated; nil: no request waits for it.
  mutating func take(_ event: ChannelEvent) -> (effect: Effect, demand: SecurityDemand?) {
    guard !requests.isEmpty, let token = event.requestToken,
      let place = requests.firstIndex(where: { $0.token == token && $0.unanswered > 0 })
    else { return (.isReported, nil) }
    requests[place].unanswered -= 1
    let effect = requests[place].keep(event) ? Effect.isKept : .isReported
    guard requests[place].unanswered == 0 else { return (effect, nil) }
    if let demand = requests[place].demand, requests[place].refused > 0 { return (effect, demand) }
    requests.remove(at: place)
    return (effect, nil)
  }

  /// Removes and returns the requests for which the security of the link is now sufficient.
  mutating func takeSatisfied(by security: HostLinkSecurity) -> [PendingChannelRequest] {
    guard !requests.isEmpty else { return [] }
    func isReady(_ request: PendingChannelRequest) -> Bool {
      request.unanswered == 0 && request.demand?.isMet(by: security) == true
    }
    let ready = requests.filter(isReady)
    requests.removeAll(where: isReady)
    return ready
  }

  /// Reports the refusals after the security of the link could not be raised.
  mutating func refuse(on handle: HCI.ConnectionHandle, _ output: inout HostOutput) {
    for request in requests where request.unanswered == 0 {
      guard let refusal = request.refusal else { continue }
      for _ in 0..<request.refused { output.tell(.channel(handle, .openFailed(request.token, .refused(refusal)))) }
    }
    requests.removeAll { $0.unanswered == 0 }
  }
}
