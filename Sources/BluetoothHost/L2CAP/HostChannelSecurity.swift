import BluetoothWire

/// A wish for channels, until they are open or can't be had.
struct ChannelWish {
  let spsm: UInt16
  let isEnhanced: Bool
  let settings: ChannelSettings
  let token: ChannelToken
  /// How many have no answer yet.
  var unanswered: Int
  /// How the link was protected when the peer was asked.
  var security = LinkSecurity.none
  /// How many were refused because the link is not protected well enough, with this, and what may help.
  var refused = 0
  var refusal: L2CAP.ConnectionResult?
  var demand: SecurityDemand?
}

/// What a host does when the peer refuses channels because the link is not protected well enough: it protects it better, and
/// asks for the same again · Vol 3, Part C, 10.3.2.
extension Host {
  /// Keeps a refusal for which a better link may help; false: it is news for those above.
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

  /// The link is better protected: what waits for that is asked for again.
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

  /// The link does not become better: the peer's refusal is the answer.
  mutating func refuseChannels(on index: Int) {
    let handle = allLinks[index].link.handle
    for wish in allLinks[index].channelWishes where wish.unanswered == 0 {
      guard let refusal = wish.refusal else { continue }
      for _ in 0..<wish.refused { events.append(.channel(handle, .openFailed(wish.token, .refused(refusal)))) }
    }
    allLinks[index].channelWishes.removeAll { $0.unanswered == 0 }
  }

  /// Asks the peer for channels, and remembers what for.
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
  /// Whether `event` is a refusal that a better link may turn.
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
  /// The request that it answers.
  fileprivate var requestToken: ChannelToken? {
    switch self {
    case .opened(_, let token): token
    case .openFailed(let token, _): token
    case .received, .hasRoom, .reconfigured, .reconfigurationFailed, .closed: nil
    }
  }
}

extension SecurityDemand {
  /// What may help after a peer has refused a channel with `result`; nil: nothing that this link hasn't.
  init?(after result: L2CAP.ConnectionResult, on security: LinkSecurity) {
    switch result {
    case .insufficientAuthentication: self.init(after: ATT.ErrorCode.insufficientAuthentication, on: security)
    case .insufficientEncryption: self.init(after: ATT.ErrorCode.insufficientEncryption, on: security)
    case .encryptionKeySizeTooShort: self.init(after: ATT.ErrorCode.insufficientEncryptionKeySize, on: security)
    default: return nil
    }
  }
}
