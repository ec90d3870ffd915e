import BluetoothRadio
import BluetoothWire

/// The advertising state of one set: its events on the primary channels, and the auxiliary packets that they announce ·
/// Vol 6, Part B, 4.4.2.
struct Advertiser {
  /// The result of a received packet.
  enum Outcome {
    case goesOn(RadioStep)
    /// A scanner has sent a request and gets a response.
    case scanned(RadioStep, by: DeviceAddress)
    /// A central requests a connection; the controller decides whether to accept it.
    case asked(ConnectRequest)
    /// The connection is established.
    case connected(ConnectRequest)
  }

  /// The timeslot of the announced auxiliary packets.
  typealias AuxiliaryTimeslot = (activityID: RadioScheduler.ActivityID, timeslot: TimeslotRequest?)

  /// The next timeslots on the radio.
  struct Timeslots {
    let activityID: RadioScheduler.ActivityID
    /// The timeslot of the primary channels; nil: the auxiliary packets of the event come first.
    let timeslot: TimeslotRequest?
    /// The timeslot of the auxiliary packets; nil: the set has none.
    let auxiliary: AuxiliaryTimeslot?
    /// True if the last event has ended.
    let hasReachedLimit: Bool
  }

  private enum Phase {
    case idle
    case advertising
    case listening
    case beforeResponse
    case responding
  }

  /// The durations of CONNECT_IND and SCAN_REQ on LE 1M, which legacy PDUs use.
  private static let connectTime = Modulation.le1M.airTime(payloadOctets: 34)
  private static let scanTime = Modulation.le1M.airTime(payloadOctets: 12)
  /// The PDU types to which an advertiser reacts: bit n for the type n.
  private static let requestTypes: UInt16 =
    1 << LL.AdvertisingPDUType.scanReq.rawValue | 1 << LL.AdvertisingPDUType.connectInd.rawValue

  private(set) var identity: AdvertiserIdentity
  /// The number of the set's activity in the scheduler.
  let activityID: RadioScheduler.ActivityID
  private(set) var events: AdvertisingEvents
  /// The legacy advertising PDU, with SCAN_RSP in `response`; or an ADV_EXT_IND of the right length, which
  /// `extendedPacket` replaces before transmission.
  private var packet: AirPacket
  private var response: AirPacket?
  /// The longest exchange that may follow a packet on a primary channel; zero if the set expects no request.
  private var exchangeTime = TimeSpan.zero
  /// The auxiliary packets to which ADV_EXT_IND points; nil: none, as with legacy PDUs.
  var auxiliary: AuxiliaryAdvertiser?
  private var phase = Phase.idle

  init(
    _ identity: AdvertiserIdentity, content: AdvertisingContent, events: AdvertisingEvents,
    auxiliary: AuxiliaryAdvertiser?, activityID: RadioScheduler.ActivityID, pool: PacketPool
  ) {
    self.identity = identity
    self.events = events
    self.auxiliary = auxiliary
    self.activityID = activityID
    packet = AirPacket(accessAddress: 0, crcInit: 0, header: 0, payload: ByteSlice())
    setContent(content, in: pool)
  }

  /// Sets the data, which the next packet carries.
  mutating func setContent(_ content: AdvertisingContent, in pool: PacketPool) {
    if identity.properties.usesLegacyPDUs {
      packet = identity.legacyPDU(data: content.data).packet(in: pool)
      let response = LL.AdvertisingPDU.scanRsp(advertiser: identity.own, data: content.response)
      self.response = identity.properties.isScannable ? response.packet(in: pool) : nil
      exchangeTime = exchange(scanResponse: self.response)
    } else {
      auxiliary?.setContent(content)
      packet = extendedPacket(at: .zero, in: pool)
    }
  }

  /// Changes the addresses from the next packet on.
  mutating func setIdentity(_ identity: AdvertiserIdentity, content: AdvertisingContent, in pool: PacketPool) {
    self.identity = identity
    auxiliary?.identity = identity
    setContent(content, in: pool)
  }

  // MARK: Timeslots

  /// Returns the next timeslots on the radio. Read-only; `mutating` avoids a copy.
  mutating func timeslots(hasSyncInfo: Bool) -> Timeslots {
    // Legacy PDUs have no auxiliary packets, so nothing else is read.
    guard !identity.properties.usesLegacyPDUs else {
      let time = packet.airTime(identity.properties.primary)
      return Timeslots(
        activityID: activityID,
        timeslot: events.timeslot(shortest: time, longest: longest(time), last: .distantFuture),
        auxiliary: nil, hasReachedLimit: events.isBetweenEvents && events.hasReachedLimit)
    }
    let isPending = auxiliary?.isPending ?? false
    return Timeslots(
      activityID: activityID, timeslot: isPending && events.isBetweenEvents ? nil : timeslot(),
      auxiliary: auxiliaryTimeslot(hasSyncInfo: hasSyncInfo),
      hasReachedLimit: events.isBetweenEvents && !isPending && events.hasReachedLimit)
  }

  private mutating func auxiliaryTimeslot(hasSyncInfo: Bool) -> AuxiliaryTimeslot? {
    guard let activityID = auxiliary?.activityID else { return nil }
    return (activityID, auxiliary?.timeslot(hasSyncInfo: hasSyncInfo))
  }

  /// Begins an event: schedules its auxiliary packets.
  mutating func announce(at now: Instant, hasSyncInfo: Bool, scheduler: RadioScheduler) -> AuxiliaryTimeslot? {
    guard auxiliary != nil, events.isBetweenEvents else { return nil }
    let earliest = earliestAuxiliary(at: now)
    auxiliary?.announce(from: earliest, hasSyncInfo: hasSyncInfo, scheduler: scheduler)
    return auxiliaryTimeslot(hasSyncInfo: hasSyncInfo)
  }

  /// True if the next packet is the first of an event. Read-only; `mutating` avoids a copy.
  var isBetweenEvents: Bool {
    mutating get { events.isBetweenEvents }
  }

  /// Returns the timeslot of the next packet on a primary channel. Read-only; `mutating` avoids a copy.
  private mutating func timeslot() -> TimeslotRequest {
    let packetTime = packet.airTime(identity.properties.primary)
    // ADV_EXT_IND must end at least T_MAFS before the auxiliary packet that it announces.
    let last = auxiliary?.nextStart.map { $0 - LL.minimumAuxiliaryFrameSpace - packetTime } ?? .distantFuture
    return events.timeslot(shortest: packetTime, longest: longest(packetTime), last: last)
  }

  /// Returns the maximum time that one channel needs the radio: the packet and the longest exchange that may follow.
  private func longest(_ packetTime: TimeSpan) -> TimeSpan { packetTime + LL.interFrameSpace + exchangeTime }

  /// Returns the longest exchange that may follow a legacy PDU.
  private func exchange(scanResponse: AirPacket?) -> TimeSpan {
    guard identity.properties.isAnswerable else { return .zero }
    guard let scanResponse else { return Self.connectTime }
    return max(Self.connectTime, Self.scanTime + LL.interFrameSpace + scanResponse.airTime(.le1M))
  }

  /// Returns the earliest start of an auxiliary packet if the event begins now.
  private func earliestAuxiliary(at now: Instant) -> Instant {
    let properties = identity.properties
    let packets = (packet.airTime(properties.primary) + AdvertisingEvents.channelPause) * Int64(properties.channelCount)
    return now + packets + LL.minimumAuxiliaryFrameSpace
  }

  // MARK: Packets on the primary channels

  mutating func begin(at now: Instant, in pool: PacketPool) -> RadioStep {
    events.begin(at: now)
    phase = .advertising
    let packet = identity.properties.usesLegacyPDUs ? packet : extendedPacket(at: now, in: pool)
    return .command(
      .transmit(
        packet, on: events.channel, modulation: identity.properties.primary, power: identity.properties.power))
  }

  mutating func transmitted(at now: Instant) -> RadioStep {
    let properties = identity.properties
    guard case .advertising = phase, properties.usesLegacyPDUs, properties.isAnswerable else { return .done }
    phase = .listening
    return .command(
      .receive(
        on: events.channel, phy: .le1M, accessAddress: LL.advertisingAccessAddress, crcInit: LL.advertisingCRCInit,
        until: RadioTiming.answerTimeout(after: now)))
  }

  /// Processes a packet received while the advertiser listens for a request.
  mutating func received(
    _ packet: AirPacket, isIntact: Bool, acceptList: AcceptList, resolvingList: inout ResolvingList, at now: Instant
  ) -> Outcome {
    switch identity.request(
      in: packet, isIntact: isIntact, acceptList: acceptList, resolvingList: &resolvingList, at: now)
    {
    case .scan(let scanner):
      phase = .beforeResponse
      return .scanned(.wait(until: now + LL.interFrameSpace), by: scanner)
    case .connect(let request): return .asked(request)
    case nil: return .goesOn(.done)
    }
  }

  /// Sends the response when the interframe space after a SCAN_REQ has elapsed.
  mutating func timeReached() -> RadioStep {
    guard case .beforeResponse = phase, let response else { return .done }
    phase = .responding
    return .command(.transmit(response, on: events.channel, modulation: .le1M, power: identity.properties.power))
  }

  /// Ends a packet. Called when the set has released the radio.
  mutating func endPacket(at now: Instant, random: inout RandomStream) {
    phase = .idle
    _ = events.endPacket(at: now, random: &random)
  }

  /// Handles a packet for which the radio was not free in time.
  mutating func losePacket(at now: Instant, random: inout RandomStream) {
    // Cancels auxiliary packets that no ADV_EXT_IND has announced.
    if !events.losePacket(at: now, random: &random) { auxiliary?.cancel() }
  }

  /// The set as repeated advertising; nil if it uses extended PDUs, has a limit, or if an event is in progress.
  /// Read-only; `mutating` avoids a copy.
  var repeatedAdvertising: RepeatedAdvertising? {
    mutating get {
      let properties = identity.properties
      guard properties.usesLegacyPDUs, !properties.isHighDutyCycle, events.isEndless, events.isBetweenEvents else {
        return nil
      }
      return RepeatedAdvertising(
        packet: packet, modulation: properties.primary, power: properties.power,
        channels: PrimaryChannels(map: properties.channelMap),
        pause: AdvertisingEvents.channelPause,
        requestWindow: properties.isAnswerable
          ? RequestWindow(length: RadioTiming.answerTimeout, requestTypes: Self.requestTypes) : nil)
    }
  }

  /// Counts an event that has been run on behalf of the set and has ended at `end`.
  mutating func endEvent(at end: Instant, random: inout RandomStream) { events.endEvent(at: end, random: &random) }

  /// Skips the events that end at `limit` or before, and returns their packets.
  mutating func skip(until limit: Instant, random: inout RandomStream) -> SkippedPackets? {
    let time = packet.airTime(identity.properties.primary)
    guard let (count, end) = events.skip(until: limit, packetTime: time, random: &random) else { return nil }
    return SkippedPackets(count: count, airTime: time * Int64(count), power: identity.properties.power, end: end)
  }

  /// Returns the ADV_EXT_IND to send at `now` · 2.3.1.5.
  private func extendedPacket(at now: Instant, in pool: PacketPool) -> AirPacket {
    let properties = identity.properties
    var payload = LL.ExtendedAdvertisingPayload(mode: identity.mode)
    if properties.includesTransmitPower { payload.transmitPower = properties.power.hciLevel }
    if let auxiliary {
      payload.dataInfo = auxiliary.dataInfo
      payload.auxiliary = auxiliary.pointer(from: now)
    } else {
      payload.advertiser = identity.own
      payload.target = identity.target
    }
    return LL.AdvertisingPDU.extended(payload).packet(in: pool)
  }
}

extension AdvertiserIdentity {
  /// The AdvMode of the set's extended PDUs.
  var mode: LL.ExtendedAdvertisingPayload.Mode {
    properties.isConnectable ? .connectable : properties.isScannable ? .scannable : .nonConnectable
  }

  fileprivate func legacyPDU(data: ByteSlice) -> LL.AdvertisingPDU {
    if properties.isDirected {
      return .advDirectInd(
        advertiser: own, target: target ?? DeviceAddress(0, .public), usesAlgorithm2: properties.knowsAlgorithm2)
    }
    if properties.isConnectable {
      return .advInd(advertiser: own, data: data, usesAlgorithm2: properties.knowsAlgorithm2)
    }
    return properties.isScannable
      ? .advScanInd(advertiser: own, data: data) : .advNonconnInd(advertiser: own, data: data)
  }
}
