import BluetoothRadio
import BluetoothWire

/// The start and the end of advertising, and its packets.
extension AdvertisingEngine {
  /// Starts advertising of a set, for `duration` (zero: unlimited) and `maximumEvents` events (0: unlimited).
  mutating func start(
    _ index: Int, own: DeviceAddress, duration: TimeSpan = .zero, maximumEvents: UInt8 = 0, device: inout LocalDevice,
    radio: inout RadioControl, at now: Instant
  ) {
    guard let set = sets[index] else { return }
    stop(index, radio: &radio)
    let identity = identity(set.properties, own: own, device: &device, at: now)
    let auxiliary =
      set.needsAuxiliary ? auxiliaryAdvertiser(identity, set.content, index, device: &device, radio: &radio) : nil
    sets[index]?.advertiser = Advertiser(
      identity, content: set.content,
      events: AdvertisingEvents(
        set.properties, duration: duration, maximumEvents: maximumEvents, clock: device.clock, at: now),
      auxiliary: auxiliary, activityID: radio.scheduler.add(.advertising(index)), pool: device.pool)
    sets.refreshDeadline()
    startTrain(index, device: &device, radio: &radio, at: now)
    schedule(index, radio: &radio)
  }

  private mutating func auxiliaryAdvertiser(
    _ identity: AdvertiserIdentity, _ content: AdvertisingContent, _ index: Int, device: inout LocalDevice,
    radio: inout RadioControl
  ) -> AuxiliaryAdvertiser {
    AuxiliaryAdvertiser(
      identity, content: content, identifier: UInt16(truncatingIfNeeded: device.random.next()),
      channelMap: device.channelMap, isClockAccurate: device.clockAccuracy <= 50,
      activityID: radio.scheduler.add(.auxiliaryAdvertising(index)))
  }

  /// Applies changed content of a set, which may now need AUX_ADV_IND.
  mutating func contentChanged(_ index: Int, device: inout LocalDevice, radio: inout RadioControl) {
    guard let content = sets[index]?.content, let needsAuxiliary = sets[index]?.needsAuxiliary,
      let identity = sets[index]?.advertiser?.identity
    else { return }
    if needsAuxiliary, sets[index]?.advertiser?.auxiliary == nil {
      let auxiliary = auxiliaryAdvertiser(identity, content, index, device: &device, radio: &radio)
      sets[index]?.advertiser?.auxiliary = auxiliary
    }
    sets[index]?.advertiser?.setContent(content, in: device.pool)
  }

  /// Stops advertising of a set, for the host or because a limit or a connection has ended it. A packet that is being
  /// sent is completed.
  mutating func stop(_ index: Int, radio: inout RadioControl) {
    guard let activityID = sets[index]?.advertiser?.activityID else { return }
    radio.scheduler.remove(activityID)
    if let auxiliary = sets[index]?.advertiser?.auxiliary?.activityID { radio.scheduler.remove(auxiliary) }
    sets[index]?.advertiser = nil
    sets.refreshDeadline()
    radio.abandon(.advertising(index))
    radio.abandon(.auxiliaryAdvertising(index))
  }

  /// Stops a set that has reached its duration or its maximum number of events, and reports its end to the host.
  private mutating func ended(
    _ index: Int, _ limit: AdvertisingEvents.Limit, device: inout LocalDevice, radio: inout RadioControl
  ) {
    guard let set = sets[index], let events = set.advertiser?.events.reported else { return }
    stop(index, radio: &radio)
    let status: HCI.ErrorCode = limit == .duration ? .advertisingTimeout : .limitReached
    if let handle = set.handle {
      device.output.send(
        .leAdvertisingSetTerminated(status, handle, HCI.ConnectionHandle(rawValue: 0), completedEvents: events))
    } else {
      // High duty cycle directed advertising has lasted 1.28 s without a connection request · Vol 6, Part B, 4.4.2.4.3.
      sets.remove(index)
      device.output.send(HCI.ConnectionComplete(failure: .advertisingTimeout))
    }
  }

  /// Ends the sets whose duration has elapsed.
  mutating func checkDeadlines(device: inout LocalDevice, radio: inout RadioControl, at now: Instant) {
    while let index = sets.ended(at: now) { ended(index, .duration, device: &device, radio: &radio) }
  }

  /// Creates the connection that a central has requested, which ends advertising of the set.
  private mutating func connect(
    _ index: Int, _ request: ConnectRequest, connections: inout ConnectionTable, device: inout LocalDevice,
    radio: inout RadioControl
  ) {
    guard let set = sets[index], let advertiser = set.advertiser else { return }
    radio.release()
    stop(index, radio: &radio)
    if set.handle == nil { sets.remove(index) }
    let properties = set.properties
    let handle = connections.add(
      .peripheral, own: advertiser.identity.own, peer: request.initiator, data: request.data,
      // Extended advertisers use Channel Selection Algorithm #2 only.
      usesAlgorithm2: request.usesAlgorithm2 && properties.knowsAlgorithm2 || !properties.usesLegacyPDUs,
      auxiliaryPHY: properties.usesLegacyPDUs ? nil : properties.secondary.phy, device: &device,
      radio: &radio, at: request.end)
    guard let advertisingHandle = set.handle else { return }
    // The number of events is reported only if the duration or the maximum number has ended the set · Vol 4, Part E,
    // 7.7.65.18.
    device.output.send(.leAdvertisingSetTerminated(.success, advertisingHandle, handle, completedEvents: 0))
  }

  // MARK: Timeslots

  /// Updates the set's timeslots on the radio.
  mutating func schedule(_ index: Int, radio: inout RadioControl) {
    if let timeslots = sets[index]?.timeslots { take(timeslots, of: index, radio: &radio) }
  }

  private mutating func take(_ timeslots: Advertiser.Timeslots, of index: Int, radio: inout RadioControl) {
    if !radio.owner.isActivity(.advertising(index)) { radio.scheduler[timeslots.activityID] = timeslots.timeslot }
    guard let auxiliary = timeslots.auxiliary, !radio.owner.isActivity(.auxiliaryAdvertising(index)) else { return }
    radio.scheduler[auxiliary.activityID] = auxiliary.timeslot
  }

  /// Requests the timeslot of the next packet of the set, or ends the set at its limit.
  private mutating func goesOn(_ index: Int, device: inout LocalDevice, radio: inout RadioControl) {
    guard let timeslots = sets[index]?.timeslots else { return }
    if timeslots.hasReachedLimit {
      ended(index, .events, device: &device, radio: &radio)
    } else {
      take(timeslots, of: index, radio: &radio)
    }
  }

  // MARK: Addresses · 6.2

  /// Returns the address of an advertising set on the air, and the address of its target.
  private mutating func identity(
    _ properties: AdvertisingProperties, own: DeviceAddress, device: inout LocalDevice, at now: Instant
  ) -> AdvertiserIdentity {
    guard properties.ownAddressType.isPrivate, !device.resolvingList.isEmpty else {
      return AdvertiserIdentity(properties, own: own)
    }
    let peer = properties.peer.deviceAddress
    return AdvertiserIdentity(
      properties, own: device.ownAddress(to: peer, properties.ownAddressType, identity: own, at: now),
      target: device.resolvingList.targetAddress(for: peer, at: now, random: &device.random))
  }

  /// Replaces the private addresses of a set before an advertising event if they have expired.
  private mutating func renewAddresses(_ index: Int, device: inout LocalDevice, at now: Instant) {
    guard !device.resolvingList.isEmpty, let set = sets[index], set.properties.ownAddressType.isPrivate,
      let present = set.advertiser?.identity
    else { return }
    let own = set.handle == nil ? device.ownAddress(set.properties.ownAddressType) : set.ownAddress(on: &device)
    let identity = identity(set.properties, own: own ?? present.own, device: &device, at: now)
    guard identity.own != present.own || identity.target != present.target else { return }
    sets[index]?.advertiser?.setIdentity(identity, content: set.content, in: device.pool)
  }

  /// Changes the private address of a set whose data have changed, if the host has requested that · Vol 4, Part E,
  /// 7.8.122.
  mutating func dataChanged(_ reason: HCI.AddressChangeReasons, of index: Int, device: inout LocalDevice) {
    guard let set = sets[index], set.addressChanges.contains(reason) else { return }
    device.resolvingList.changeLocalAddress(for: set.properties.peer.deviceAddress)
  }

  // MARK: Packets on the primary channels

  /// Sends the next packet. Called when the radio is available.
  mutating func begin(_ index: Int, device: inout LocalDevice, radio: inout RadioControl, at now: Instant) -> RadioStep
  {
    if !device.resolvingList.isEmpty, sets[index]?.advertiser?.isBetweenEvents == true {
      renewAddresses(index, device: &device, at: now)
    }
    if let auxiliary = sets[index]?.announce(at: now, scheduler: radio.scheduler) {
      radio.scheduler[auxiliary.activityID] = auxiliary.timeslot
    }
    return sets[index]?.advertiser?.begin(at: now, in: device.pool) ?? .done
  }

  /// Handles a packet for which the radio was not free in time.
  mutating func lose(_ index: Int, device: inout LocalDevice, radio: inout RadioControl, at now: Instant) {
    sets[index]?.advertiser?.losePacket(at: now, random: &device.random)
    goesOn(index, device: &device, radio: &radio)
  }

  /// Ends a packet. Called when the set has released the radio.
  mutating func end(_ index: Int, device: inout LocalDevice, radio: inout RadioControl, at now: Instant) {
    sets[index]?.advertiser?.endPacket(at: now, random: &device.random)
    goesOn(index, device: &device, radio: &radio)
  }

  /// Returns the next step when the interframe space after a request has elapsed.
  mutating func timeReached(_ index: Int) -> RadioStep { sets[index]?.advertiser?.timeReached() ?? .done }

  /// Processes a radio event while a set has the radio. Returns the next step; nil: a connection has been created.
  mutating func take(
    _ event: RadioEvent, for index: Int, connections: inout ConnectionTable, device: inout LocalDevice,
    radio: inout RadioControl, at now: Instant
  ) -> RadioStep? {
    switch event {
    case .transmitted: return sets[index]?.advertiser?.transmitted(at: now) ?? .done
    case .nothingReceived: return .done
    case .received(let packet, _, _, _, let isIntact):
      let outcome = sets[index]?.advertiser?.received(
        packet, isIntact: isIntact, acceptList: device.acceptList, resolvingList: &device.resolvingList, at: now)
      return follow(
        outcome, index, isAuxiliary: false, connections: &connections, device: &device, radio: &radio)
    }
  }

  private mutating func follow(
    _ outcome: Advertiser.Outcome?, _ index: Int, isAuxiliary: Bool, connections: inout ConnectionTable,
    device: inout LocalDevice, radio: inout RadioControl
  ) -> RadioStep? {
    switch outcome {
    case .goesOn(let step): return step
    case .scanned(let step, let scanner):
      reportScanRequest(index, by: scanner, device: &device)
      return step
    case .asked(let request):
      guard let own = sets[index]?.advertiser?.identity.own,
        connections.count < device.configuration.connectionLimit,
        !connections.isConnected(own: own, peer: request.initiator, device: &device)
      else { return .done }
      if isAuxiliary { return sets[index]?.advertiser?.auxiliary?.accept(request) ?? .done }
      connect(index, request, connections: &connections, device: &device, radio: &radio)
      return nil
    case .connected(let request):
      connect(index, request, connections: &connections, device: &device, radio: &radio)
      return nil
    case nil: return .done
    }
  }

  /// Reports LE Scan Request Received if the host has enabled it · Vol 4, Part E, 7.7.65.19.
  private mutating func reportScanRequest(_ index: Int, by scanner: DeviceAddress, device: inout LocalDevice) {
    guard let handle = sets[index]?.handle, sets[index]?.properties.notifiesScanRequests == true,
      device.hasRoomForReports
    else { return }
    device.output.send(
      .leScanRequestReceived(handle, scanner: device.resolvingList.identify(scanner).hciAddress))
  }

  // MARK: Packets on the secondary channels

  /// Sends the next auxiliary packet. Called when the radio is available.
  mutating func beginAuxiliary(
    _ index: Int, device: inout LocalDevice, radio: inout RadioControl, at now: Instant
  ) -> RadioStep {
    // A scanner must receive AUX_ADV_IND completely before it can follow the train.
    let longestPacket = Modulation.codedS8.airTime(payloadOctets: LL.ExtendedAdvertisingPayload.maximumLength)
    let earliest = now + longestPacket + LL.minimumAuxiliaryFrameSpace
    let syncInfo = sets[index]?.periodic?.advertiser.map { train in
      train.syncInfo(of: train.event(notBefore: earliest), from: now)
    }
    return sets[index]?.advertiser?.auxiliary?.begin(
      syncInfo: syncInfo, at: now, scheduler: radio.scheduler, in: device.pool) ?? .done
  }

  /// Handles an auxiliary packet for which the radio was not free in time.
  mutating func loseAuxiliary(_ index: Int, device: inout LocalDevice, radio: inout RadioControl) {
    sets[index]?.advertiser?.auxiliary?.lose()
    goesOn(index, device: &device, radio: &radio)
  }

  /// Ends an auxiliary packet. Called when the set has released the radio.
  mutating func endAuxiliary(_ index: Int, device: inout LocalDevice, radio: inout RadioControl) {
    goesOn(index, device: &device, radio: &radio)
  }

  /// Returns the next step when the interframe space after a request has elapsed.
  mutating func auxiliaryTimeReached(
    _ index: Int, device: inout LocalDevice, radio: inout RadioControl, at now: Instant
  ) -> RadioStep {
    sets[index]?.advertiser?.auxiliary?.timeReached(at: now, scheduler: radio.scheduler, in: device.pool) ?? .done
  }

  /// Processes a radio event while an auxiliary packet of a set has the radio. Returns the next step; nil: a connection
  /// has been created.
  mutating func takeAuxiliary(
    _ event: RadioEvent, for index: Int, connections: inout ConnectionTable, device: inout LocalDevice,
    radio: inout RadioControl, at now: Instant
  ) -> RadioStep? {
    let outcome: Advertiser.Outcome?
    switch event {
    case .transmitted: outcome = sets[index]?.advertiser?.auxiliary?.transmitted(at: now)
    case .nothingReceived: return .done
    case .received(let packet, _, _, _, let isIntact):
      outcome = sets[index]?.advertiser?.auxiliary?.received(
        packet, isIntact: isIntact, acceptList: device.acceptList, resolvingList: &device.resolvingList, at: now)
    }
    return follow(outcome, index, isAuxiliary: true, connections: &connections, device: &device, radio: &radio)
  }
}
