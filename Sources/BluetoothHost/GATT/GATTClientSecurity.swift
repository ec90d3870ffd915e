import BluetoothWire

/// The client's reaction to errors because of insufficient security: it requests a higher security level and repeats
/// the request · Vol 3, Part C, 10.3.2.
extension GATTClient {
  /// A request that waits for a higher security level.
  struct HeldRequest {
    let token: GATTToken
    let request: GATTRequest
    var priority: GATTPriority
    /// The server's error, with which the request fails if the security level is not raised.
    let code: ATT.ErrorCode
    let demand: SecurityDemand
  }

  /// Holds the request that the server has just refused. Returns false if a higher security level would not help.
  mutating func hold(
    _ token: GATTToken, _ priority: GATTPriority, after code: ATT.ErrorCode, _ context: inout GATTContext
  ) -> Bool {
    guard let request, context.closed == nil, let demand = SecurityDemand(after: code, on: context.security) else {
      return false
    }
    held = HeldRequest(token: token, request: request, priority: priority, code: code, demand: demand)
    context.events.append(.securityRequired(demand))
    return true
  }

  /// Handles a change of the link's security: sends, or repeats, the requests that have waited for it.
  mutating func securityChanged(at now: Instant, _ context: inout GATTContext) {
    if protection == .encryptionRequested { protection = .guarded }
    if let held {
      guard held.demand.isMet(by: context.security) else { return }
      self.held = nil
      start(held.request, token: held.token, held.priority, at: now, &context)
    }
    startNext(at: now, &context)
  }

  /// Handles a failure to raise the security level: the requests that have waited for it fail with the server's
  /// error, or with the one that a server would send.
  mutating func securityFailed(at now: Instant, _ context: inout GATTContext) {
    if let held { release(with: .att(held.code), at: now, &context) }
    if protection != .none {
      protection = .guarded
      failAll(with: .att(.insufficientEncryption), at: now, &context)
    }
    startNext(at: now, &context)
  }

  // MARK: Links with bonded servers

  /// Guards the link, or ends its protection.
  mutating func setGuarded(_ requiresEncryption: Bool) {
    if !requiresEncryption {
      protection = .none
    } else if protection == .none {
      protection = .guarded
    }
  }

  /// Notes that the host encrypts the link without a request of the client.
  mutating func willBeEncrypted() {
    if protection == .guarded { protection = .beingEncrypted }
  }

  /// True if the next request needs no encryption even on a link to a bonded server: a signed write authenticates
  /// itself. The request waits while the link is being encrypted, because an encrypted link carries no signed writes.
  var mayPass: Bool {
    guard signatureMaker != nil, protection == .guarded,
      case .signedWriteWithoutResponse? = queue.first?.request
    else { return false }
    return true
  }

  /// Requests encryption, once for all queued requests.
  mutating func wantEncryption(_ context: inout GATTContext) {
    guard !queue.isEmpty, protection != .encryptionRequested, context.closed == nil else { return }
    protection = .encryptionRequested
    context.events.append(.securityRequired(.encrypted))
  }

  /// Completes the held request with an error.
  mutating func release(with error: GATTError, at now: Instant, _ context: inout GATTContext) {
    guard let held else { return }
    self.held = nil
    complete(held.token, held.priority, .failure(error), hasRun: false, at: now, &context)
  }
}

extension SecurityDemand {
  /// Creates the demand that may satisfy a server that has refused a request with `code` on a link with `security`;
  /// nil: no security beyond that of the link would help.
  ///
  /// A server sends Insufficient Authentication if there is no key, or if the key is unauthenticated; encryption with
  /// any key is tried first. Each demand exceeds the security of the link, so the sequence of demands ends.
  init?(after code: ATT.ErrorCode, on security: HostLinkSecurity) {
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
