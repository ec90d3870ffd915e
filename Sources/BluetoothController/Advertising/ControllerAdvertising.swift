import BluetoothRadio
import BluetoothWire

/// The start and end of advertising.
extension Controller {
  /// Starts advertising of a set, for `duration` (zero: unlimited) and `maximumEvents` events (0: unlimited).
  mutating func startAdvertising(
    _ index: Int, own: DeviceAddress, duration: TimeSpan = .zero, maximumEvents: UInt8 = 0, at now: Instant
  ) {
    guard let set = sets[index] else { return }
    stopAdvertising(index)
    let identity = advertiserIdentity(set.properties, own: own, at: now)
    let auxiliary = set.needsAuxiliary ? auxiliaryAdvertiser(identity, set.content, index) : nil
    sets[index]?.advertiser = Advertiser(
      identity, content: set.content,
      events: AdvertisingEvents(
        set.properties, duration: duration, maximumEvents: maximumEvents, clock: clock, at: now),
      auxiliary: auxiliary, place: agenda.add(.advertising(index)), pool: pool)
    sets.refreshDeadline()
    startTrain(index, at: now)
    claimAdvertising(index)
  }

  private mutating func auxiliaryAdvertiser(
    _ identity: AdvertiserIdentity, _ content: AdvertisingContent, _ index: Int
  ) -> AuxiliaryAdvertiser {
    AuxiliaryAdvertiser(
      identity, content: content, identifier: UInt16(truncatingIfNeeded: random.next()), channelMap: host.channelMap,
      isClockAccurate: clockAccuracy <= 50, place: agenda.add(.auxiliaryAdvertising(index)))
  }

  /// Applies changed content of a set, which may now need AUX_ADV_IND.
  mutating func contentChanged(_ index: Int) {
    guard let content = sets[index]?.content, let needsAuxiliary = sets[index]?.needsAuxiliary,
      let identity = sets[index]?.advertiser?.identity
    else { return }
    if needsAuxiliary, sets[index]?.advertiser?.auxiliary == nil {
      let auxiliary = auxiliaryAdvertiser(identity, content, index)
      sets[index]?.advertiser?.auxiliary = auxiliary
    }
    sets[index]?.advertiser?.setContent(content, in: pool)
  }

  /// Stops advertising of a set, for the host or because a limit or a connection has ended it. A packet that is being
  /// sent is completed.
  mutating func stopAdvertising(_ index: Int) {
    guard let place = sets[index]?.advertiser?.place else { return }
    agenda.remove(place)
    if let auxiliary = sets[index]?.advertiser?.auxiliary?.place { agenda.remove(auxiliary) }
    sets[index]?.advertiser = nil
    sets.refreshDeadline()
    if radioUse.isActivity(.advertising(index)) || radioUse.isActivity(.auxiliaryAdvertising(index)) { abandonRadio() }
  }

  /// Stops a set that has reached its duration or its maximum of events, and reports that.
  mutating func advertisingEnded(_ index: Int, _ limit: AdvertisingEvents.Limit) {
    guard let set = sets[index], let events = set.advertiser?.events.reported else { return }
    stopAdvertising(index)
    let status: HCI.ErrorCode = limit == .duration ? .advertisingTimeout : .limitReached
    if let handle = set.handle {
      output.send(
        .leAdvertisingSetTerminated(status, handle, HCI.ConnectionHandle(rawValue: 0), completedEvents: events))
    } else {
      // High duty cycle directed advertising has gone on for 1.28 s without an answer · Vol 6, Part B, 4.4.2.4.3.
      sets.remove(index)
      output.send(HCI.ConnectionComplete(failure: .advertisingTimeout))
    }
  }

  mutating func checkAdvertisingDeadlines(at now: Instant) {
    while let index = sets.ended(at: now) { advertisingEnded(index, .duration) }
  }

  /// Creates the connection that a central has requested, which ends advertising of the set.
  private mutating func connect(_ index: Int, _ request: ConnectRequest, at now: Instant) {
    guard let set = sets[index], let advertiser = set.advertiser else { return }
    radioUse = .free
    stopAdvertising(index)
    if set.handle == nil { sets.remove(index) }
    let properties = set.properties
    let handle = addConnection(
      .peripheral, own: advertiser.identity.own, peer: request.initiator, data: request.data,
      // Extended advertisers use Channel Selection Algorithm #2 only.
      usesAlgorithm2: request.usesAlgorithm2 && properties.knowsAlgorithm2 || !properties.usesLegacyPDUs,
      auxiliaryPHY: properties.usesLegacyPDUs ? nil : properties.secondary.phy, at: request.end)
    guard let advertisingHandle = set.handle else { return }
    // Events are reported only if the duration or the maximum has ended the set · Vol 4, Part E, 7.7.65.18.
    output.send(.leAdvertisingSetTerminated(.success, advertisingHandle, handle, completedEvents: 0))
  }

  /// True if a central may connect: two devices have at most one connection · Vol 6, Part B, 4.5.
  private mutating func mayConnect(_ request: ConnectRequest, own: DeviceAddress) -> Bool {
    connections.count < configuration.connectionLimit && !isConnected(own: own, peer: request.initiator)
  }

  // MARK: Claims

  /// Updates the set's claims on the radio.
  mutating func claimAdvertising(_ index: Int) {
    if let claims = sets[index]?.claims { take(claims, of: index) }
  }

  private mutating func take(_ claims: Advertiser.Claims, of index: Int) {
    if !radioUse.isActivity(.advertising(index)) { agenda[claims.place] = claims.claim }
    guard let auxiliary = claims.auxiliary, !radioUse.isActivity(.auxiliaryAdvertising(index)) else { return }
    agenda[auxiliary.place] = auxiliary.claim
  }

  /// Claims the radio for the next packet of the set, or ends the set at its limit.
  private mutating func advertisingGoesOn(_ index: Int) {
    guard let claims = sets[index]?.claims else { return }
    if claims.hasReachedLimit { advertisingEnded(index, .events) } else { take(claims, of: index) }
  }

  // MARK: Packets on the primary channels

  mutating func beginAdvertising(_ index: Int, at now: Instant) -> RadioStep {
    if !resolvingList.isEmpty, sets[index]?.advertiser?.isBetweenEvents == true { renewAddresses(index, at: now) }
    if let auxiliary = sets[index]?.announce(at: now, agenda: agenda) { agenda[auxiliary.place] = auxiliary.claim }
    return sets[index]?.advertiser?.begin(at: now, in: pool) ?? .done
  }

  mutating func loseAdvertising(_ index: Int, at now: Instant) {
    sets[index]?.advertiser?.losePacket(at: now, random: &random)
    advertisingGoesOn(index)
  }

  mutating func endAdvertising(_ index: Int, at now: Instant) {
    sets[index]?.advertiser?.endPacket(at: now, random: &random)
    advertisingGoesOn(index)
  }

  mutating func advertisingTimeReached(_ index: Int, at now: Instant) {
    perform(sets[index]?.advertiser?.timeReached() ?? .done, at: now)
  }

  mutating func continueAdvertising(_ index: Int, _ event: RadioEvent, at now: Instant) {
    switch event {
    case .transmitted: perform(sets[index]?.advertiser?.transmitted(at: now) ?? .done, at: now)
    case .nothingReceived: perform(.done, at: now)
    case .received(let packet, _, _, _, let isIntact):
      follow(
        sets[index]?.advertiser?.received(
          packet, isIntact: isIntact, acceptList: host.acceptList, resolvingList: &resolvingList, at: now), index,
        at: now)
    }
  }

  private mutating func follow(_ outcome: Advertiser.Outcome?, _ index: Int, at now: Instant) {
    switch outcome {
    case .goesOn(let step): perform(step, at: now)
    case .scanned(let step, let scanner):
      reportScanRequest(index, by: scanner)
      perform(step, at: now)
    case .asked(let request):
      guard let own = sets[index]?.advertiser?.identity.own, mayConnect(request, own: own) else {
        return perform(.done, at: now)
      }
      guard radioUse.isActivity(.auxiliaryAdvertising(index)) else { return connect(index, request, at: now) }
      perform(sets[index]?.advertiser?.auxiliary?.accept(request) ?? .done, at: now)
    case .connected(let request): connect(index, request, at: now)
    case nil: perform(.done, at: now)
    }
  }

  /// Reports LE Scan Request Received if the host has enabled it · Vol 4, Part E, 7.7.65.19.
  private mutating func reportScanRequest(_ index: Int, by scanner: DeviceAddress) {
    guard let handle = sets[index]?.handle, sets[index]?.properties.notifiesScanRequests == true, hasRoomForReports
    else { return }
    output.send(.leScanRequestReceived(handle, scanner: resolvingList.identify(scanner).hciAddress))
  }

  // MARK: Packets on the secondary channels

  mutating func beginAuxiliaryAdvertising(_ index: Int, at now: Instant) -> RadioStep {
    // A scanner must receive AUX_ADV_IND completely before it can follow the train.
    let patience = Modulation.codedS8.airTime(payloadOctets: LL.ExtendedAdvertisingPayload.maximumLength)
    let earliest = now + patience + LL.minimumAuxiliaryFrameSpace
    let syncInfo = sets[index]?.periodic?.advertiser.map { train in
      train.syncInfo(of: train.event(notBefore: earliest), from: now)
    }
    return sets[index]?.advertiser?.auxiliary?.begin(syncInfo: syncInfo, at: now, agenda: agenda, in: pool) ?? .done
  }

  mutating func loseAuxiliaryAdvertising(_ index: Int, at now: Instant) {
    sets[index]?.advertiser?.auxiliary?.lose()
    advertisingGoesOn(index)
  }

  mutating func endAuxiliaryAdvertising(_ index: Int, at now: Instant) { advertisingGoesOn(index) }

  mutating func auxiliaryAdvertisingTimeReached(_ index: Int, at now: Instant) {
    perform(
      sets[index]?.advertiser?.auxiliary?.timeReached(at: now, agenda: agenda, in: pool) ?? .done, at: now)
  }

  mutating func continueAuxiliaryAdvertising(_ index: Int, _ event: RadioEvent, at now: Instant) {
    switch event {
    case .transmitted: follow(sets[index]?.advertiser?.auxiliary?.transmitted(at: now), index, at: now)
    case .nothingReceived: perform(.done, at: now)
    case .received(let packet, _, _, _, let isIntact):
      follow(
        sets[index]?.advertiser?.auxiliary?.received(
          packet, isIntact: isIntact, acceptList: host.acceptList, resolvingList: &resolvingList, at: now), index,
        at: now)
    }
  }
}
