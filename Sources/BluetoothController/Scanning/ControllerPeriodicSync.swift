import BluetoothRadio
import BluetoothWire

/// The reception of periodic advertising · Vol 6, Part B, 4.4.5.
extension Controller {
  /// The value of RSSI and TX_Power if they are unknown.
  private static let unknownLevel: Int8 = 127

  // MARK: Synchronization

  /// True if a requested synchronization may be to the train of this event. Synchronization takes place only while
  /// the host scans for extended advertising.
  mutating func wantsSync(_ event: ExtendedEvent) -> Bool {
    guard event.mode == .nonConnectable, scanner?.isExtended == true, scanner?.isScanning(event.primaryPHY) == true
    else { return false }
    guard let peer = event.advertiser.map({ resolvingList.identify($0) }) else {
      return syncs.wants(nil, event.dataInfo?.sid)
    }
    return !peer.isIgnored && syncs.wants(peer.identity, event.dataInfo?.sid)
  }

  /// Starts synchronization to the train that an AUX_ADV_IND, which began at `start`, describes.
  mutating func synchronize(to info: LL.SyncInfo, of event: ExtendedEvent, from start: Instant, at now: Instant) {
    guard let request = syncs.request?.command, let advertiser = event.advertiser, let sid = event.dataInfo?.sid,
      let phy = event.secondaryPHY, info.isValid, wantsSync(event), syncs.vacantIndex != nil
    else { return }
    var enable: HCI.PeriodicAdvertisingReceiveEnable = []
    if !request.options.contains(.reportingDisabled) { enable.insert(.reporting) }
    if request.options.contains(.filtersDuplicates) { enable.insert(.filtersDuplicates) }
    let schedule = syncSchedule(
      info, windowStart: clock.instant(info.span, after: start), peerAccuracy: info.sleepClockAccuracy.partsPerMillion,
      knownAt: start)
    let handle = addSync(
      .created, resolvingList.identify(advertiser), sid, phy, info, schedule, keeping: request.keeping, enable: enable,
      at: now)
    syncs.request?.handle = handle
  }

  /// Returns the schedule of a train whose event begins at `windowStart` or up to one unit of the offset later.
  mutating func syncSchedule(
    _ info: LL.SyncInfo, windowStart: Instant, peerAccuracy: Int64, knownAt: Instant
  ) -> EventSchedule {
    EventSchedule(
      role: .peripheral, interval: LL.SyncInfo.intervalUnit * Int64(info.interval), windowStart: windowStart,
      windowSize: info.offset.unit, ownAccuracy: clockAccuracy, peerAccuracy: peerAccuracy, clock: clock, now: knownAt)
  }

  /// Starts listening for a train and returns its handle; nil: the controller already receives the maximum number of
  /// trains.
  mutating func addSync(
    _ origin: PeriodicSync.Origin, _ advertiser: PeerIdentity, _ sid: UInt8, _ phy: PHY, _ info: LL.SyncInfo,
    _ schedule: EventSchedule, keeping: HCI.SyncKeeping, enable: HCI.PeriodicAdvertisingReceiveEnable, at now: Instant
  ) -> HCI.SyncHandle? {
    guard let index = syncs.vacantIndex else { return nil }
    var sync = PeriodicSync(
      handle: syncs.newHandle(), place: agenda.add(.periodicSync(index)), origin: origin, advertiser: advertiser,
      advertisingSID: sid, phy: phy, info: info, schedule: schedule, keeping: keeping, enable: enable)
    sync.catchUp(to: now)
    syncs.insert(sync, at: index)
    agenda[sync.place] = sync.claim
    return sync.handle
  }

  // MARK: Events

  mutating func beginPeriodicSyncEvent(_ index: Int, at now: Instant) -> RadioStep { syncs[index]?.begin() ?? .done }

  /// Handles an event for which the radio was not free in time; returns the next claim.
  mutating func losePeriodicSyncEvent(_ index: Int, at now: Instant) -> TimeslotRequest? {
    syncs[index]?.lose()
    breakOff(index)
    return nextClaim(of: index)
  }

  mutating func endPeriodicSyncEvent(_ index: Int, at now: Instant) {
    guard let place = syncs[index]?.place else { return }
    agenda[place] = nextClaim(of: index)
  }

  /// Ends the use of the radio. Each packet has a separate claim, so no timer is set while a train has the radio.
  mutating func periodicSyncTimeReached(_ index: Int, at now: Instant) { perform(.done, at: now) }

  mutating func continuePeriodicSyncEvent(_ index: Int, _ event: RadioEvent, at now: Instant) {
    if case .received(let packet, _, let start, let level, isIntact: true) = event,
      case .extended(let payload)? = try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload)
    {
      take(payload, from: start, level: level, in: index, at: now)
    } else {
      breakOff(index)
    }
    perform(.done, at: now)
  }

  /// Returns the next claim of a train; nil: the train was never received, and synchronization has failed.
  private mutating func nextClaim(of index: Int) -> TimeslotRequest? {
    syncs[index]?.endPacket()
    guard let sync = syncs[index] else { return nil }
    guard sync.hasFailed else { return sync.claim }
    removeSync(index)
    announce(sync, .connectionFailedToBeEstablished)
    return nil
  }

  mutating func removeSync(_ index: Int) {
    if radioUse.isActivity(.periodicSync(index)) { abandonRadio() }
    syncs.remove(index, agenda: &agenda)
  }

  /// Ends synchronization to trains that were not received for too long · 7.7.65.16.
  mutating func checkSyncs(at now: Instant) {
    guard syncs.deadline <= now else { return }
    for index in syncs.indices {
      guard let sync = syncs[index], sync.deadline <= now else { continue }
      removeSync(index)
      output.send(.lePeriodicAdvertisingSyncLost(sync.handle))
    }
  }

  // MARK: Received packets

  private mutating func take(
    _ payload: LL.ExtendedAdvertisingPayload, from start: Instant, level: Decibel, in index: Int, at now: Instant
  ) {
    guard let before = syncs[index] else { return }
    if before.chain != nil {
      guard before.continues(payload) else { return breakOff(index) }
    } else {
      syncs[index]?.heard(payload, from: start)
      if !before.isEstablished { established(index) }
    }
    guard let sync = syncs[index], sync.wantsData else { return }
    let window = payload.auxiliary.flatMap { self.window($0, from: start, at: now) }
    // The next event has priority over the rest of the chain.
    let following = window.flatMap { $0.closes < sync.schedule.anchor(of: sync.schedule.next + 1) ? $0 : nil }
    let room = ExtendedEvent.maximumDataLength - sync.reportedLength
    let isTooLong = payload.data.count > room
    var status = HCI.PeriodicAdvertisingReport.DataStatus.truncated
    if payload.auxiliary == nil, !isTooLong {
      status = .complete
    } else if following != nil, !isTooLong {
      status = .moreToCome
    }
    report(sync, payload.data.prefix(room), level.hciLevel, status)
    syncs[index]?.reported(
      min(payload.data.count, room), next: status == .moreToCome ? following : nil, isComplete: status == .complete)
  }

  /// Handles a missing packet: the host gets no more data of this event.
  private mutating func breakOff(_ index: Int) {
    guard let sync = syncs[index] else { return }
    if sync.isReportOpen { report(sync, ByteSlice(), Self.unknownLevel, .truncated) }
    syncs[index]?.breakChain()
  }

  /// Sends as many LE Periodic Advertising Reports as the data need · 7.7.65.15.
  private mutating func report(
    _ sync: PeriodicSync, _ data: ByteSlice, _ rssi: Int8, _ status: HCI.PeriodicAdvertisingReport.DataStatus
  ) {
    guard hasRoomForReports else { return }
    var report = HCI.PeriodicAdvertisingReport(
      handle: sync.handle, transmitPower: sync.transmitPower ?? Self.unknownLevel, rssi: rssi, status: status,
      data: ByteSlice())
    var rest = data
    repeat {
      report.data = rest.prefix(HCI.PeriodicAdvertisingReport.maximumDataLength)
      rest = rest.dropFirst(report.data.count)
      report.status = rest.isEmpty ? status : .moreToCome
      output.send(.lePeriodicAdvertisingReport(report))
    } while !rest.isEmpty
  }

  private mutating func established(_ index: Int) {
    guard let sync = syncs[index] else { return }
    if syncs.request?.handle == sync.handle { syncs.request = nil }
    announce(sync, .success)
  }

  /// Reports the result of a synchronization request, or of a transfer, to the host.
  private mutating func announce(_ sync: PeriodicSync, _ status: HCI.ErrorCode) {
    let description = HCI.PeriodicSync(
      handle: sync.handle,
      advertiser: HCI.PeriodicAdvertiser(sync.advertiser.hciAddress, advertisingSID: sync.advertisingSID),
      advertiserPHY: sync.phy.rawValue, interval: sync.info.interval,
      clockAccuracy: sync.info.sleepClockAccuracy.rawValue)
    switch sync.origin {
    case .created:
      output.send(.lePeriodicAdvertisingSyncEstablished(status, status == .success ? description : .none))
    case .transferred(let connection, let serviceData):
      output.send(
        .lePeriodicAdvertisingSyncTransferReceived(status, connection, serviceData: serviceData, description))
    }
  }
}
