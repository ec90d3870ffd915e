import BluetoothWire

/// An app's request for channels, until they are open or have failed.
struct PendingChannelRequest {
  let spsm: UInt16
  let isEnhanced: Bool
  let settings: ChannelSettings
  let token: ChannelToken
  /// The number of channels whose result is pending.
  var unanswered: Int
  /// The security of the link at the time of the request.
  var security = HostLinkSecurity.none
  /// The number of channels that the peer has refused because of insufficient security; `refusal` is its reason,
  /// `demand` the security that may satisfy the peer.
  var refused = 0
  var refusal: L2CAP.ConnectionResult?
  var demand: SecurityDemand?
}

extension PendingChannelRequest {
  /// Records the result for one channel. Returns true if `event` is a refusal that a higher security level may
  /// overcome.
  mutating func keep(_ event: ChannelEvent) -> Bool {
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
  var requestToken: ChannelToken? {
    switch self {
    case .opened(_, let token): token
    case .openFailed(let token, _): token
    case .received, .hasRoom, .reconfigured, .reconfigurationFailed, .closed, .closeEnded: nil
    }
  }
}

extension SecurityDemand {
  /// Creates the demand that may satisfy a peer that has refused a channel with `result`; nil: no security beyond
  /// that of the link would help.
  init?(after result: L2CAP.ConnectionResult, on security: HostLinkSecurity) {
    switch result {
    case .insufficientAuthentication: self.init(after: ATT.ErrorCode.insufficientAuthentication, on: security)
    case .insufficientEncryption: self.init(after: ATT.ErrorCode.insufficientEncryption, on: security)
    case .encryptionKeySizeTooShort: self.init(after: ATT.ErrorCode.insufficientEncryptionKeySize, on: security)
    default: return nil
    }
  }
}
