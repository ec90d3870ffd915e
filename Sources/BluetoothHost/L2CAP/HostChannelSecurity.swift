import BluetoothWire

/// An app's request for channels, until they are open or have failed.
struct ChannelWish {
  let spsm: UInt16
  let isEnhanced: Bool
  let settings: ChannelSettings
  let token: ChannelToken
  /// The number of channels whose result is pending.
  var unanswered: Int
  /// The security of the link at the time of the request.
  var security = LinkSecurity.none
  /// The number of channels that the peer has refused because of insufficient security; `refusal` is its reason,
  /// `demand` the security that may satisfy the peer.
  var refused = 0
  var refusal: L2CAP.ConnectionResult?
  var demand: SecurityDemand?
}

/// The reaction of a host to channels refused for insufficient security: it raises the security of the link and
/// repeats the request · Vol 3, Part C, 10.3.2.
extension Host {
  /// Keeps a refusal that a higher security level may overcome. Returns false if the event must be reported to the
  /// upper layer.
  mutating func keepRefusal(_ event: ChannelEvent, on index: Int, at now: Instant) -> Bool {
    guard !allLinks[index].channelWishes.isEmpty, let token = event.requestToken,
      let place = allLinks[index].channelWishes.firstIndex(where: { $0.token == token && $0.unanswered > 0 })
    else { return false }
    var wish = allLinks[index].channelWishes[place]
    wish.unanswered -= 1
    let isKept = wish.keep(event)
    allLinks[index].channelWishes[place] = wish
    guard wish.unanswered == 0 else { return isKept }
    if let demand = wish.demand, wish.refused > 0 {
      secure(index, demand, at: now)
    } else {
      allLinks[index].channelWishes.remove(at: place)
    }
    return isKept
  }

  /// Repeats the requests that have waited for a higher security level.
  mutating func resumeChannels(on index: Int, at now: Instant) {
    guard !allLinks[index].channelWishes.isEmpty else { return }
    let security = allLinks[index].bearer.security
    func isReady(_ wish: ChannelWish) -> Bool {
      wish.unanswered == 0 && wish.demand?.isMet(by: security) == true
    }
    let wishes = allLinks[index].channelWishes.filter(isReady)
    allLinks[index].channelWishes.removeAll(where: isReady)
    for wish in wishes { open(wish, count: wish.refused, on: index, at: now) }
  }

  /// Reports the refusals after the security of the link could not be raised.
  mutating func refuseChannels(on index: Int) {
    let handle = allLinks[index].link.handle
    for wish in allLinks[index].channelWishes where wish.unanswered == 0 {
      guard let refusal = wish.refusal else { continue }
      for _ in 0..<wish.refused { events.append(.channel(handle, .openFailed(wish.token, .refused(refusal)))) }
    }
    allLinks[index].channelWishes.removeAll { $0.unanswered == 0 }
  }

  /// Requests channels of the peer and records the app's request.
  mutating func open(_ wish: ChannelWish, count: Int, on index: Int, at now: Instant) {
    var wish = wish
    wish.unanswered = CreditChannels.possibleCount(count, isEnhanced: wish.isEnhanced)
    (wish.refused, wish.refusal, wish.demand) = (0, nil, nil)
    wish.security = allLinks[index].bearer.security
    allLinks[index].channelWishes.append(wish)
    allLinks[index].withChannels {
      $0.open(
        spsm: wish.spsm, count: count, isEnhanced: wish.isEnhanced, wish.settings, token: wish.token, identifiers: &$1,
        at: now)
    }
  }
}

extension ChannelWish {
  /// Records the result for one channel. Returns true if `event` is a refusal that a higher security level may
  /// overcome.
  fileprivate mutating func keep(_ event: ChannelEvent) -> Bool {
    guard case .openFailed(_, .refused(let result)) = event, let demand = SecurityDemand(after: result, on: security)
    else { return false }
    refused += 1
    refusal = result
    self.demand = demand
    return true
  }
}

extension ChannelEvent {
  /// The request that the event answers.
  fileprivate var requestToken: ChannelToken? {
    switch self {
    case .opened(_, let token): token
    case .openFailed(let token, _): token
    case .received, .hasRoom, .reconfigured, .reconfigurationFailed, .closed: nil
    }
  }
}

extension SecurityDemand {
  /// Creates the demand that may satisfy a peer that has refused a channel with `result`; nil: no security beyond
  /// that of the link would help.
  init?(after result: L2CAP.ConnectionResult, on security: LinkSecurity) {
    switch result {
    case .insufficientAuthentication: self.init(after: ATT.ErrorCode.insufficientAuthentication, on: security)
    case .insufficientEncryption: self.init(after: ATT.ErrorCode.insufficientEncryption, on: security)
    case .encryptionKeySizeTooShort: self.init(after: ATT.ErrorCode.insufficientEncryptionKeySize, on: security)
    default: return nil
    }
  }
}
