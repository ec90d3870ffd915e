import BluetoothCrypto
import BluetoothWire

/// Security: the levels of links, bonds, and out-of-band data.
extension Host {
  // MARK: Links

  /// Returns the security of a link; `.none` if the link does not exist.
  package func security(of handle: HCI.ConnectionHandle) -> HostLinkSecurity {
    table.index(of: handle).map { table[$0].security.security } ?? .none
  }

  /// Returns true if a link waits for a higher security level that this device requires, for a client request or
  /// because the upper layer has demanded it.
  package func hasDemand(on handle: HCI.ConnectionHandle) -> Bool {
    table.index(of: handle).map { table[$0].security.pendingDemand != nil } ?? false
  }

  /// Returns true if there is a bond with the peer of a link, whether or not the link uses its key.
  package func isBonded(_ handle: HCI.ConnectionHandle) -> Bool {
    table.index(of: handle).map { table[$0].bond != nil } ?? false
  }

  /// Returns true if the link has been encrypted with the key of a bond, which proves that the peer is the bonded
  /// device.
  package func isProven(_ handle: HCI.ConnectionHandle) -> Bool {
    table.index(of: handle).map { table[$0].security.isProven } ?? false
  }

  /// Raises the security of a link: encrypts it with the key of a bond, or pairs. Followed by
  /// `SecurityEvent.changed`, immediately if the link already meets the demand, or by `failed`.
  package mutating func secure(_ handle: HCI.ConnectionHandle, _ demand: SecurityDemand, at now: Instant) {
    guard let index = table.index(of: handle) else {
      context.output.tell(.security(handle, .failed(.disconnected)))
      return
    }
    table[index].secure(demand, &context, at: now)
    settle(at: now)
  }

  /// Sets the input and output capability for pairings that begin later.
  package mutating func setIOCapability(_ capability: SMP.IOCapability) {
    context.security.context.policy.ioCapability = capability
  }

  /// Passes on the user's answer to the last `SecurityEvent.prompt` of the link.
  package mutating func answer(_ answer: PairingAnswer, on handle: HCI.ConnectionHandle, at now: Instant) {
    guard let index = table.index(of: handle) else { return }
    table[index].answer(answer, &context, at: now)
    settle(at: now)
  }

  /// Sets the security of a link.
  package mutating func setSecurity(_ security: HostLinkSecurity, on handle: HCI.ConnectionHandle, at now: Instant) {
    guard let index = table.index(of: handle) else { return }
    table[index].setSecurity(security, &context, at: now)
    settle(at: now)
  }

  /// Returns the verifier of the Signed Write Commands of the client on a link; nil: there is no key or no link.
  package func signatureVerifier(on handle: HCI.ConnectionHandle) -> SignatureVerifier? {
    table.index(of: handle).flatMap { table[$0].bearer.signatureVerifier }
  }

  package mutating func setSignatureVerifier(_ verifier: SignatureVerifier?, on handle: HCI.ConnectionHandle) {
    if let index = table.index(of: handle) { table[index].bearer.signatureVerifier = verifier }
  }

  // MARK: Bonds

  /// The address that this device uses when it does not use a private address.
  package var ownIdentity: DeviceAddress { context.ownIdentity }

  /// Returns true if this device uses the address: its identity, its random static address, or a private address that
  /// its key resolves.
  package func hasAddress(_ address: DeviceAddress) -> Bool {
    if address == context.ownIdentity || address == context.address { return true }
    guard address.randomKind == .resolvablePrivate, let key = context.security.context.identityKey else { return false }
    return IdentityResolvingKey(key)?.resolves(address.value) ?? false
  }

  /// The bonds in the order of their creation.
  package var bonds: [HostBond] { context.security.bonds.all }

  /// Restores the stored bonds of this device. Call it before there are links.
  package mutating func setBonds(_ bonds: [HostBond], at now: Instant) {
    context.security.setBonds(bonds)
    settle(at: now)
  }

  /// Removes a bond: its keys, the client's record and the cache of the peer's server. A link to the device is
  /// disconnected.
  package mutating func removeBond(_ identity: DeviceAddress, at now: Instant) {
    guard context.security.removeBond(identity) else { return }
    context.server.forget(identity)
    table.bondRemoved(identity, &context, at: now)
    settle(at: now)
  }

  // MARK: Out-of-band data

  /// Generates new out-of-band data; the previous data become invalid.
  package mutating func makeOutOfBandRecord() -> OutOfBandRecord {
    OutOfBandRecord(address: ownIdentity, data: context.security.context.makeOutOfBandData())
  }

  /// Generates a Temporary Key for this device and a peer with LE legacy pairing · Vol 3, Part H, 2.3.5.4.
  package mutating func makeTemporaryKey() -> Block { Block(using: &context.security.context.generator) }

  /// Stores the out-of-band data of a peer.
  ///
  /// - Parameter temporaryKey: The Temporary Key that both devices have for LE legacy pairing; nil: none.
  package mutating func take(_ record: OutOfBandRecord, temporaryKey: Block? = nil) {
    context.security.context.outOfBand.peers[record.address] = record.data
    if let temporaryKey { context.security.context.outOfBand.temporaryKeys[record.address] = temporaryKey }
  }
}
