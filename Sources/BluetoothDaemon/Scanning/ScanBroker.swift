import BluetoothHost
import BluetoothWire

/// The broker of scans: the controller's one scan serves all sessions that scan.
struct ScanBroker {
  /// The parameters of the controller's scan; nil: it does not scan.
  private var parameters: ScanParameters?
  /// True if a session scans for packets.
  private var reportsPackets = false
  /// The periods of a scan that only apps in the background want; nil: there is no such scan.
  private var slowScan: SlowScan?
  private var sightings = AdvertisementCache()

  /// A scan with pauses.
  private struct SlowScan {
    /// True during the window of each period.
    var isOpen: Bool
    /// The end of the window or of the pause.
    var changesAt: Instant
  }

  /// The time of the next step: a held advertisement is reported, or the window of a slow scan opens or closes; nil:
  /// none.
  var deadline: Instant? { earliest(sightings.deadline, slowScan?.changesAt) }

  /// Starts a session's scan, or restarts it with another request.
  mutating func scan(
    _ request: ScanRequest, by session: CentralSessionID, at now: Instant, _ context: inout DaemonContext
  ) {
    context.centrals.update(session.key) { $0.scan = ActiveScan(request) }
    updateScanning(at: now, &context)
  }

  /// Stops a session's scan.
  mutating func stopScan(by session: CentralSessionID, at now: Instant, _ context: inout DaemonContext) {
    context.centrals.update(session.key) { $0.scan = nil }
    updateScanning(at: now, &context)
  }

  /// Forgets all scans. The host has dropped its scan.
  mutating func dropAll(_ context: inout DaemonContext) {
    for index in context.centrals.values.indices {
      if let key = context.centrals.key(at: index) { context.centrals.update(key) { $0.scan = nil } }
    }
    parameters = nil
    reportsPackets = false
    slowScan = nil
    sightings.removeAll()
  }

  /// Starts, changes or stops the controller's scan, which runs as long as any session scans. The controller reports
  /// every packet: filters and the merging with scan responses differ from session to session, so the daemon applies
  /// them. The scan is active, or includes LE Coded, if one of the sessions needs it. If only apps in the background
  /// scan, the scan is passive and has pauses.
  mutating func updateScanning(at now: Instant, _ context: inout DaemonContext) {
    var wanted: ScanParameters?
    var isSlow = false
    reportsPackets = false
    for index in context.centrals.values.indices {
      guard let scan = context.centrals.values[index]?.scan else { continue }
      switch context.scanUse(at: index) {
      case .none:
        context.noteBackgroundScan(at: index)
        continue
      case .reduced:
        context.noteBackgroundScan(at: index)
        isSlow = true
        continue
      case .full: break
      }
      let former = wanted ?? ScanParameters(isActive: false, filterDuplicates: false)
      if scan.request.packets != nil { reportsPackets = true }
      let packets = scan.request.packets ?? PacketScan(isActive: true, includesLECoded: false)
      wanted = ScanParameters(
        isActive: former.isActive || packets.isActive, filterDuplicates: false,
        includesLECoded: former.includesLECoded || packets.includesLECoded)
    }
    if wanted == nil, isSlow {
      context.noteSlowScan()
      wanted = slowParameters(at: now, &context)
    } else {
      slowScan = nil
    }
    guard wanted != parameters else { return }
    parameters = wanted
    if wanted == nil { sightings.removeAll() }
    context.host.setScanning(wanted, at: now)
  }

  /// Returns the parameters of the slow scan at this time; nil: it pauses. Begins with a window.
  private mutating func slowParameters(at now: Instant, _ context: inout DaemonContext) -> ScanParameters? {
    guard let limits = context.policy.background else { return nil }
    if slowScan == nil { slowScan = SlowScan(isOpen: true, changesAt: now + TimeSpan(limits.scanWindow)) }
    return slowScan?.isOpen == true ? ScanParameters(isActive: false, filterDuplicates: false) : nil
  }

  /// Opens or closes the window of a slow scan at its time.
  mutating func timeReached(_ now: Instant, _ context: inout DaemonContext) {
    guard let scan = slowScan, scan.changesAt <= now, let limits = context.policy.background else { return }
    let pause = TimeSpan(limits.scanPeriod) - TimeSpan(limits.scanWindow)
    let next = scan.isOpen ? pause : TimeSpan(limits.scanWindow)
    slowScan = SlowScan(isOpen: !scan.isOpen, changesAt: now + max(next, .milliseconds(10)))
    updateScanning(at: now, &context)
  }

  /// Handles an advertisement or a scan response that the controller has received.
  mutating func handle(_ report: AdvertisingReport, at now: Instant, _ context: inout DaemonContext) {
    guard parameters != nil else { return }
    if reportsPackets { tellPacket(report, at: now, &context) }
    let outcome = sightings.take(report, at: now)
    // Only the advertisement says whether the device is connectable.
    guard outcome.sighting.hasAdvertisement else { return }
    if outcome.hasChanged, let peer = context.peers.handle(of: report.address) {
      learn(outcome.sighting.content, of: peer, &context)
    }
    if let released = outcome.released { tell(outcome.sighting, of: report.address, rssi: released.rssi, &context) }
    if !outcome.isHeld { tell(outcome.sighting, of: report.address, rssi: report.rssi, &context) }
  }

  /// Reports the devices whose scan response has not come in time.
  mutating func reportHeldSightings(at now: Instant, _ context: inout DaemonContext) {
    while let (held, sighting) = sightings.releaseHeld(at: now) {
      tell(sighting, of: held.address, rssi: held.rssi, &context)
    }
  }

  /// Reports the device to each session whose scan it matches.
  private func tell(_ sighting: Sighting, of address: DeviceAddress, rssi: Int8, _ context: inout DaemonContext) {
    for index in context.centrals.values.indices {
      // An app that does not keep up will get a later packet.
      guard let key = context.centrals.key(at: index), context.centrals.values[index]?.counters.backlog.isFull != true,
        let overflow = context.centrals.values[index]?.scan?.match(sighting.content)
      else { continue }
      let use = context.scanUse(at: index)
      guard use != .none, let peer = enter(address, sighting.content, &context),
        context.centrals.update(
          key, { $0.scan?.reports(peer, sighting.content, overflow: overflow, isInBackground: use == .reduced) })
          == true
      else { continue }
      let discovery = Discovery(
        peer: context.peers[peer].info, content: sighting.content, overflowServices: overflow,
        isConnectable: sighting.isConnectable, rssi: rssi)
      context.deliver(.discovered(discovery), to: SessionID(key: key))
    }
  }

  /// Reports a packet to the sessions that scan for packets.
  private func tellPacket(_ report: AdvertisingReport, at now: Instant, _ context: inout DaemonContext) {
    for index in context.centrals.values.indices {
      guard let central = context.centrals.values[index], central.scan?.request.packets != nil,
        !central.counters.backlog.isFull, let key = context.centrals.key(at: index),
        let peer = context.peers.enter(report.address)
      else { continue }
      let packet = ReceivedPacket(peer: context.peers[peer].info, report: report, time: now)
      context.deliver(.packetReceived(packet), to: SessionID(key: key))
    }
  }

  private func enter(_ address: DeviceAddress, _ content: AdvertisingFields, _ context: inout DaemonContext)
    -> PeerHandle?
  {
    if let peer = context.peers.handle(of: address) { return peer }
    guard let peer = context.peers.enter(address) else { return nil }
    learn(content, of: peer, &context)
    return peer
  }

  /// Records the content of an advertisement. The advertised name is used until the name in the GAP service is known.
  private func learn(_ content: AdvertisingFields, of peer: PeerHandle, _ context: inout DaemonContext) {
    context.peers[peer].advertisedServices = content.services
    if let name = content.localName, !context.peers[peer].hasDeviceName { _ = context.peers.setName(name, of: peer) }
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
