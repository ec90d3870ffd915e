import BluetoothCrypto
import BluetoothWire

/// The connection of the links' Security Managers with the controller and with the bonds.
extension Host {
  // MARK: Interface

  /// Returns the security of a link; `.none` if the link does not exist.
  package func security(of handle: HCI.ConnectionHandle) -> LinkSecurity {
    index(of: handle).map { allLinks[$0].security.security } ?? .none
  }

  /// Returns true if a link waits for a higher security level that this device requires, for a request of its own or
  /// on demand of the upper layer.
  package func hasDemand(on handle: HCI.ConnectionHandle) -> Bool {
    index(of: handle).map { allLinks[$0].security.wanted != nil } ?? false
  }

  /// Returns true if there is a bond with the peer of a link, whether or not the link uses its key.
  package func isBonded(_ handle: HCI.ConnectionHandle) -> Bool {
    index(of: handle).map { allLinks[$0].bond != nil } ?? false
  }

  /// Returns true if the link has been encrypted with the key of a bond, which proves that the peer is the bonded
  /// device.
  package func isProven(_ handle: HCI.ConnectionHandle) -> Bool {
    index(of: handle).map { allLinks[$0].security.isProven } ?? false
  }

  /// Raises the security of a link: encrypts it with the key of a bond, or pairs. Followed by
  /// `SecurityEvent.changed`, immediately if the link already meets the demand, or by `failed`.
  package mutating func secure(_ handle: HCI.ConnectionHandle, _ demand: SecurityDemand, at now: Instant) {
    guard let index = index(of: handle) else {
      events.append(.security(handle, .failed(.disconnected)))
      return
    }
    secure(index, demand, at: now)
    settle(at: now)
  }

  /// Passes on the user's answer to the last `SecurityEvent.prompt` of the link.
  package mutating func answer(_ answer: PairingAnswer, on handle: HCI.ConnectionHandle, at now: Instant) {
    guard let index = index(of: handle) else { return }
    allLinks[index].security.answer(answer, at: now, &securityContext)
    serveSecurity(index, at: now)
    settle(at: now)
  }

  // MARK: Bonds

  /// The bonds in the order of their creation.
  package var bonds: [Bond] { bondTable.all }

  /// Restores the stored bonds of this device. Call it before there are links.
  package mutating func setBonds(_ bonds: [Bond], at now: Instant) {
    bondTable.all = bonds
    bondsChanged(at: now)
  }

  /// Removes a bond: its keys, the client's record and the cache of the peer's server. A link to the device is
  /// disconnected.
  package mutating func removeBond(_ identity: DeviceAddress, at now: Instant) {
    guard bondTable.remove(identity) != nil else { return }
    awayClients[identity] = nil
    caches.forget(identity)
    // Failed attempts to replace the bond must not delay a new pairing.
    securityContext.attempts.succeeded(identity)
    for index in allLinks.indices where allLinks[index].bond == identity {
      allLinks[index].bond = nil
      allLinks[index].security.setBond(nil)
      allLinks[index].bearer.signatureVerifier = nil
      allLinks[index].bearer.signatureMaker = nil
      // Discard everything else that is received on the link.
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

  /// Returns the Security Manager of a new link, with the addresses that were used on the air.
  func securityManager(of link: Link, _ complete: HCI.ConnectionComplete) -> SecurityManager {
    let (local, peer) = (complete.localResolvablePrivateAddress, complete.peerResolvablePrivateAddress)
    // The event contains the unresolved address if this host has resolved it by itself.
    let heard = complete.peer.deviceAddress ?? link.peer
    return SecurityManager(
      role: link.role, own: local == 0 ? ownAddressOnAir : DeviceAddress(local, .random),
      peer: peer == 0 ? heard : DeviceAddress(peer, .random))
  }

  /// The address that this device uses when it does not use a private address.
  package var ownIdentity: DeviceAddress {
    controller.ownAddressType == .public || configuration.usesPublicAddress
      ? controller.publicAddress ?? address : address
  }

  /// Prepares a new link to a bonded peer with the keys of the bond.
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

  /// Ends the Security Manager of a link and stores its counters with the bond.
  mutating func endSecurity(of link: HostLink, at now: Instant) {
    var manager = link.security
    manager.linkEnded(at: now, &securityContext)
    while let event = manager.takeEvent() {
      if link.standing == .announced { events.append(.security(link.link.handle, event)) }
    }
    keepCounters(of: link)
  }

  /// Stores the sign counter after a signed write. The first 32 writes of a link are stored immediately; of a flood
  /// every 32nd is, because storing may cost more than the peer's sending. If this process ended abruptly, an
  /// attacker could replay at most that many.
  mutating func signedWriteReceived(on index: Int) {
    allLinks[index].signedWrites &+= 1
    if allLinks[index].signedWrites <= 32 || allLinks[index].signedWrites.isMultiple(of: 32) {
      keepCounters(of: allLinks[index])
    }
  }

  /// Stores a link's sign counters with its bond: the counter of a received signature before the write is reported,
  /// except in a flood; the counter of an own signature before it is sent. Of several links to one peer the highest
  /// counter counts.
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

  /// Answers LE Long Term Key Request · Vol 4, Part E, 7.7.65.5.
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

  /// Handles the end of encryption, or of a key refresh · Vol 4, Part E, 7.7.8, 7.7.39.
  mutating func encryptionChanged(
    _ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, isEncrypted: Bool, at now: Instant
  ) {
    guard let index = anyIndex(of: handle) else {
      metrics.unknownLinks += 1
      return
    }
    // These status codes prove that the peer has answered.
    if [.success, .pinOrKeyMissing, .unsupportedRemoteFeature].contains(status) { heardFromPeer(on: index) }
    allLinks[index].security.encryptionChanged(
      status: status, isEncrypted: isEncrypted, at: now, &securityContext)
    serveSecurity(index, at: now)
  }

  /// Sends the PDUs and commands of a link's Security Manager and handles its events. Called after every change to
  /// it.
  mutating func serveSecurity(_ index: Int, at now: Instant) {
    let handle = allLinks[index].link.handle
    while let pdu = allLinks[index].security.takePDU() {
      // Pairing Failed may answer each PDU of a flood; all other PDUs are limited by the procedure.
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
      // Report the event first, because the bearer may repeat a request that the server has refused before.
      events.append(.security(link.handle, event))
      // Requests wait for the end of the key exchange, because an app that gets its answer may disconnect
      // immediately.
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

  /// Passes the security of the link to its bearer. On a link that becomes bonded, the client excludes what it found
  /// without encryption from the cache before it sends further requests.
  private mutating func tellBearer(_ security: LinkSecurity, on index: Int, resumes: Bool, at now: Instant) {
    let becomesBonded = security.isBonded && !allLinks[index].bearer.security.isBonded
    if becomesBonded {
      allLinks[index].bearer.securityChanged(security, resumes: false, at: now)
      offerBondedCache(on: index, at: now)
    }
    allLinks[index].bearer.securityChanged(security, resumes: resumes, at: now)
    if resumes { resumeChannels(on: index, at: now) }
  }

  /// Removes what a former bond has left of the peer as client and as server: the new bond may belong to another
  /// device.
  private mutating func forgetClient(_ identity: DeviceAddress, on index: Int) {
    awayClients[identity] = nil
    caches.forget(identity)
    allLinks[index].bearer.forgetInherited()
  }

  /// Stores a new bond, which may replace an old one.
  private mutating func keep(_ bond: Bond, on index: Int, at now: Instant) {
    bondTable.keep(bond)
    allLinks[index].bond = bond.identity
    useSignatureKeys(of: bond, on: index)
    bondsChanged(at: now)
  }
}
