import BluetoothHost
import BluetoothWire

extension Daemon {
  /// Starts a session's scan, or restarts it with another request.
  mutating func scan(_ request: ScanRequest, by session: CentralSessionID, at now: Instant) {
    centrals.update(session.key) { $0.scan = ActiveScan(request) }
    updateScanning(at: now)
  }

  mutating func stopScan(by session: CentralSessionID, at now: Instant) {
    centrals.update(session.key) { $0.scan = nil }
    updateScanning(at: now)
  }

  /// Starts or stops the controller's scan, which runs as long as any session scans. The controller reports every
  /// packet: filters and the merging with scan responses differ from session to session, so the daemon applies them.
  private mutating func updateScanning(at now: Instant) {
    let isWanted = centrals.values.contains { $0?.scan != nil }
    guard isWanted != isScanning else { return }
    isScanning = isWanted
    if !isWanted { sightings.removeAll() }
    host.setScanning(isWanted ? ScanParameters(isActive: true, filterDuplicates: false) : nil, at: now)
  }

  mutating func handle(_ report: AdvertisingReport, at now: Instant) {
    guard isScanning else { return }
    let outcome = sightings.take(report, at: now)
    // Only the advertisement says whether the device is connectable.
    guard outcome.sighting.hasAdvertisement else { return }
    if outcome.hasChanged, let peer = peers.handle(of: report.address) { learn(outcome.sighting.content, of: peer) }
    if let released = outcome.released { tell(outcome.sighting, of: report.address, rssi: released.rssi) }
    if !outcome.isHeld { tell(outcome.sighting, of: report.address, rssi: report.rssi) }
  }

  /// Reports the devices whose scan response has not come in time.
  mutating func reportHeldSightings(at now: Instant) {
    while let (held, sighting) = sightings.releaseHeld(at: now) { tell(sighting, of: held.address, rssi: held.rssi) }
  }

  /// Reports the device to each session whose scan it matches.
  private mutating func tell(_ sighting: Sighting, of address: DeviceAddress, rssi: Int8) {
    for index in centrals.values.indices {
      // An app that does not keep up will get a later packet.
      guard let key = centrals.key(at: index), centrals.values[index]?.counters.backlog.isFull != true,
        let overflow = centrals.values[index]?.scan?.match(sighting.content),
        let peer = enter(address, sighting.content),
        centrals.update(key, { $0.scan?.reports(peer, sighting.content, overflow: overflow) }) == true
      else { continue }
      let discovery = Discovery(
        peer: peers[peer].info, content: sighting.content, overflowServices: overflow,
        isConnectable: sighting.isConnectable, rssi: rssi)
      deliver(.discovered(discovery), to: SessionID(key: key))
    }
  }

  private mutating func enter(_ address: DeviceAddress, _ content: AdvertisingFields) -> PeerHandle? {
    if let peer = peers.handle(of: address) { return peer }
    guard let peer = peers.enter(address) else { return nil }
    learn(content, of: peer)
    return peer
  }

  /// Records the content of an advertisement. The advertised name is used until the name in the GAP service is known.
  private mutating func learn(_ content: AdvertisingFields, of peer: PeerHandle) {
    peers[peer].advertisedServices = content.services
    if let name = content.localName, !peers[peer].hasDeviceName { _ = peers.setName(name, of: peer) }
  }
}

extension Discovery {
  fileprivate init(
    peer: PeerInfo, content: AdvertisingFields, overflowServices: [BluetoothUUID], isConnectable: Bool, rssi: Int8
  ) {
    self.init(peer: peer, isConnectable: isConnectable, rssi: rssi)
    localName = content.localName
    txPowerLevel = content.txPowerLevel
    services = content.services
    self.overflowServices = overflowServices
    solicitedServices = content.solicitedServices
    serviceData = content.serviceData.map { ($0.service, $0.data) }
    manufacturerData = content.manufacturerData
  }
}
