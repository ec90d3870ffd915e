// Design: scans for packets
//
// A scan for packets is a scan of its session (`ScanRequest.packets`): the `ScanBroker` asks the controller for what
// all scans together need, and gives such a session every report before the merging with scan responses. Complete
// advertising (`PeripheralCommand.advertise`) excludes all other requests of the main set, which every controller has.

import BluetoothHost
import BluetoothWire

/// The broker of scans: the controller's one scan serves all sessions that scan.
struct ScanBroker {
  /// The parameters of the controller's scan; nil: it does not scan.
  private var parameters: ScanParameters?
  /// True if a session scans for packets.
  private var reportsPackets = false
  /// The periods of a scan that only apps in the background want; nil: there has been no such scan since the last scan at
  /// the full rate.
  private var slowScan: SlowScan?
  private var sightings = AdvertisementCache()

  /// A scan with pauses.
  private struct SlowScan {
    private let window: TimeSpan
    private let pause: TimeSpan
    /// False while no app scans. The times of the latest period stay: an app that stops and restarts its scan would
    /// otherwise begin a window with each restart, and scan all the time.
    private(set) var isWanted = true
    /// True during the window of each period.
    private(set) var isOpen = true
    /// The end of the window or of the pause.
    private(set) var changesAt: Instant

    /// Begins with a window.
    init(_ limits: PlatformPolicy.BackgroundLimits, at now: Instant) {
      window = max(TimeSpan(limits.scanWindow), .milliseconds(10))
      pause = max(TimeSpan(limits.scanPeriod) - TimeSpan(limits.scanWindow), .milliseconds(10))
      changesAt = now + TimeSpan(limits.scanWindow)
    }

    /// The time of the next step; nil: there is none.
    var deadline: Instant? { isWanted ? changesAt : nil }

    /// Ends the window or the pause.
    mutating func change(at now: Instant) {
      isOpen.toggle()
      changesAt = now + (isOpen ? window : pause)
    }

    mutating func stop() { isWanted = false }

    /// Goes on after a time without scans: in the window or the pause of the latest period, or with a window if that period
    /// has passed.
    mutating func start(at now: Instant) {
      guard !isWanted else { return }
      isWanted = true
      guard changesAt <= now else { return }
      let nextWindow = isOpen ? changesAt + pause : changesAt
      isOpen = nextWindow <= now
      changesAt = isOpen ? now + window : nextWindow
    }
  }

  /// The time of the next step: a held advertisement is reported, or the window of a slow scan opens or closes; nil:
  /// none.
  var deadline: Instant? { earliest(sightings.deadline, slowScan?.deadline) }

  /// Starts a session's scan, or restarts it with another request.
  mutating func scan(
    _ request: ScanRequest, by session: CentralSessionID, at now: Instant, _ context: inout DaemonContext
  ) {
    context.sessions.setScan(request, of: session)
    updateScanning(at: now, &context)
  }

  /// Stops a session's scan.
  mutating func stopScan(by session: CentralSessionID, at now: Instant, _ context: inout DaemonContext) {
    context.sessions.setScan(nil, of: session)
    updateScanning(at: now, &context)
  }

  /// Forgets all scans. The host has dropped its scan.
  mutating func dropAll(_ sessions: inout SessionTable) {
    sessions.removeScans()
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
    for index in context.sessions.centrals.values.indices {
      guard let scan = context.sessions.centrals.values[index]?.scan else { continue }
      switch use(at: index, context) {
      case .none:
        noteLimits(at: index, &context)
        continue
      case .reduced:
        noteLimits(at: index, &context)
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
      noteSlowScan(&context)
      wanted = slowParameters(at: now, &context)
    } else if wanted == nil {
      slowScan?.stop()
    } else {
      slowScan = nil
    }
    guard wanted != parameters else { return }
    parameters = wanted
    if wanted == nil { sightings.removeAll() }
    context.host.setScanning(wanted, at: now)
  }

  /// Returns the use that a session's scan may make of the radio. A scan in the background needs services.
  private func use(at index: Int, _ context: borrowing DaemonContext) -> RadioUse {
    guard let app = context.sessions.centrals.values[index]?.session.app else { return .full }
    let use = context.radioUse(of: app, as: .central)
    guard use == .reduced else { return use }
    return context.sessions.centrals.values[index]?.scan?.request.services?.isEmpty == false ? .reduced : .none
  }

  /// Notes the limits of a scan in the background.
  private func noteLimits(at index: Int, _ context: inout DaemonContext) {
    guard let app = context.sessions.centrals.values[index]?.session.app,
      let request = context.sessions.centrals.values[index]?.scan?.request
    else { return }
    guard context.apps.isWoken(app, by: .central) else { return context.note(.scanMode, of: app) }
    guard request.services?.isEmpty == false else { return context.note(.scanServices, of: app) }
    if request.allowsDuplicates { context.note(.scanDuplicates, of: app) }
  }

  /// Notes the pauses of the scan for each app that scans in the background. No other app scans.
  private func noteSlowScan(_ context: inout DaemonContext) {
    for index in context.sessions.centrals.values.indices
    where context.sessions.centrals.values[index]?.scan != nil && use(at: index, context) == .reduced {
      context.note(.slowScan, of: context.sessions.centrals.values[index]?.session.app)
    }
  }

  /// Returns the parameters of the slow scan at this time; nil: it pauses.
  private mutating func slowParameters(at now: Instant, _ context: inout DaemonContext) -> ScanParameters? {
    guard let limits = context.policy.background else { return nil }
    var scan = slowScan ?? SlowScan(limits, at: now)
    scan.start(at: now)
    slowScan = scan
    return scan.isOpen ? ScanParameters(isActive: false, filterDuplicates: false) : nil
  }

  /// Opens or closes the window of a slow scan at its time.
  mutating func timeReached(_ now: Instant, _ context: inout DaemonContext) {
    guard let deadline = slowScan?.deadline, deadline <= now else { return }
    slowScan?.change(at: now)
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
      context.peers.learn(outcome.sighting.content, of: peer)
    }
    if let released = outcome.released { tell(outcome.sighting, of: report.address, rssi: released.rssi, &context) }
    guard !outcome.isHeld else { return }
    tell(outcome.sighting, isScanResponse: report.isScanResponse, of: report.address, rssi: report.rssi, &context)
  }

  /// Reports the devices whose scan response has not come in time.
  mutating func reportHeldSightings(at now: Instant, _ context: inout DaemonContext) {
    while let (held, sighting) = sightings.releaseHeld(at: now) {
      tell(sighting, of: held.address, rssi: held.rssi, &context)
    }
  }

  /// Reports the device to each session whose scan it matches, with the values of the advertisement or of the scan
  /// response where both have one.
  private func tell(
    _ sighting: Sighting, isScanResponse: Bool = false, of address: DeviceAddress, rssi: Int8,
    _ context: inout DaemonContext
  ) {
    let content = sighting.content(ofScanResponse: isScanResponse)
    for index in context.sessions.centrals.values.indices {
      // An app that does not keep up will get a later packet.
      guard let key = context.sessions.centrals.key(at: index),
        context.sessions.centrals.values[index]?.session.counters.backlog.isFull != true,
        let overflow = context.sessions.centrals.values[index]?.scan?.match(content)
      else { continue }
      let use = use(at: index, context)
      guard use != .none, let peer = enter(address, sighting.content, &context),
        context.sessions.reports(
          to: SessionID(key: key), peer, content, isScanResponse: isScanResponse, overflow: overflow,
          isInBackground: use == .reduced)
      else { continue }
      var discovery = DiscoveryInfo(
        peer: context.peers[peer].info, content: content, overflowServices: overflow,
        isConnectable: sighting.isConnectable, rssi: rssi)
      if let data = discovery.manufacturerData, context.policy.hiddenManufacturerData.contains(data) {
        discovery.manufacturerData = nil
        context.note(.hiddenManufacturerData, of: context.sessions.centrals.values[index]?.session.app)
      }
      context.deliver(.discovered(discovery), to: SessionID(key: key))
    }
  }

  /// Reports a packet to the sessions that scan for packets.
  private func tellPacket(_ report: AdvertisingReport, at now: Instant, _ context: inout DaemonContext) {
    for index in context.sessions.centrals.values.indices {
      guard let central = context.sessions.centrals.values[index], central.scan?.request.packets != nil,
        !central.session.counters.backlog.isFull, let key = context.sessions.centrals.key(at: index),
        let peer = context.enter(report.address)
      else { continue }
      let packet = ReceivedPacket(peer: context.peers[peer].info, report: report, time: now)
      context.deliver(.packetReceived(packet), to: SessionID(key: key))
    }
  }

  private func enter(_ address: DeviceAddress, _ content: AdvertisingFields, _ context: inout DaemonContext)
    -> PeerHandle?
  {
    if let peer = context.peers.hear(address) { return peer }
    guard let peer = context.enter(address) else { return nil }
    context.peers.learn(content, of: peer)
    return peer
  }
}

extension PlatformPolicy.HiddenManufacturerData {
  /// Returns true if the set contains this manufacturer data.
  fileprivate func contains(_ data: ByteSlice) -> Bool {
    guard data.count >= 2, data[0] == 0x4C, data[1] == 0x00 else { return false }
    return switch self {
    case .none: false
    case .beacons: data.count >= 4 && data[2] == 0x02 && data[3] == 0x15
    case .apple: true
    }
  }
}

extension DiscoveryInfo {
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
