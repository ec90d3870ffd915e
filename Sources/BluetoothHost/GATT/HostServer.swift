import BluetoothWire

/// The GATT server's state of bonded clients between links, and its interface to the Security Manager.
extension Host {
  /// The records of bonded clients from their last links that were encrypted with the bond's key, by identity
  /// address.
  package var clientRecords: [DeviceAddress: GATTClientRecord] {
    get {
      guard awayHashesAreOutdated else { return awayClients }
      var host = self
      host.updateAwayHashes()
      return host.awayClients
    }
    set {
      awayClients = newValue
      awayHashesAreOutdated = false
    }
  }

  /// Updates the hash in the records of disconnected clients. It is computed once for any number of changes, because
  /// an app may publish thousands of services.
  private mutating func updateAwayHashes() {
    guard awayHashesAreOutdated else { return }
    awayHashesAreOutdated = false
    let hash = database.hash().bytes
    for address in awayClients.keys { awayClients[address]?.databaseHash = hash }
  }

  /// Sets the Device Name.
  package mutating func setDeviceName(_ name: String) { database.setDeviceName(name) }

  /// Sets the Peripheral Preferred Connection Parameters; nil: no specific values · Vol 3, Part C, 12.3.
  package mutating func setPreferredParameters(_ parameters: ConnectionParameters?) {
    database.setPreferredParameters(parameters)
  }

  /// Sets Central Address Resolution: true if a peripheral may address this device, as a central, with a private
  /// address · Vol 3, Part C, 12.4.
  package mutating func setCentralAddressResolution(_ isSupported: Bool) {
    database.setCentralAddressResolution(isSupported)
  }

  /// Sets the security of a link.
  package mutating func setSecurity(_ security: LinkSecurity, on handle: HCI.ConnectionHandle, at now: Instant) {
    guard let index = index(of: handle) else { return }
    let isBondedNow = security.isBonded && !allLinks[index].bearer.security.isBonded
    allLinks[index].bearer.securityChanged(security, at: now)
    if isBondedNow { offerBondedCache(on: index, at: now) }
    serve(index, at: now)
    settle(at: now)
  }

  /// Returns the verifier of the Signed Write Commands of the client on a link; nil: there is no key or no link.
  package func signatureVerifier(on handle: HCI.ConnectionHandle) -> SignatureVerifier? {
    index(of: handle).flatMap { allLinks[$0].bearer.signatureVerifier }
  }

  package mutating func setSignatureVerifier(_ verifier: SignatureVerifier?, on handle: HCI.ConnectionHandle) {
    if let index = index(of: handle) { allLinks[index].bearer.signatureVerifier = verifier }
  }

  /// The characteristics that clients have configured to be broadcast.
  package var broadcasts: [GATTBroadcast] { database.broadcasts }

  /// Restores the state of a bonded client on a link that has just been reported. The record stays in place: if
  /// several links have the same identity, the client's link is not known yet.
  mutating func restoreClient(on index: Int) {
    let link = allLinks[index].link
    updateAwayHashes()
    guard let record = awayClients[allLinks[index].identity] else { return }
    allLinks[index].bearer.restore(record, database: &database)
    markReady(index)
    while let event = allLinks[index].bearer.takeEvent() { events.append(.gatt(link.handle, event)) }
  }

  /// Stores the record of a client whose link has ended. Only links that were encrypted with the bond's key count,
  /// because any device can use the client's address.
  mutating func keepClient(of link: HostLink) {
    if link.bearer.security.isBonded { awayClients[link.identity] = link.bearer.clientRecord(&database) }
  }

  /// Reports a change of the database to all clients, including disconnected ones, whose records are updated.
  mutating func databaseChanged(_ range: ClosedRange<AttributeHandle>, at now: Instant) {
    for address in awayClients.keys { awayClients[address]?.databaseChanged(range, to: database) }
    awayHashesAreOutdated = !awayClients.isEmpty
    for index in allLinks.indices {
      // A link that is ending sends nothing, but its client's record is updated.
      allLinks[index].bearer.databaseChanged(range, in: database, at: now)
      if !allLinks[index].isHidden { serve(index, at: now) }
    }
    settle(at: now)
  }
}
