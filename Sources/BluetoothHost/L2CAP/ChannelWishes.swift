import BluetoothWire

/// The upper layer's requests for channels on one link, until the channels are open or have failed. Requests that the
/// peer has refused because of insufficient security wait here for a higher level · Vol 3, Part C, 10.3.2.
struct ChannelWishes {
  private var wishes: [ChannelWish] = []

  /// The effect of an event on the requests.
  enum Effect {
    /// The event must be reported to the upper layer.
    case isReported
    /// The event is a refusal that a higher security level may overcome.
    case isKept
  }

  /// Adds a request that is being sent.
  mutating func add(_ wish: ChannelWish) { wishes.append(wish) }

  /// Processes an event of the channels. Returns its effect, and the security that the link must have before a request
  /// is repeated; nil: no request waits for it.
  mutating func take(_ event: ChannelEvent) -> (effect: Effect, demand: SecurityDemand?) {
    guard !wishes.isEmpty, let token = event.requestToken,
      let place = wishes.firstIndex(where: { $0.token == token && $0.unanswered > 0 })
    else { return (.isReported, nil) }
    wishes[place].unanswered -= 1
    let effect = wishes[place].keep(event) ? Effect.isKept : .isReported
    guard wishes[place].unanswered == 0 else { return (effect, nil) }
    if let demand = wishes[place].demand, wishes[place].refused > 0 { return (effect, demand) }
    wishes.remove(at: place)
    return (effect, nil)
  }

  /// Removes and returns the requests for which the security of the link is now sufficient.
  mutating func takeSatisfied(by security: LinkSecurity) -> [ChannelWish] {
    guard !wishes.isEmpty else { return [] }
    func isReady(_ wish: ChannelWish) -> Bool {
      wish.unanswered == 0 && wish.demand?.isMet(by: security) == true
    }
    let ready = wishes.filter(isReady)
    wishes.removeAll(where: isReady)
    return ready
  }

  /// Reports the refusals after the security of the link could not be raised.
  mutating func refuse(on handle: HCI.ConnectionHandle, _ output: inout HostOutput) {
    for wish in wishes where wish.unanswered == 0 {
      guard let refusal = wish.refusal else { continue }
      for _ in 0..<wish.refused { output.tell(.channel(handle, .openFailed(wish.token, .refused(refusal)))) }
    }
    wishes.removeAll { $0.unanswered == 0 }
  }
}
