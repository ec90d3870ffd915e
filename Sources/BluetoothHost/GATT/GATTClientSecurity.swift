import BluetoothWire

/// What the client does when the server refuses something because the link is not protected well enough: it asks for a
/// better link, and then for the same again · Vol 3, Part C, 10.3.2.
extension GATTClient {
  /// A request that waits for a better protected link.
  struct HeldRequest {
    let token: GATTToken
    let request: GATTRequest
    /// What it was refused with; it fails so if the link does not become better.
    let code: ATT.ErrorCode
    let demand: SecurityDemand
  }

  /// Keeps what was just refused, if a better protected link may help; if not, says so.
  mutating func hold(_ token: GATTToken, after code: ATT.ErrorCode, _ context: inout GATTContext) -> Bool {
    guard let request, context.closed == nil, let demand = SecurityDemand(after: code, on: context.security) else {
      return false
    }
    held = HeldRequest(token: token, request: request, code: code, demand: demand)
    context.events.append(.securityWanted(demand))
    return true
  }

  /// The link is protected in another way: what waits for that is asked for, or asked for again.
  mutating func securityChanged(at now: Instant, _ context: inout GATTContext) {
    hasAskedForEncryption = false
    if let held {
      guard held.demand.isMet(by: context.security) else { return }
      self.held = nil
      start(held.request, token: held.token, at: now, &context)
    }
    startNext(at: now, &context)
  }

  /// The link does not become better: what waits for that ends with the server's error, or as if it had refused it.
  mutating func securityFailed(at now: Instant, _ context: inout GATTContext) {
    hasAskedForEncryption = false
    if let held { release(with: .att(held.code), &context) }
    if isGuarded { failAll(with: .att(.insufficientEncryption), &context) }
    startNext(at: now, &context)
  }

  // MARK: Links with bonded servers

  /// Whether the next request is one that needs no encryption even so: what is signed says itself who has written it. While
  /// the link is being encrypted it waits, since an encrypted link takes no signatures.
  var mayPass: Bool {
    guard signatureMaker != nil, !isBeingEncrypted, !hasAskedForEncryption,
      case .signedWriteWithoutResponse? = queue.first?.request
    else { return false }
    return true
  }

  /// Has the link encrypted, once for all that waits.
  mutating func wantEncryption(_ context: inout GATTContext) {
    guard !queue.isEmpty, !hasAskedForEncryption, context.closed == nil else { return }
    hasAskedForEncryption = true
    context.events.append(.securityWanted(.encrypted))
  }

  /// What waits for a better link ends in this way.
  mutating func release(with error: GATTError, _ context: inout GATTContext) {
    guard let held else { return }
    self.held = nil
    context.events.append(.completed(held.token, .failure(error)))
  }
}

extension SecurityDemand {
  /// What may help after a server has refused with `code` on a link with `security`; nil: nothing that this link hasn't.
  ///
  /// A server says Insufficient Authentication for want of any key, and for want of an authenticated one; the first is
  /// tried first. So each demand is more than what the link has, and they come to an end.
  init?(after code: ATT.ErrorCode, on security: LinkSecurity) {
    switch code {
    case .insufficientAuthentication where security.level < .authenticated:
      self.init(level: security.level == .none ? .encrypted : .authenticated)
    case .insufficientEncryption where security.level == .none: self.init(level: .encrypted)
    case .insufficientEncryptionKeySize where security.keySize < Self.maximumKeySize:
      self.init(level: max(security.level, .encrypted), keySize: Self.maximumKeySize)
    default: return nil
    }
  }

  private static let maximumKeySize: UInt8 = 16
}
