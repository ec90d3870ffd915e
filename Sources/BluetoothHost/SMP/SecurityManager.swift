import BluetoothCrypto
import BluetoothWire

/// The Security Manager of one link, in either role: pairing, and encryption with the keys of a bond · Vol 3, Part H, 2, 3.
///
/// After each call the owner takes the PDUs, the events and the command. When the link ends it says so, which ends what is
/// under way.
package struct SecurityManager {
  /// What is under way between the two Security Managers.
  indirect enum Procedure {
    /// A peripheral has asked the central to protect the link.
    case securityRequested
    /// A central has sent its Pairing Request.
    case pairingRequested(SMP.PairingFeatures)
    /// The user is asked whether the peer may pair. A peripheral may have got the next PDU already.
    case asking(PairingAgreement, held: SMP.PDU?)
    case legacy(PairingAgreement, LegacyPairing)
    case secureConnections(PairingAgreement, SecureConnectionsPairing)
    /// Both have this key, and the link is to be encrypted with it. `isGiven`: the controller has it.
    case encrypting(PairingAgreement, LongTermKey, isGiven: Bool)
    case distributing(PairingAgreement, LongTermKey, KeyExchange)
  }

  enum State {
    /// `ignoresRest`: this device has ended a pairing, and what the peer had sent by then is of no use.
    case idle(ignoresRest: Bool = false)
    /// The controller has got this key of the bond. `isAnswer`: a peripheral had asked for protection before.
    case encrypting(LongTermKey, isAnswer: Bool)
    /// The peer has to say something until then · 3.4.
    case procedure(Procedure, until: Instant)
    /// The peer has said nothing for too long: no PDU is sent or taken in any more · 3.4.
    case closed
  }

  /// The Security Manager Timer · 3.4.
  package static let timeout = TimeSpan.seconds(30)

  package let role: Link.Role
  let own: DeviceAddress
  let peer: DeviceAddress
  var state = State.idle()
  var output = SecurityOutput()
  package private(set) var bond: Bond?
  /// True once the key of the bond has encrypted the link: the peer is the device that the bond was made with.
  package private(set) var isProven = false
  /// What was demanded and has not come about.
  var wanted: SecurityDemand?
  /// How well the link is protected.
  package internal(set) var security = LinkSecurity.none

  /// - Parameters:
  ///   - own: the address of this device that was on the air when the link came about.
  ///   - peer: that of the peer; not its identity, where it used a private address.
  package init(role: Link.Role, own: DeviceAddress, peer: DeviceAddress) {
    self.role = role
    self.own = own
    self.peer = peer
  }

  /// What is known of the peer; nil: nothing, or nothing any more.
  package mutating func setBond(_ bond: Bond?) {
    self.bond = bond
    security.hasKey = bond?.key(in: role) != nil
    if bond == nil {
      security.isBonded = false
      isProven = false
    }
  }

  /// When `timeReached` wants to be called.
  package var deadline: Instant? {
    if case .procedure(_, let until) = state { return until }
    return nil
  }

  /// Whether the peer has let the timer run out: there is no pairing on this link any more.
  package var isClosed: Bool {
    if case .closed = state { return true }
    return false
  }

  /// Whether a pairing goes on.
  package var isPairing: Bool {
    guard case .procedure(let procedure, _) = state else { return false }
    if case .securityRequested = procedure { return false }
    return true
  }

  /// What the user is asked at the moment.
  package var prompt: PairingPrompt? { output.prompt }

  package mutating func takePDU() -> SMP.PDU? { output.takePDU() }
  package mutating func takeEvent() -> SecurityEvent? { output.takeEvent() }
  package mutating func takeCommand() -> SecurityCommand? { output.takeCommand() }

  // MARK: What is wanted

  /// The link is to be protected so. It ends with `SecurityEvent.changed` to a level that is enough, or with `failed`; of
  /// several demands at a time the highest counts for all.
  package mutating func secure(_ demand: SecurityDemand, at now: Instant, _ context: inout SecurityContext) {
    if demand.isMet(by: security) {
      output.tell(.changed(security))
      return
    }
    let joined = wanted ?? demand
    wanted = SecurityDemand(level: max(joined.level, demand.level), keySize: max(joined.keySize, demand.keySize))
    switch state {
    case .idle: pursue(at: now, &context)
    case .closed: tellFailed(.timeout)
    case .encrypting, .procedure: break
    }
  }

  /// Does what has to be done for what is wanted, where nothing is under way.
  mutating func pursue(at now: Instant, _ context: inout SecurityContext) {
    guard case .idle = state, let wanted else { return }
    if wanted.isMet(by: security) {
      self.wanted = nil
      return
    }
    let key = usableKey(for: wanted, context.policy)
    if role == .central {
      if let key { encrypt(with: key) } else { requestPairing(asksForAuthentication: false, at: now, &context) }
    } else if key == nil, let refusal = refusalOfPairing(context) {
      tellFailed(.refused(refusal))
    } else {
      let needs = needs(context.policy)
      let requirements = context.policy.requirements(asksForAuthentication: needs.level == .authenticated)
      begin(.securityRequested, .securityRequest(requirements), at: now)
    }
  }

  /// The bond's key for this role, if it is good enough for this and for the policy.
  func usableKey(for demand: SecurityDemand, _ policy: PairingPolicy) -> LongTermKey? {
    guard let key = bond?.key(in: role), policy.takes(key) else { return nil }
    return key.level >= demand.level && key.size >= demand.keySize ? key : nil
  }

  func needs(_ policy: PairingPolicy) -> PairingNeeds {
    PairingNeeds(policy: policy, demand: wanted, bond: bond, security: security)
  }

  /// Why this device need not begin to pair for what is wanted.
  func refusalOfPairing(_ context: SecurityContext) -> SMP.FailureReason? {
    needs(context.policy).refusal(policy: context.policy, hasOOBData: hasAnyOOBData(context))
  }

  /// A central encrypts the link.
  mutating func encrypt(with key: LongTermKey) {
    state = .encrypting(key, isAnswer: false)
    output.encrypt(key)
  }

  /// The link is gone.
  package mutating func linkEnded(at now: Instant, _ context: inout SecurityContext) {
    output.silence()
    if isTried { context.attempts.failed(identity, at: now) }
    let wasBusy: Bool
    switch state {
    case .idle, .closed: wasBusy = wanted != nil
    case .encrypting, .procedure: wasBusy = true
    }
    state = .closed
    output.endPrompt()
    if wasBusy { tellFailed(.disconnected) }
  }

  // MARK: Time

  package mutating func timeReached(_ now: Instant, _ context: inout SecurityContext) {
    guard let deadline, deadline <= now else { return }
    // A Security Request needs no answer, and the central may still do what it asks for: the timer of 3.4 is not its.
    if case .securityRequested = procedure {
      state = .idle()
      tellFailed(.timeout)
      return
    }
    if isTried { context.attempts.failed(identity, at: now) }
    output.silence()
    state = .closed
    output.endPrompt()
    tellFailed(.timeout)
  }

  // MARK: Encryption

  /// Encryption Change, Encryption Key Refresh Complete, or a refusal of `SecurityCommand.encrypt`
  /// · Vol 4, Part E, 7.7.8, 7.7.39.
  package mutating func encryptionChanged(
    status: HCI.ErrorCode, isEncrypted: Bool, at now: Instant, _ context: inout SecurityContext
  ) {
    if status == .success, isEncrypted {
      encrypted(at: now, &context)
    } else if status == .success {
      // LE has no way back; a controller that says so is believed.
      protect(level: .none, keySize: 0, isBonded: false)
      if case .distributing = procedure { fail(.unspecifiedReason, at: now, &context) }
    } else {
      notEncrypted(status, at: now, &context)
    }
  }

  var procedure: Procedure? {
    if case .procedure(let procedure, _) = state { return procedure }
    return nil
  }

  private mutating func encrypted(at now: Instant, _ context: inout SecurityContext) {
    switch state {
    case .encrypting(let key, let isAnswer):
      state = .idle()
      protect(level: key.level, keySize: key.size, isBonded: true)
      if wanted == nil { return }
      if isAnswer {
        // The central was told what is needed, and has chosen this.
        tellFailed(.refused(.authenticationRequirements))
      } else {
        pursue(at: now, &context)
      }
    case .procedure(.encrypting(let agreement, let key, isGiven: true), let until):
      protect(level: key.level, keySize: key.size, isBonded: false)
      var exchange = KeyExchange(agreement, peer: peer)
      exchange.begin(&context, &output)
      state = .procedure(.distributing(agreement, key, exchange), until: until)
      if agreement.ownKeys.isEmpty == false { restartTimer(at: now) }
      completeIfDone(at: now, &context)
    // A key that nobody has given it: nothing is known of how good it is.
    default: break
    }
  }

  private mutating func notEncrypted(_ status: HCI.ErrorCode, at now: Instant, _ context: inout SecurityContext) {
    switch state {
    case .encrypting:
      state = .idle()
      tellFailed(status == .pinOrKeyMissing ? .keyMissing : .encryption(status))
    case .procedure(.encrypting(_, _, isGiven: true), _):
      fail(.unspecifiedReason, as: .encryption(status), at: now, &context)
    default: break
    }
  }

  /// The controller of a peripheral wants the key that the central names; nil: it has to refuse · Vol 4, Part E, 7.7.65.5.
  /// A key is given only where it is the turn of that very key.
  package mutating func longTermKey(
    random: UInt64, diversifier: UInt16, _ context: SecurityContext
  ) -> Block? {
    guard role == .peripheral else { return nil }
    switch state {
    case .procedure(.encrypting(let agreement, let key, _), let until):
      guard random == 0, diversifier == 0, key.value != .zero else { return nil }
      state = .procedure(.encrypting(agreement, key, isGiven: true), until: until)
      return key.value
    case .idle, .encrypting, .procedure(.securityRequested, _):
      guard let key = bond?.key(in: role), key.random == random, key.diversifier == diversifier,
        key.value != .zero, context.policy.takes(key)
      else { return nil }
      if case .securityRequested = procedure {
        state = .encrypting(key, isAnswer: true)
      } else {
        state = .encrypting(key, isAnswer: false)
      }
      return key.value
    case .procedure, .closed: return nil
    }
  }

  /// Tells how the link is protected now; those whose demand is met have been told.
  mutating func protect(level: LinkSecurity.Level, keySize: UInt8, isBonded: Bool) {
    security.level = level
    security.keySize = keySize
    security.isBonded = isBonded
    if isBonded { isProven = true }
    output.tell(.changed(security))
    if let wanted, wanted.isMet(by: security) { self.wanted = nil }
  }

  mutating func tellFailed(_ failure: SecurityFailure) {
    wanted = nil
    output.tell(.failed(failure))
  }
}

extension PairingPolicy {
  /// Whether a key of a bond may still be used.
  func takes(_ key: LongTermKey) -> Bool {
    if secureConnections == .only { return key.isSecureConnections && key.size >= 16 }
    return key.size >= keySizes.lowerBound
  }
}

extension SecurityManager: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without the keys.
  package var description: String { "SecurityManager(\(role), \(security.level))" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
