import BluetoothCrypto
import BluetoothWire

/// The Security Managers of a host's links, what they tell its controller, and the bonds.
extension Host {
  // MARK: From above

  /// How well a link is protected; that of a link which does not exist is not at all.
  package func security(of handle: HCI.ConnectionHandle) -> LinkSecurity {
    index(of: handle).map { allLinks[$0].security.security } ?? .none
  }

  /// Whether a link waits for better protection because of what this device has asked for, or was told to want.
  package func hasDemand(on handle: HCI.ConnectionHandle) -> Bool {
    index(of: handle).map { allLinks[$0].security.wanted != nil } ?? false
  }

  /// Whether there is a bond with the peer of a link, whether the link uses its key or not.
  package func isBonded(_ handle: HCI.ConnectionHandle) -> Bool {
    index(of: handle).map { allLinks[$0].bond != nil } ?? false
  }

  /// True if the key of the bond with the peer of a link has encrypted that link: the peer is the bonded device.
  package func isProven(_ handle: HCI.ConnectionHandle) -> Bool {
    index(of: handle).map { allLinks[$0].security.isProven } ?? false
  }

  /// Has a link protected so well: encrypts it with the key of a bond, or pairs. Followed by `SecurityEvent.changed`, at once
  /// if it is so already, or by `failed`.
  package mutating func secure(_ handle: HCI.ConnectionHandle, _ demand: SecurityDemand, at now: Instant) {
    guard let index = index(of: handle) else {
      events.append(.security(handle, .failed(.disconnected)))
      return
    }
    secure(index, demand, at: now)
    settle(at: now)
  }

  /// What the user says to the last `SecurityEvent.prompt` of the link.
  package mutating func answer(_ answer: PairingAnswer, on handle: HCI.ConnectionHandle, at now: Instant) {
    guard let index = index(of: handle) else { return }
    allLinks[index].security.answer(answer, at: now, &securityContext)
    serveSecurity(index, at: now)
    settle(at: now)
  }

  // MARK: Bonds

  /// In the order in which they were made.
  package var bonds: [Bond] { bondTable.all }

  /// The bonds of this device, as they were kept; to be called before there are links.
  package mutating func setBonds(_ bonds: [Bond], at now: Instant) {
    bondTable.all = bonds
    bondsChanged(at: now)
  }

  /// Forgets a device: its keys, what its client has configured, and what is known of its server. A link to it ends.
  package mutating func removeBond(_ identity: DeviceAddress, at now: Instant) {
    guard bondTable.remove(identity) != nil else { return }
    awayClients[identity] = nil
    caches.forget(identity)
    // Attempts to replace the bond do not hold the device back that is to bond anew.
    securityContext.attempts.succeeded(identity)
    for index in allLinks.indices where allLinks[index].bond == identity {
      allLinks[index].bond = nil
      allLinks[index].security.setBond(nil)
      allLinks[index].bearer.signatureVerifier = nil
      allLinks[index].bearer.signatureMaker = nil
      // Nothing of what is still said on the link is kept.
      allLinks[index].bearer.securityChanged(allLinks[index].security.security, resumes: false, at: now)
      disconnect(index, reason: .remoteUserTerminatedConnection)
    }
    bondsChanged(at: now)
  }

  private mutating func bondsChanged(at now: Instant) {
    initiator.reconsider()
    securityContext.bondedIdentities = Set(bondTable.all.map(\.identity))
    let key = configuration.usesPrivateAddresses ? securityContext.identityKey ?? .zero : .zero
    setIdentities(
      bondTable.identities(localKey: UInt128(key.high) << 64 | UInt128(key.low)),
      usesPrivateAddresses: configuration.usesPrivateAddresses, at: now)
  }

  // MARK: Links

  /// The Security Manager of a new link: it works with the addresses that were on the air.
  func securityManager(of link: Link, _ complete: HCI.ConnectionComplete) -> SecurityManager {
    let (local, peer) = (complete.localResolvablePrivateAddress, complete.peerResolvablePrivateAddress)
    // What this host has resolved itself is as the event has it.
    let heard = complete.peer.deviceAddress ?? link.peer
    return SecurityManager(
      role: link.role, own: local == 0 ? ownAddressOnAir : DeviceAddress(local, .random),
      peer: peer == 0 ? heard : DeviceAddress(peer, .random))
  }

  /// What this device is called where it uses no private address.
  package var ownIdentity: DeviceAddress {
    controller.ownAddressType == .public || configuration.usesPublicAddress
      ? controller.publicAddress ?? address : address
  }

  /// A new link: if it is to a bonded peer, its keys are at hand.
  mutating func recallBond(on index: Int, at now: Instant) {
    guard let bond = bondTable[allLinks[index].link.peer] else { return }
    allLinks[index].bond = bond.identity
    allLinks[index].bearer.guardsBondedLink = configuration.guardsBondedLinks
    allLinks[index].security.setBond(bond)
    useSignatureKeys(of: bond, on: index)
    allLinks[index].bearer.securityChanged(allLinks[index].security.security, at: now)
  }

  private mutating func useSignatureKeys(of bond: Bond, on index: Int) {
    allLinks[index].bearer.signatureVerifier = bond.signatureVerifier
    allLinks[index].bearer.signatureMaker = bond.signatureMaker
  }

  /// A link is over: what has been counted on it is kept with its bond.
  mutating func endSecurity(of link: HostLink, at now: Instant) {
    var manager = link.security
    manager.linkEnded(at: now, &securityContext)
    while let event = manager.takeEvent() {
      if link.standing == .announced { events.append(.security(link.link.handle, event)) }
    }
    keepCounters(of: link)
  }

  /// A signed write has come. Each of the first is kept at once; of a flood every 32nd, since keeping may cost more than the
  /// peer has to pay for it: as many could be repeated if this process ended at once.
  mutating func signedWriteReceived(on index: Int) {
    allLinks[index].signedWrites &+= 1
    if allLinks[index].signedWrites <= 32 || allLinks[index].signedWrites.isMultiple(of: 32) {
      keepCounters(of: allLinks[index])
    }
  }

  /// What a link has counted is kept with its bond: of what comes before it is told, but for a flood; of what goes out before
  /// it leaves. Of several links to one peer the one that has come farthest counts.
  mutating func keepCounters(of link: HostLink) {
    guard let identity = link.bond, var bond = bondTable[identity] else { return }
    let former = bond
    if let used = link.bearer.signatureVerifier, used.isFurther(than: bond.signatureVerifier) {
      bond.signatureVerifier = used
    }
    if let used = link.bearer.signatureMaker, used.isFurther(than: bond.signatureMaker) { bond.signatureMaker = used }
    guard bond != former else { return }
    bondTable.keep(bond)
    events.append(.bondChanged(bond))
  }

  mutating func secure(_ index: Int, _ demand: SecurityDemand, at now: Instant) {
    guard !allLinks[index].isDisconnecting else {
      allLinks[index].bearer.securityFailed(at: now)
      refuseChannels(on: index)
      serve(index, at: now)
      return
    }
    allLinks[index].security.secure(demand, at: now, &securityContext)
    serveSecurity(index, at: now)
  }

  mutating func receiveSecurity(_ octets: ByteSlice, on index: Int, at now: Instant) {
    allLinks[index].security.receive(octets, at: now, &securityContext)
    serveSecurity(index, at: now)
  }

  /// LE Long Term Key Request · Vol 4, Part E, 7.7.65.5.
  mutating func longTermKeyRequested(
    _ handle: HCI.ConnectionHandle, random: UInt64, diversifier: UInt16, at now: Instant
  ) {
    guard let index = anyIndex(of: handle) else {
      unknownLink(handle, at: now)
      return
    }
    heardFromPeer(on: index)
    if let key = allLinks[index].security.longTermKey(random: random, diversifier: diversifier, securityContext) {
      commands.append(
        .leLongTermKeyRequestReply(handle, longTermKey: UInt128(key.high) << 64 | UInt128(key.low)), for: .other)
    } else {
      commands.append(.leLongTermKeyRequestNegativeReply(handle), for: .other)
    }
  }

  /// The link is encrypted, with a new key, or it is not · Vol 4, Part E, 7.7.8, 7.7.39.
  mutating func encryptionChanged(
    _ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, isEncrypted: Bool, at now: Instant
  ) {
    guard let index = anyIndex(of: handle) else {
      metrics.unknownLinks += 1
      return
    }
    // Only the peer can have said these.
    if [.success, .pinOrKeyMissing, .unsupportedRemoteFeature].contains(status) { heardFromPeer(on: index) }
    allLinks[index].security.encryptionChanged(
      status: status, isEncrypted: isEncrypted, at: now, &securityContext)
    serveSecurity(index, at: now)
  }

  /// To be called when anything has happened to a link's Security Manager: passes on what it sends and tells.
  mutating func serveSecurity(_ index: Int, at now: Instant) {
    let handle = allLinks[index].link.handle
    while let pdu = allLinks[index].security.takePDU() {
      // Of these there may be one for each PDU of a flood; all others follow from a procedure.
      if case .pairingFailed = pdu, !allLinks[index].hasRoom {
        metrics.droppedAnswers += 1
        continue
      }
      var writer = ByteWriter(pool, capacity: SMP.maximumLength)
      pdu.encode(into: &writer)
      allLinks[index].append(security: writer.finishFrame(on: .securityManager))
      markReady(index)
    }
    while let command = allLinks[index].security.takeCommand() {
      switch command {
      case .encrypt(let key):
        commands.append(
          .leEnableEncryption(
            handle, random: key.random, encryptedDiversifier: key.diversifier,
            longTermKey: UInt128(key.value.high) << 64 | UInt128(key.value.low)),
          for: .enableEncryption(handle))
      }
    }
    while let event = allLinks[index].security.takeEvent() { take(event, on: index, at: now) }
    serve(index, at: now)
  }

  private mutating func take(_ event: SecurityEvent, on index: Int, at now: Instant) {
    let link = allLinks[index].link
    switch event {
    case .changed(let security):
      // The bearer may ask for what the client was refused before: those above are told first.
      events.append(.security(link.handle, event))
      // Requests wait until the keys are exchanged: whoever gets an answer may end the link at once.
      tellBearer(security, on: index, resumes: !allLinks[index].security.isPairing, at: now)
      return
    case .failed:
      allLinks[index].bearer.securityFailed(at: now)
      refuseChannels(on: index)
    case .paired(let outcome):
      if let bond = outcome.bond {
        if outcome.replacesUnproven { forgetClient(bond.identity, on: index) }
        keep(bond, on: index, at: now)
      }
      events.append(.security(link.handle, event))
      tellBearer(allLinks[index].security.security, on: index, resumes: true, at: now)
      return
    case .prompt, .promptEnded, .keypress, .replacementAttempted: break
    }
    events.append(.security(link.handle, event))
  }

  /// The link is protected so. Where that makes it a bonded one, what was found in clear is not taken for the server's
  /// before anything else is asked.
  private mutating func tellBearer(_ security: LinkSecurity, on index: Int, resumes: Bool, at now: Instant) {
    let becomesBonded = security.isBonded && !allLinks[index].bearer.security.isBonded
    if becomesBonded {
      allLinks[index].bearer.securityChanged(security, resumes: false, at: now)
      offerBondedCache(on: index, at: now)
    }
    allLinks[index].bearer.securityChanged(security, resumes: resumes, at: now)
    if resumes { resumeChannels(on: index, at: now) }
  }

  /// Forgets what a former bond has left of the peer, as client and as server: the new bond may be another device's.
  private mutating func forgetClient(_ identity: DeviceAddress, on index: Int) {
    awayClients[identity] = nil
    caches.forget(identity)
    allLinks[index].bearer.forgetInherited()
  }

  /// A new bond, or a new one in the place of an old one.
  private mutating func keep(_ bond: Bond, on index: Int, at now: Instant) {
    bondTable.keep(bond)
    allLinks[index].bond = bond.identity
    useSignatureKeys(of: bond, on: index)
    bondsChanged(at: now)
  }
}
