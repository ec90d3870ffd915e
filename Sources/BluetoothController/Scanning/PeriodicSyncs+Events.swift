import BluetoothRadio
import BluetoothWire

/// The reception of periodic advertising · Vol 6, Part B, 4.4.5.
extension PeriodicSyncs {
  /// The value of RSSI and TX_Power if they are unknown.
  private static let unknownLevel: Int8 = 127

  // MARK: Synchronization

  /// True if the request may be for the train of this event.
  mutating func wants(_ event: ExtendedEvent, device: inout LocalDevice) -> Bool {
    guard let peer = event.advertiser.map({ device.resolvingList.identify($0) }) else {
      return wants(nil, event.dataInfo?.sid)
    }
    return !peer.isIgnored && wants(peer.identity, event.dataInfo?.sid)
  }

  /// Starts synchronization to the train that an AUX_ADV_IND, which began at `start`, describes.
  mutating func synchronize(
    to info: LL.SyncInfo, of event: ExtendedEvent, from start: Instant, device: inout LocalDevice,
    radio: inout RadioControl, at now: Instant
  ) {
    guard let command = request?.command, let advertiser = event.advertiser, let sid = event.dataInfo?.sid,
      let phy = event.secondaryPHY, info.isValid, vacantIndex != nil
    else { return }
    var enable: HCI.PeriodicAdvertisingReceiveEnable = []
    if !command.options.contains(.reportingDisabled) { enable.insert(.reporting) }
    if command.options.contains(.filtersDuplicates) { enable.insert(.filtersDuplicates) }
    let schedule = eventSchedule(
      info, windowStart: device.clock.instant(info.span, after: start),
      peerAccuracy: info.sleepClockAccuracy.partsPerMillion, knownAt: start, device: &device)
    let handle = add(
      .created, device.resolvingList.identify(advertiser), sid, phy, info, schedule, keeping: command.keeping,
      enable: enable, radio: &radio, at: now)
    request?.handle = handle
  }

  /// Returns the schedule of a train whose event begins at `windowStart` or up to one unit of the offset later.
  mutating func eventSchedule(
    _ info: LL.SyncInfo, windowStart: Instant, peerAccuracy: Int64, knownAt: Instant, device: inout LocalDevice
  ) -> EventSchedule {
    EventSchedule(
      role: .peripheral, interval: LL.SyncInfo.intervalUnit * Int64(info.interval), windowStart: windowStart,
      windowSize: info.offset.unit, ownAccuracy: device.clockAccuracy, peerAccuracy: peerAccuracy,
      clock: device.clock, now: knownAt)
  }

  /// Starts listening for a train and returns its handle; nil: the controller already receives the maximum number of
  /// trains.
  mutating func add(
    _ origin: PeriodicSync.Origin, _ advertiser: PeerIdentity, _ sid: UInt8, _ phy: RadioPHY, _ info: LL.SyncInfo,
    _ schedule: EventSchedule, keeping: HCI.SyncKeeping, enable: HCI.PeriodicAdvertisingReceiveEnable,
    radio: inout RadioControl, at now: Instant
  ) -> HCI.SyncHandle? {
    guard let index = vacantIndex else { return nil }
    var sync = PeriodicSync(
      handle: newHandle(), activityID: radio.scheduler.add(.periodicSync(index)), origin: origin,
      advertiser: advertiser,
      advertisingSID: sid, phy: phy, info: info, schedule: schedule, keeping: keeping, enable: enable)
    sync.catchUp(to: now)
    insert(sync, at: index)
    radio.scheduler[sync.activityID] = sync.timeslot
    return sync.handle
  }

  // MARK: Events

  /// Listens for the next packet of a train. Called when the radio is available.
  mutating func begin(_ index: Int) -> RadioStep { self[index]?.begin() ?? .done }

  /// Handles an event for which the radio was not free in time; returns the next timeslot.
  mutating func lose(
    _ index: Int, device: inout LocalDevice, radio: inout RadioControl
  ) -> TimeslotRequest? {
    self[index]?.lose()
    breakOff(index, device: &device)
    return nextTimeslot(of: index, device: &device, radio: &radio)
  }

  /// Ends a packet. Called when the train has released the radio.
  mutating func end(_ index: Int, device: inout LocalDevice, radio: inout RadioControl) {
    guard let activityID = self[index]?.activityID else { return }
    radio.scheduler[activityID] = nextTimeslot(of: index, device: &device, radio: &radio)
  }

  /// Processes a radio event while a train has the radio. The train then releases the radio.
  mutating func take(_ event: RadioEvent, for index: Int, device: inout LocalDevice, at now: Instant) {
    if case .received(let packet, _, let start, let level, isIntact: true) = event,
      case .extended(let payload)? = try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload)
    {
      take(payload, from: start, level: level, in: index, device: &device, at: now)
    } else {
      breakOff(index, device: &device)
    }
  }

  /// Returns the next timeslot of a train; nil: the train was never received, and synchronization has failed.
  private mutating func nextTimeslot(
    of index: Int, device: inout LocalDevice, radio: inout RadioControl
  ) -> TimeslotRequest? {
    self[index]?.endPacket()
    guard let sync = self[index] else { return nil }
    guard sync.hasFailed else { return sync.timeslot }
    end(synchronizationAt: index, radio: &radio)
    announce(sync, .connectionFailedToBeEstablished, into: &device.output)
    return nil
  }

  /// Ends the reception of a train.
  mutating func end(synchronizationAt index: Int, radio: inout RadioControl) {
    radio.abandon(.periodicSync(index))
    remove(index, scheduler: &radio.scheduler)
  }

  /// Ends synchronization to trains whose synchronization timeout has expired · 7.7.65.16.
  mutating func checkDeadlines(radio: inout RadioControl, into output: inout HCIEventQueue, at now: Instant) {
    guard deadline <= now else { return }
    for index in indices {
      guard let sync = self[index], sync.deadline <= now else { continue }
      end(synchronizationAt: index, radio: &radio)
      output.send(.lePeriodicAdvertisingSyncLost(sync.handle))
    }
  }

  // MARK: Received packets

  private mutating func take(
    _ payload: LL.ExtendedAdvertisingPayload, from start: Instant, level: Decibel, in index: Int,
    device: inout LocalDevice, at now: Instant
  ) {
    guard let before = self[index] else { return }
    if before.chain != nil {
      guard before.continues(payload) else { return breakOff(index, device: &device) }
    } else {
      self[index]?.heard(payload, from: start)
      if !before.isEstablished { established(index, into: &device.output) }
    }
    guard let sync = self[index], sync.wantsData else { return }
    let window = payload.auxiliary.flatMap { device.window($0, from: start, at: now) }
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
    report(sync, payload.data.prefix(room), level.hciLevel, status, device: &device)
    self[index]?.reported(
      min(payload.data.count, room), next: status == .moreToCome ? following : nil, isComplete: status == .complete)
  }

  /// Handles a missing packet: the host gets no more data of this event.
  private mutating func breakOff(_ index: Int, device: inout LocalDevice) {
    guard let sync = self[index] else { return }
    if sync.isReportOpen { report(sync, ByteSlice(), Self.unknownLevel, .truncated, device: &device) }
    self[index]?.breakChain()
  }

  /// Sends the data in one or more LE Periodic Advertising Reports · 7.7.65.15.
  private mutating func report(
    _ sync: PeriodicSync, _ data: ByteSlice, _ rssi: Int8, _ status: HCI.PeriodicAdvertisingReport.DataStatus,
    device: inout LocalDevice
  ) {
    guard device.hasRoomForReports else { return }
    var report = HCI.PeriodicAdvertisingReport(
      handle: sync.handle, transmitPower: sync.transmitPower ?? Self.unknownLevel, rssi: rssi, status: status,
      data: ByteSlice())
    var rest = data
    repeat {
      report.data = rest.prefix(HCI.PeriodicAdvertisingReport.maximumDataLength)
      rest = rest.dropFirst(report.data.count)
      report.status = rest.isEmpty ? status : .moreToCome
      device.output.send(.lePeriodicAdvertisingReport(report))
    } while !rest.isEmpty
  }

  private mutating func established(_ index: Int, into output: inout HCIEventQueue) {
    guard let sync = self[index] else { return }
    if request?.handle == sync.handle { request = nil }
    announce(sync, .success, into: &output)
  }

  /// Reports the result of a synchronization request, or of a transfer, to the host.
  private mutating func announce(
    _ sync: PeriodicSync, _ status: HCI.ErrorCode, into output: inout HCIEventQueue
  ) {
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

  /// Applies the accuracy of the local clock to all trains.
  mutating func setSleepClock(partsPerMillion: Int64, radio: inout RadioControl) {
    for index in indices {
      guard let activityID = self[index]?.activityID else { continue }
      self[index]?.setOwnAccuracy(partsPerMillion)
      if !radio.owner.isActivity(.periodicSync(index)) { radio.scheduler[activityID] = self[index]?.timeslot }
    }
  }
}
