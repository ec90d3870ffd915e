import BluetoothWire

/// What the host's GATT server keeps between the links of a bonded client, and what the Security Manager tells it.
extension Host {
  /// What is known of bonded clients since the last link that was encrypted with the bond's key, by identity address.
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

  /// Gives the records of clients that are away the hash of the database as it is now. It is computed once for any number of
  /// changes: an app may publish thousands of services.
  private mutating func updateAwayHashes() {
    guard awayHashesAreOutdated else { return }
    awayHashesAreOutdated = false
    let hash = database.hash().bytes
    for address in awayClients.keys { awayClients[address]?.databaseHash = hash }
  }

  /// Serves another Device Name.
  package mutating func setDeviceName(_ name: String) { database.setDeviceName(name) }

  /// Serves other Peripheral Preferred Connection Parameters; nil: none in particular · Vol 3, Part C, 12.3.
  package mutating func setPreferredParameters(_ parameters: ConnectionParameters?) {
    database.setPreferredParameters(parameters)
  }

  /// Says whether this device, as a central, may be addressed by private addresses · Vol 3, Part C, 12.4.
  package mutating func setCentralAddressResolution(_ isSupported: Bool) {
    database.setCentralAddressResolution(isSupported)
  }

  /// The link is protected in another way from now on.
  package mutating func setSecurity(_ security: LinkSecurity, on handle: HCI.ConnectionHandle, at now: Instant) {
    guard let index = index(of: handle) else { return }
    let isBondedNow = security.isBonded && !allLinks[index].bearer.security.isBonded
    allLinks[index].bearer.securityChanged(security, at: now)
    if isBondedNow { offerBondedCache(on: index, at: now) }
    serve(index, at: now)
    settle(at: now)
  }

  /// What checks the Signed Write Commands of the client on a link; nil: there is no key for it, or no link.
  package func signatureVerifier(on handle: HCI.ConnectionHandle) -> SignatureVerifier? {
    index(of: handle).flatMap { allLinks[$0].bearer.signatureVerifier }
  }

  package mutating func setSignatureVerifier(_ verifier: SignatureVerifier?, on handle: HCI.ConnectionHandle) {
    if let index = index(of: handle) { allLinks[index].bearer.signatureVerifier = verifier }
  }

  /// What clients have configured to be broadcast.
  package var broadcasts: [GATTBroadcast] { database.broadcasts }

  /// A link that those above have just been told of: a bonded client finds everything as it left it. What is kept stays
  /// there: of several links under one identity nobody knows yet which is the client's.
  mutating func restoreClient(on index: Int) {
    let link = allLinks[index].link
    updateAwayHashes()
    guard let record = awayClients[allLinks[index].identity] else { return }
    allLinks[index].bearer.restore(record, database: &database)
    markReady(index)
    while let event = allLinks[index].bearer.takeEvent() { events.append(.gatt(link.handle, event)) }
  }

  /// A link is over. What was said on it counts only if it was encrypted with the bond's key: anybody can use an address.
  mutating func keepClient(of link: HostLink) {
    if link.bearer.security.isBonded { awayClients[link.identity] = link.bearer.clientRecord(&database) }
  }

  /// Tells all clients, those that are away too, that the database has changed in this range.
  mutating func databaseChanged(_ range: ClosedRange<AttributeHandle>, at now: Instant) {
    for address in awayClients.keys { awayClients[address]?.databaseChanged(range, to: database) }
    awayHashesAreOutdated = !awayClients.isEmpty
    for index in allLinks.indices {
      // A link that is about to end hears nothing of it any more, but what is kept of its client does.
      allLinks[index].bearer.databaseChanged(range, in: database, at: now)
      if !allLinks[index].isHidden { serve(index, at: now) }
    }
    settle(at: now)
  }
}
