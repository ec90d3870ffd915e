// Design: pairing
//
// Each link has one `SecurityManager`, in either role, without clock, store or user interface. Its inputs are PDUs, the
// user's answers and the controller's events. Its outputs are PDUs, prompts, a key for encryption, and the data to
// store. The current step is one enum, so a key exists only in the step that has created it: `longTermKey` returns the
// key of a pairing in that step alone, and the key of a bond only while no pairing is in progress. The state that links
// share is a `SecurityContext`: policy, identity, random generator, out-of-band data, failed attempts, and the bonded
// identities.
//
// - Features are checked before the user is asked: against the demand, the policy, and the security of an existing bond
//   or of the link. An authenticated key is never replaced by an unauthenticated or shorter one, nor LE Secure
//   Connections by LE legacy pairing; the user must forget the device first. If the key of the bond has not encrypted
//   the link (`SecurityManager.isProven`), the attempt is reported (`SecurityEvent.replacementAttempted`), automatic
//   prompts refuse it, and a new bond inherits no state of the client (`PairingOutcome.replacesUnproven`).
// - The user must allow Just Works, out of band, and every pairing with a device that has a bond, before a key or a
//   confirm value is sent, whichever side started. Pairing Response is sent before that, so both sides have 30 s. The
//   one PDU that a peer may send meanwhile is kept; any other PDU ends the pairing. A refusal is answered with 0x05.
// - A PDU that the current step does not expect ends the pairing with 0x08, a PDU of the wrong length with 0x0A, a
//   request to the wrong role with 0x07. PDUs that the peer had sent before it knew of the failure are ignored: each
//   pairing has one Pairing Failed. Keypress notifications are always accepted. Outside of a pairing, confirm values,
//   random values and DHKey checks are ignored, and keys are refused.
// - A Security Request without an answer for 30 s fails, and blocks nothing: the central may still encrypt, or pair.
// - A central meets a demand with the key of the bond if that key is sufficient, else it pairs. A peer that has lost
//   its key is an error (`keyMissing`) and no reason to pair: the bond stays until the user removes it, so no Security
//   Request can remove it.
// - All randomness of pairing comes from one `KeyGenerator`, which the floor above passes in. It is the operating
//   system's generator for every device, except for the devices of a lab's world, whose captures must be reproducible.
// - A key pair lasts for one pairing, except for the pair that out-of-band data refers to. With a Temporary Key alone,
//   a central does not offer LE Secure Connections: the flag in its request cannot stand for both.
// - A peer that fails must wait 1 s, then twice as long after each failure, up to 10 min. Failures are recorded by
//   identity or address, for up to 64 peers, and only pairings that the peer starts are delayed. Refusals by policy do
//   not count, except for pairings that are weaker than the bond; a lost link does count.
// - An eavesdropper on LE legacy pairing gets the keys, unless the Temporary Key came out of band: this is as with real
//   devices. Documentation/Captures.md describes what an eavesdropper gets.
// - An identity address of another bond, or of this device, is refused with 0x0F. An address of zeros means that there
//   is none, and so do keys of zeros, except for a legacy Long Term Key of zeros, which is refused.

import BluetoothCrypto
import BluetoothWire

/// The Security Manager of one link, in either role: pairing, and encryption with the keys of a bond
/// · Vol 3, Part H, 2, 3.
///
/// After each call, the owner takes the PDUs, the events and the command. The owner reports the end of the link with
/// `linkEnded`, which ends the current procedure.
package struct SecurityManager {
  /// The current procedure of the two Security Managers.
  indirect enum Procedure {
    /// The peripheral has sent a Security Request.
    case securityRequested
    /// The central has sent its Pairing Request.
    case pairingRequested(SMP.PairingFeatures)
    /// The user is asked whether the peer may pair. A peripheral may already have received the next PDU.
    case asking(PairingAgreement, held: SMP.PDU?)
    case legacy(PairingAgreement, LegacyPairing)
    case secureConnections(PairingAgreement, SecureConnectionsPairing)
    /// Both sides have this key, and the link is about to be encrypted with it. `isGiven`: the controller has the
    /// key.
    case encrypting(PairingAgreement, LongTermKey, isGiven: Bool)
    case distributing(PairingAgreement, LongTermKey, KeyExchange)
  }

  enum State {
    /// No procedure. `ignoresRest`: this device has ended a pairing and ignores the PDUs of that pairing that are still
    /// in transit.
    case idle(ignoresRest: Bool = false)
    /// The controller has received this key of the bond. `isAnswer`: the peripheral had sent a Security Request.
    case encrypting(LongTermKey, isAnswer: Bool)
    /// A procedure is in progress; the peer must send a PDU until the given time · 3.4.
    case procedure(Procedure, until: Instant)
    /// The peer has let the timer expire, or the link has ended: no more PDUs are sent or accepted · 3.4.
    case closed
  }

  /// The Security Manager Timer · 3.4.
  package static let timeout = TimeSpan.seconds(30)

  package let role: Link.Role
  let own: DeviceAddress
  let peer: DeviceAddress
  var state = State.idle()
  var output = SecurityOutput()
  package private(set) var bond: HostBond?
  /// True once the key of the bond has encrypted the link: the peer is the device of the bond.
  package private(set) var isProven = false
  /// The demand that has not been met yet.
  var pendingDemand: SecurityDemand?
  /// The current security of the link.
  package internal(set) var security = HostLinkSecurity.none

  /// Creates the Security Manager of a new link.
  ///
  /// - Parameters:
  ///   - own: The address that this device used on the air when the link was created.
  ///   - peer: The address that the peer used, which may be a private address rather than its identity.
  package init(role: Link.Role, own: DeviceAddress, peer: DeviceAddress) {
    self.role = role
    self.own = own
    self.peer = peer
  }

  /// Sets the bond with the peer; nil: there is none, or it has been removed.
  package mutating func setBond(_ bond: HostBond?) {
    self.bond = bond
    security.hasKey = bond?.key(in: role) != nil
    if bond == nil {
      security.isBonded = false
      isProven = false
    }
  }

  /// The next instant at which `timeReached` must be called; nil: none.
  package var deadline: Instant? {
    if case .procedure(_, let until) = state { return until }
    return nil
  }

  /// True if the peer has let the timer expire, after which pairing is no longer possible on this link, or if the
  /// link has ended.
  package var isClosed: Bool {
    if case .closed = state { return true }
    return false
  }

  /// True while a pairing is in progress.
  package var isPairing: Bool {
    guard case .procedure(let procedure, _) = state else { return false }
    if case .securityRequested = procedure { return false }
    return true
  }

  /// The current prompt for the user.
  package var prompt: PairingPrompt? { output.prompt }

  package mutating func takePDU() -> SMP.PDU? { output.takePDU() }
  package mutating func takeEvent() -> SecurityEvent? { output.takeEvent() }
  package mutating func takeCommand() -> SecurityCommand? { output.takeCommand() }

  // MARK: Security demands

  /// Raises the security of the link. Ends with `SecurityEvent.changed` to a sufficient level, or with `failed`;
  /// concurrent demands are combined to the highest one.
  package mutating func secure(_ demand: SecurityDemand, at now: Instant, _ context: inout SecurityContext) {
    if demand.isMet(by: security) {
      output.tell(.changed(security))
      return
    }
    let joined = pendingDemand ?? demand
    pendingDemand = SecurityDemand(level: max(joined.level, demand.level), keySize: max(joined.keySize, demand.keySize))
    switch state {
    case .idle: advanceSecurity(at: now, &context)
    case .closed: tellFailed(.timeout)
    case .encrypting, .procedure: break
    }
  }

  /// Takes the next step toward the demand if no procedure is in progress.
  mutating func advanceSecurity(at now: Instant, _ context: inout SecurityContext) {
    guard case .idle = state, let pendingDemand else { return }
    if pendingDemand.isMet(by: security) {
      self.pendingDemand = nil
      return
    }
    let key = usableKey(for: pendingDemand, context.policy)
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

  /// Returns the bond's key for this role if it meets the demand and the policy.
  func usableKey(for demand: SecurityDemand, _ policy: PairingPolicy) -> LongTermKey? {
    guard let key = bond?.key(in: role), policy.takes(key) else { return nil }
    return key.level >= demand.level && key.size >= demand.keySize ? key : nil
  }

  func needs(_ policy: PairingPolicy) -> PairingNeeds {
    PairingNeeds(policy: policy, demand: pendingDemand, bond: bond, security: security)
  }

  /// Returns the reason why a pairing cannot meet the demand; nil: a pairing may meet it.
  func refusalOfPairing(_ context: SecurityContext) -> SMP.FailureReason? {
    needs(context.policy).refusal(policy: context.policy, hasOOBData: hasAnyOOBData(context))
  }

  /// Encrypts the link as central.
  mutating func encrypt(with key: LongTermKey) {
    state = .encrypting(key, isAnswer: false)
    output.encrypt(key)
  }

  /// Handles the end of the link.
  package mutating func linkEnded(at now: Instant, _ context: inout SecurityContext) {
    output.discardAll()
    if isTried { context.attempts.failed(identity, at: now) }
    let wasBusy: Bool
    switch state {
    case .idle, .closed: wasBusy = pendingDemand != nil
    case .encrypting, .procedure: wasBusy = true
    }
    state = .closed
    output.endPrompt()
    if wasBusy { tellFailed(.disconnected) }
  }

  // MARK: Timer

  package mutating func timeReached(_ now: Instant, _ context: inout SecurityContext) {
    guard let deadline, deadline <= now else { return }
    // A Security Request needs no response, and the central may still comply, so the SMP timer (3.4) does not apply.
    if case .securityRequested = procedure {
      state = .idle()
      tellFailed(.timeout)
      return
    }
    if isTried { context.attempts.failed(identity, at: now) }
    output.discardAll()
    state = .closed
    output.endPrompt()
    tellFailed(.timeout)
  }

  // MARK: Encryption

  /// Handles Encryption Change, Encryption Key Refresh Complete, or a refusal of `SecurityCommand.encrypt`
  /// · Vol 4, Part E, 7.7.8, 7.7.39.
  package mutating func encryptionChanged(
    status: HCI.ErrorCode, isEncrypted: Bool, at now: Instant, _ context: inout SecurityContext
  ) {
    if status == .success, isEncrypted {
      encrypted(at: now, &context)
    } else if status == .success {
      // An LE link cannot disable encryption. If a controller reports this anyway, treat the link as unencrypted.
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
      if pendingDemand == nil { return }
      if isAnswer {
        // The central knew the requirements from the Security Request and has chosen an insufficient key.
        tellFailed(.refused(.authenticationRequirements))
      } else {
        advanceSecurity(at: now, &context)
      }
    case .procedure(.encrypting(let agreement, let key, isGiven: true), let until):
      protect(level: key.level, keySize: key.size, isBonded: false)
      var exchange = KeyExchange(agreement, peer: peer)
      exchange.begin(&context, &output)
      state = .procedure(.distributing(agreement, key, exchange), until: until)
      if agreement.ownKeys.isEmpty == false { restartTimer(at: now) }
      completeIfDone(at: now, &context)
    // The controller used a key that this host has not provided, so its security is unknown.
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

  /// Returns the key that the controller of a peripheral requests for the central; nil: the host must refuse
  /// · Vol 4, Part E, 7.7.65.5. A key is returned only in the state in which that key is expected.
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

  /// Reports the new security of the link, and drops a demand that it meets.
  mutating func protect(level: HostLinkSecurity.Level, keySize: UInt8, isBonded: Bool) {
    security.level = level
    security.keySize = keySize
    security.isBonded = isBonded
    if isBonded { isProven = true }
    output.tell(.changed(security))
    if let pendingDemand, pendingDemand.isMet(by: security) { self.pendingDemand = nil }
  }

  mutating func tellFailed(_ failure: SecurityFailure) {
    pendingDemand = nil
    output.tell(.failed(failure))
  }
}

extension PairingPolicy {
  /// Returns true if the policy permits the use of a bond's key.
  func takes(_ key: LongTermKey) -> Bool {
    if secureConnections == .only { return key.isSecureConnections && key.size >= 16 }
    return key.size >= keySizes.lowerBound
  }
}

extension SecurityManager: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A description without the keys.
  package var description: String { "SecurityManager(\(role), \(security.level))" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
