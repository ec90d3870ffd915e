import BluetoothCrypto
import BluetoothWire

/// The processing of the peer's PDUs and the user's answers.
extension SecurityManager {
  /// Processes a PDU of the peer with arbitrary content.
  package mutating func receive(_ octets: ByteSlice, at now: Instant, _ context: inout SecurityContext) {
    guard !isClosed, !octets.isEmpty, let code = SMP.Code(rawValue: octets[0]) else { return }
    guard let pdu = try? SMP.PDU.decode(octets) else {
      // A malformed Pairing Failed also ends the pairing, and gets no response.
      if code == .pairingFailed {
        receiveFailed(.unspecifiedReason, at: now, &context)
      } else {
        fail(.invalidParameters, at: now, &context)
      }
      return
    }
    restartTimer(at: now)
    switch pdu {
    case .pairingFailed(let reason): receiveFailed(reason, at: now, &context)
    case .pairingRequest(let features): receiveRequest(features, at: now, &context)
    case .securityRequest(let requirements): receiveSecurityRequest(requirements, at: now, &context)
    case .pairingKeypressNotification(let type): receiveKeypress(type)
    case _ where ignoresRest: break
    // Ignore confirm, random and check values outside a pairing. Reject keys outside a pairing with Pairing Failed.
    case .pairingConfirm where procedure == nil, .pairingRandom where procedure == nil,
      .pairingDHKeyCheck where procedure == nil:
      break
    case .pairingResponse(let features):
      guard case .pairingRequested(let request) = procedure else {
        fail(.unspecifiedReason, at: now, &context)
        return
      }
      failingPairing(at: now, &context) { (manager, context) throws(SMP.FailureReason) in
        try manager.receiveResponse(features, to: request, at: now, &context)
      }
    default:
      failingPairing(at: now, &context) { (manager, context) throws(SMP.FailureReason) in
        try manager.advance(pdu, at: now, &context)
      }
    }
  }

  /// Calls `body`, and ends the pairing if it throws a reason.
  private mutating func failingPairing(
    at now: Instant, _ context: inout SecurityContext,
    _ body: (inout SecurityManager, inout SecurityContext) throws(SMP.FailureReason) -> Void
  ) {
    do {
      try body(&self, &context)
      completeIfDone(at: now, &context)
    } catch {
      fail(error, at: now, &context)
    }
  }

  // MARK: Start of pairing

  /// Starts a pairing as central.
  mutating func requestPairing(asksForAuthentication: Bool, at now: Instant, _ context: inout SecurityContext) {
    if let refusal = refusalOfPairing(context) {
      tellFailed(.refused(refusal))
      return
    }
    // The request already announces out-of-band data and LE Secure Connections; with a Temporary Key alone, request
    // LE legacy pairing.
    var policy = context.policy
    let data = context.outOfBand
    if policy.secureConnections == .preferred, !needs(policy).isSecureConnections, data.own == nil,
      data.peers[peer] == nil, data.temporaryKeys[peer] != nil
    {
      policy.secureConnections = .never
    }
    let request = policy.request(
      asksForAuthentication: asksForAuthentication || needs(policy).level == .authenticated,
      hasOOBData: hasOOBData(context, isSecureConnections: policy.secureConnections != .never),
      hasIdentity: context.hasIdentity)
    begin(.pairingRequested(request), .pairingRequest(request), at: now)
  }

  /// Handles a Security Request of the peripheral · 2.4.6.
  private mutating func receiveSecurityRequest(
    _ requirements: SMP.AuthenticationRequirements, at now: Instant, _ context: inout SecurityContext
  ) {
    guard role == .central else {
      fail(.commandNotSupported, at: now, &context)
      return
    }
    guard case .idle = state else { return }
    let isAuthenticated = requirements.contains(.manInTheMiddleProtection)
    let demand: SecurityDemand = isAuthenticated ? .authenticated : .encrypted
    if demand.isMet(by: security) { return }
    if let key = usableKey(for: demand, context.policy) {
      encrypt(with: key)
    } else if context.policy.secureConnections == .only, !requirements.contains(.secureConnections) {
      fail(.authenticationRequirements, at: now, &context)
    } else if !context.policy.isPairable {
      fail(.pairingNotSupported, at: now, &context)
    } else if context.attempts.holdsBack(identity, at: now) {
      fail(.repeatedAttempts, at: now, &context)
    } else if let refusal = refusalOfPairing(context) {
      fail(refusal, at: now, &context)
    } else {
      requestPairing(asksForAuthentication: isAuthenticated, at: now, &context)
    }
  }

  private mutating func receiveRequest(
    _ request: SMP.PairingFeatures, at now: Instant, _ context: inout SecurityContext
  ) {
    guard role == .peripheral else {
      fail(.commandNotSupported, at: now, &context)
      return
    }
    var isInvited = false
    switch state {
    case .idle: break
    case .procedure(.securityRequested, _): isInvited = true
    case .encrypting, .procedure, .closed:
      fail(.unspecifiedReason, at: now, &context)
      return
    }
    failingPairing(at: now, &context) { (manager, context) throws(SMP.FailureReason) in
      if let refusal = request.refusal { throw refusal }
      guard context.policy.isPairable else { throw .pairingNotSupported }
      if !isInvited, context.attempts.holdsBack(manager.identity, at: now) { throw .repeatedAttempts }
      try manager.respond(to: request, at: now, &context)
    }
  }

  private mutating func respond(
    to request: SMP.PairingFeatures, at now: Instant, _ context: inout SecurityContext
  ) throws(SMP.FailureReason) {
    let policy = context.policy
    let needs = needs(policy)
    let isSecureConnections = policy.secureConnections != .never && request.asks(for: .secureConnections)
    let response = policy.response(
      to: request, asksForAuthentication: needs.level == .authenticated,
      hasOOBData: hasOOBData(context, isSecureConnections: isSecureConnections), hasIdentity: context.hasIdentity)
    let agreement = try agree(on: request, response, at: now, &context)
    // Check for the data before sending a response.
    if isSecureConnections, request.hasOOBData, context.outOfBand.own == nil { throw .oobNotAvailable }
    output.send(.pairingResponse(response))
    try start(agreement, at: now, &context)
  }

  private mutating func receiveResponse(
    _ response: SMP.PairingFeatures, to request: SMP.PairingFeatures, at now: Instant,
    _ context: inout SecurityContext
  ) throws(SMP.FailureReason) {
    if let refusal = response.refusal { throw refusal }
    let defined: SMP.KeyDistribution = [.encryptionKey, .identityKey, .signingKey, .linkKey]
    guard response.initiatorKeyDistribution.intersection(defined).isSubset(of: request.initiatorKeyDistribution),
      response.responderKeyDistribution.intersection(defined).isSubset(of: request.responderKeyDistribution)
    else { throw .invalidParameters }
    let agreement = try agree(on: request, response, at: now, &context)
    if agreement.isSecureConnections {
      if response.hasOOBData, context.outOfBand.own == nil { throw .oobNotAvailable }
      if request.hasOOBData, context.outOfBand.peers[peer] == nil { throw .oobNotAvailable }
    } else if agreement.model == .outOfBand, context.outOfBand.temporaryKeys[peer] == nil {
      throw .oobNotAvailable
    }
    try start(agreement, at: now, &context)
  }

  // MARK: Phases of pairing

  /// Starts authentication. Asks the user for consent first if a bond exists, or if the association model (Just Works
  /// or Out of Band) needs no other action by the user.
  private mutating func start(
    _ agreement: PairingAgreement, at now: Instant, _ context: inout SecurityContext
  ) throws(SMP.FailureReason) {
    if isAtStake { output.tell(.replacementAttempted(nil)) }
    let asks = bond != nil || agreement.model == .justWorks || agreement.model == .outOfBand
    if asks {
      set(.asking(agreement, held: nil), at: now)
      output.ask(.allow)
    } else {
      try authenticate(agreement, at: now, &context)
    }
  }

  private mutating func authenticate(
    _ agreement: PairingAgreement, at now: Instant, _ context: inout SecurityContext
  ) throws(SMP.FailureReason) {
    if agreement.isSecureConnections {
      let data = SecureConnectionsPairing.OutOfBandData(
        own: context.outOfBand.own, peer: context.outOfBand.peers[peer])
      var pairing = try SecureConnectionsPairing(
        agreement, outOfBand: data, acceptsDebugKeys: context.policy.acceptsDebugKeys, &context.generator)
      pairing.begin(&output)
      set(.secureConnections(agreement, pairing), at: now)
    } else {
      var pairing = LegacyPairing(agreement)
      try pairing.begin(temporaryKey: context.outOfBand.temporaryKeys[peer], &context.generator, &output)
      set(.legacy(agreement, pairing), at: now)
    }
  }

  /// Passes a PDU to the current procedure.
  private mutating func advance(
    _ pdu: SMP.PDU, at now: Instant, _ context: inout SecurityContext
  ) throws(SMP.FailureReason) {
    switch procedure {
    case .asking(let agreement, held: nil) where agreement.role == .peripheral:
      guard pdu.code == (agreement.isSecureConnections ? .pairingPublicKey : .pairingConfirm) else {
        throw .unspecifiedReason
      }
      set(.asking(agreement, held: pdu), at: now)
    case .legacy(let agreement, var pairing):
      let key = try pairing.receive(pdu, &output)
      set(.legacy(agreement, pairing), at: now)
      if let key { authenticated(agreement, key, at: now) }
    case .secureConnections(let agreement, var pairing):
      let key = try pairing.receive(pdu, &context.generator, &output)
      set(.secureConnections(agreement, pairing), at: now)
      if let key { authenticated(agreement, key, at: now) }
    case .distributing(let agreement, let key, var exchange):
      try exchange.receive(pdu, known: bond?.identity, &context, &output)
      set(.distributing(agreement, key, exchange), at: now)
    default: throw .unspecifiedReason
    }
  }

  /// Starts encryption with the new key: a central encrypts, a peripheral waits for the central.
  private mutating func authenticated(_ agreement: PairingAgreement, _ value: Block, at now: Instant) {
    output.endPrompt()
    let key = agreement.longTermKey(value)
    set(.encrypting(agreement, key, isGiven: role == .central), at: now)
    if role == .central { output.encrypt(key) }
  }

  /// Completes the pairing if all keys have been exchanged.
  mutating func completeIfDone(at now: Instant, _ context: inout SecurityContext) {
    guard case .distributing(let agreement, let key, let exchange) = procedure, exchange.isComplete else { return }
    let new = agreement.isBonding ? exchange.bond(key, known: bond) : nil
    // Another link may have created this bond after this pairing began.
    if let new, new.identity != bond?.identity, context.bondedIdentities.contains(new.identity) {
      fail(.keyRejected, at: now, &context)
      return
    }
    context.attempts.succeeded(identity)
    state = .idle()
    output.tell(
      .paired(
        PairingOutcome(
          method: agreement.model.method, isSecureConnections: key.isSecureConnections, keySize: key.size, bond: new,
          replacesUnproven: new != nil && isAtStake)))
    if let new {
      setBond(new)
      protect(level: security.level, keySize: security.keySize, isBonded: true)
    }
    advanceSecurity(at: now, &context)
  }

  // MARK: User

  /// Processes the user's answer to the prompt. An answer that does not match the prompt is ignored.
  package mutating func answer(_ answer: PairingAnswer, at now: Instant, _ context: inout SecurityContext) {
    guard let prompt else { return }
    failingPairing(at: now, &context) { (manager, context) throws(SMP.FailureReason) in
      switch (prompt, answer) {
      case (.allow, .no): throw .pairingNotSupported
      case (.compare, .no): throw .numericComparisonFailed
      case (.show, .no), (.enterPasskey, .no): throw .passkeyEntryFailed
      case (.allow, .yes): try manager.allow(at: now, &context)
      case (.compare, .yes): try manager.accept(at: now)
      case (.enterPasskey, .passkey(let passkey)): try manager.enter(passkey, at: now, &context)
      case (.enterPasskey, .keypress(let type)): manager.sendKeypress(type, at: now)
      default: break
      }
    }
  }

  private mutating func allow(at now: Instant, _ context: inout SecurityContext) throws(SMP.FailureReason) {
    guard case .asking(let agreement, let held) = procedure else { return }
    output.endPrompt()
    try authenticate(agreement, at: now, &context)
    if let held { try advance(held, at: now, &context) }
  }

  private mutating func accept(at now: Instant) throws(SMP.FailureReason) {
    guard case .secureConnections(let agreement, var pairing) = procedure else { return }
    output.endPrompt()
    let key = try pairing.accept(&output)
    set(.secureConnections(agreement, pairing), at: now)
    if let key { authenticated(agreement, key, at: now) }
  }

  private mutating func enter(
    _ passkey: UInt32, at now: Instant, _ context: inout SecurityContext
  ) throws(SMP.FailureReason) {
    guard passkey <= PasskeyEntry.largestPasskey else { throw .passkeyEntryFailed }
    sendKeypress(.passkeyEntryCompleted, at: now)
    output.endPrompt()
    switch procedure {
    case .legacy(let agreement, var pairing):
      try pairing.enter(passkey, &context.generator, &output)
      set(.legacy(agreement, pairing), at: now)
    case .secureConnections(let agreement, var pairing):
      try pairing.enter(passkey, &context.generator, &output)
      set(.secureConnections(agreement, pairing), at: now)
    default: break
    }
  }

  private mutating func sendKeypress(_ type: SMP.KeypressNotification, at now: Instant) {
    switch procedure {
    case .legacy(let agreement, _), .secureConnections(let agreement, _):
      guard agreement.hasKeypresses, type != .passkeyEntryStarted else { return }
      output.send(.pairingKeypressNotification(type))
      restartTimer(at: now)
    default: break
    }
  }

  private mutating func receiveKeypress(_ type: SMP.KeypressNotification) {
    if case .show = prompt { output.tell(.keypress(type)) }
  }

  // MARK: End of pairing

  private mutating func receiveFailed(
    _ reason: SMP.FailureReason, at now: Instant, _ context: inout SecurityContext
  ) {
    guard case .procedure = state else { return }
    if isTried { context.attempts.failed(identity, at: now) }
    state = .idle()
    output.endPrompt()
    tellFailed(.refusedByPeer(reason))
  }

  /// Sends the reason to the peer and ends the current procedure. An encryption with the key of a bond continues.
  mutating func fail(
    _ reason: SMP.FailureReason, as failure: SecurityFailure? = nil, at now: Instant, _ context: inout SecurityContext
  ) {
    output.send(.pairingFailed(reason))
    guard case .procedure = state else { return }
    if isTried { context.attempts.failed(identity, at: now) }
    state = .idle(ignoresRest: true)
    output.endPrompt()
    tellFailed(failure ?? .refused(reason))
  }

  // MARK: Common

  private var ignoresRest: Bool {
    if case .idle(ignoresRest: true) = state { return true }
    return false
  }

  /// The address under which failures are counted.
  var identity: DeviceAddress { bond?.identity ?? peer }

  /// True from the exchange of features until key distribution begins. A failure in this time counts as an attempt.
  var isTried: Bool {
    switch procedure {
    case .asking, .legacy, .secureConnections, .encrypting: return true
    case nil, .securityRequested, .pairingRequested, .distributing: return false
    }
  }

  mutating func begin(_ procedure: Procedure, _ pdu: SMP.PDU, at now: Instant) {
    set(procedure, at: now)
    output.send(pdu)
  }

  private mutating func set(_ procedure: Procedure, at now: Instant) {
    state = .procedure(procedure, until: now + Self.timeout)
  }

  /// Restarts the timer after a PDU was sent or received · 3.4.
  mutating func restartTimer(at now: Instant) {
    if case .procedure(let procedure, _) = state { set(procedure, at: now) }
  }

  /// Returns true if this device has out-of-band data of the peer.
  private func hasOOBData(_ context: SecurityContext, isSecureConnections: Bool) -> Bool {
    isSecureConnections
      ? context.outOfBand.peers[peer] != nil : context.outOfBand.temporaryKeys[peer] != nil
  }

  /// Returns true if any out-of-band data exist for a pairing with this peer.
  func hasAnyOOBData(_ context: SecurityContext) -> Bool {
    let data = context.outOfBand
    return data.own != nil || data.peers[peer] != nil || data.temporaryKeys[peer] != nil
  }
}

extension SecurityContext {
  var hasIdentity: Bool { identityKey != nil && identityKey != .zero }
}
