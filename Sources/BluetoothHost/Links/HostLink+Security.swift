// Design: protected links
//
// `BluetoothHost` connects the Security Managers with the controller and with everything that needs protection
// (`HostLink+Security.swift`). The daemon asks the user and stores the bonds (`BondBroker`). Apps hear only of
// failures.
//
// - If a server refuses a request because the link is not protected enough, the request waits in `GATTClient`, and all
//   other requests on the link wait behind it. `GATTEvent.securityRequired` reports what would help. The host meets the
//   demand, or not, and the request is sent again, or ends with the server's own error. Each demand exceeds the link's
//   current security, so the repetition ends. Channels that a peer refuses for the same reason wait in the same way
//   (`PendingChannelRequest`). This works in either role: the client of a peripheral makes the central start by a
//   Security Request.
// - On a link to a bonded server, nothing is requested and nothing is trusted before the link is encrypted. A central
//   encrypts such a link as soon as it exists (`encryptsBondedLinks`). Until then requests wait and notifications are
//   dropped. Only signed writes may be sent before.
// - Apple's systems do the same, so apps never write in clear on a bonded link: their signed writes are sent as Write
//   Commands on an encrypted link. A device whose `guardsBondedLinks` is off (`DeviceOptions.encryptsBondedLinks`) uses
//   such a link like one without a bond until encryption is required. On such a link, values are signed only for
//   characteristics that accept signed writes only. A value that leaves no room for the twelve octets of a signature is
//   refused by the client itself, as a server without a key would refuse it, so the client gets the link encrypted and
//   sends the value unsigned. `maximumWriteValueLength` stays ATT_MTU − 3.
// - If the peer has lost the key, the link ends with `peerRemovedPairingInformation` for apps, and the bond stays. If
//   the peer does not respond, or encryption fails, the link ends with `encryptionTimedOut`.
// - A peer that is found under a private address and pairs keeps the identifier that apps have for it.
// - An accessory of the lab has no user. It answers as `AutomaticPrompts.accepting` does: it allows pairing, and
//   refuses to replace a bond on a link that the bond's key has not encrypted. A test removes the accessory's bonds
//   with `forgetBonds()`.

import BluetoothCrypto
import BluetoothWire

/// The interface of a link's Security Manager to the controller and to the bonds.
extension HostLink {
  // MARK: Bonds

  /// Prepares a new link to a bonded peer with the keys of the bond.
  mutating func recallBond(_ context: inout HostContext, at now: Instant) {
    guard let bond = context.security.bonds[link.peer] else { return }
    self.bond = bond.identity
    bearer.guardsBondedLink = context.configuration.guardsBondedLinks
    security.setBond(bond)
    useSignatureKeys(of: bond)
    bearer.securityChanged(security.security, at: now)
  }

  private mutating func useSignatureKeys(of bond: HostBond) {
    bearer.signatureVerifier = bond.signatureVerifier
    bearer.signatureMaker = bond.signatureMaker
  }

  /// Ends the link because its bond has been removed. The host discards all further data from the peer.
  mutating func bondRemoved(_ context: inout HostContext, at now: Instant) {
    bond = nil
    security.setBond(nil)
    bearer.signatureVerifier = nil
    bearer.signatureMaker = nil
    bearer.securityChanged(security.security, resumes: false, at: now)
    disconnect(.remoteUserTerminatedConnection, &context)
  }

  /// Ends the Security Manager and stores its counters with the bond.
  mutating func endSecurity(_ context: inout HostContext, at now: Instant) {
    security.linkEnded(at: now, &context.security.context)
    while let event = security.takeEvent() {
      if visibility == .reported { context.output.tell(.security(link.handle, event)) }
    }
    keepCounters(&context)
  }

  /// Stores the sign counter after a signed write: after each of the first 32 writes on a link, then after every 32nd
  /// write, because a peer may send faster than the counter can be stored. If this process ends abruptly, an attacker
  /// can replay fewer than 32 writes.
  mutating func signedWriteReceived(_ context: inout HostContext) {
    signedWrites &+= 1
    if signedWrites <= 32 || signedWrites.isMultiple(of: 32) { keepCounters(&context) }
  }

  /// Stores the link's sign counters with its bond: the counter of a received signature before the write is reported,
  /// except in a flood; the counter of this device's signature before the write is sent. If there are several links to
  /// one peer, the highest counter is stored.
  mutating func keepCounters(_ context: inout HostContext) {
    guard let identity = bond, var bond = context.security.bonds[identity] else { return }
    let former = bond
    if let used = bearer.signatureVerifier, used.isFurther(than: bond.signatureVerifier) {
      bond.signatureVerifier = used
    }
    if let used = bearer.signatureMaker, used.isFurther(than: bond.signatureMaker) { bond.signatureMaker = used }
    guard bond != former else { return }
    context.security.update(bond)
    context.output.tell(.bondChanged(bond))
  }

  // MARK: Input

  /// Raises the security of the link; see `Host.secure`.
  mutating func secure(_ demand: SecurityDemand, _ context: inout HostContext, at now: Instant) {
    guard !isDisconnecting else {
      bearer.securityFailed(at: now)
      channelRequests.refuse(on: link.handle, &context.output)
      serve(&context, at: now)
      return
    }
    security.secure(demand, at: now, &context.security.context)
    serveSecurity(&context, at: now)
  }

  /// Sets the security of the link from outside the Security Manager.
  mutating func setSecurity(_ security: HostLinkSecurity, _ context: inout HostContext, at now: Instant) {
    let isBondedNow = security.isBonded && !bearer.security.isBonded
    bearer.securityChanged(security, at: now)
    if isBondedNow { offerBondedCache(&context, at: now) }
    serve(&context, at: now)
  }

  /// Passes on the user's answer to the last prompt.
  mutating func answer(_ answer: PairingAnswer, _ context: inout HostContext, at now: Instant) {
    security.answer(answer, at: now, &context.security.context)
    serveSecurity(&context, at: now)
  }

  /// Answers LE Long Term Key Request · Vol 4, Part E, 7.7.65.5.
  mutating func longTermKeyRequested(random: UInt64, diversifier: UInt16, _ context: inout HostContext) {
    heardFromPeer(&context)
    if let key = security.longTermKey(random: random, diversifier: diversifier, context.security.context) {
      context.controller.append(
        .leLongTermKeyRequestReply(link.handle, longTermKey: UInt128(key.high) << 64 | UInt128(key.low)),
        for: .other)
    } else {
      context.controller.append(.leLongTermKeyRequestNegativeReply(link.handle), for: .other)
    }
  }

  /// Handles Encryption Change or Encryption Key Refresh Complete · Vol 4, Part E, 7.7.8, 7.7.39.
  mutating func encryptionChanged(
    _ status: HCI.ErrorCode, isEncrypted: Bool, _ context: inout HostContext, at now: Instant
  ) {
    // These status codes prove that the peer has answered.
    if [.success, .pinOrKeyMissing, .unsupportedRemoteFeature].contains(status) { heardFromPeer(&context) }
    security.encryptionChanged(status: status, isEncrypted: isEncrypted, at: now, &context.security.context)
    serveSecurity(&context, at: now)
  }

  // MARK: Output

  /// Sends the PDUs and commands of the Security Manager and handles its events. Called after every change to it.
  mutating func serveSecurity(_ context: inout HostContext, at now: Instant) {
    while let pdu = security.takePDU() {
      // Pairing Failed may answer each PDU of a flood; all other PDUs are limited by the procedure.
      if case .pairingFailed = pdu, !hasRoom {
        context.output.metrics.droppedAnswers += 1
        continue
      }
      var writer = ByteWriter(context.pool, capacity: SMP.maximumLength)
      pdu.encode(into: &writer)
      append(security: writer.finishFrame(on: .securityManager))
      markReady(&context)
    }
    while let command = security.takeCommand() {
      switch command {
      case .encrypt(let key):
        context.controller.append(
          .leEnableEncryption(
            link.handle, random: key.random, encryptedDiversifier: key.diversifier,
            longTermKey: UInt128(key.value.high) << 64 | UInt128(key.value.low)),
          for: .enableEncryption(link.handle))
      }
    }
    while let event = security.takeEvent() { take(event, &context, at: now) }
    serve(&context, at: now)
  }

  private mutating func take(_ event: SecurityEvent, _ context: inout HostContext, at now: Instant) {
    switch event {
    case .changed(let security):
      // Report the event first, because the bearer may repeat a request that the server has refused before.
      context.output.tell(.security(link.handle, event))
      // Requests wait for the end of the key exchange, because an app that gets its answer may disconnect
      // immediately.
      tellBearer(security, resumes: !self.security.isPairing, &context, at: now)
      return
    case .failed:
      bearer.securityFailed(at: now)
      channelRequests.refuse(on: link.handle, &context.output)
    case .paired(let outcome):
      if let bond = outcome.bond { keep(bond, replacesUnproven: outcome.replacesUnproven, &context) }
      context.output.tell(.security(link.handle, event))
      tellBearer(security.security, resumes: true, &context, at: now)
      return
    case .prompt, .promptEnded, .keypress, .replacementAttempted: break
    }
    context.output.tell(.security(link.handle, event))
  }

  /// Passes the security of the link to its bearer. On a link that becomes bonded, the client excludes results received
  /// without encryption from the cache before it sends further requests.
  private mutating func tellBearer(
    _ security: HostLinkSecurity, resumes: Bool, _ context: inout HostContext, at now: Instant
  ) {
    let becomesBonded = security.isBonded && !bearer.security.isBonded
    if becomesBonded {
      bearer.securityChanged(security, resumes: false, at: now)
      offerBondedCache(&context, at: now)
    }
    bearer.securityChanged(security, resumes: resumes, at: now)
    guard resumes else { return }
    for request in channelRequests.takeSatisfied(by: bearer.security) { open(request, count: request.refused, at: now) }
  }

  /// Stores a new bond, which may replace an old one.
  ///
  /// - Parameter replacesUnproven: True if the new bond may belong to a different device than the former bond. The
  ///   stored subscriptions and the cached database of the former device are then removed.
  private mutating func keep(_ bond: HostBond, replacesUnproven: Bool, _ context: inout HostContext) {
    if replacesUnproven {
      context.server.forget(bond.identity)
      bearer.forgetInherited()
    }
    context.security.add(bond)
    self.bond = bond.identity
    useSignatureKeys(of: bond)
  }
}
