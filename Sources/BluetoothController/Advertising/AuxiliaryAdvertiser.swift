import BluetoothRadio
import BluetoothWire

/// The auxiliary packets of a set: AUX_ADV_IND on a secondary channel, the requests that it receives, and
/// AUX_CHAIN_IND with the data that do not fit into it · Vol 6, Part B, 4.4.2.
struct AuxiliaryAdvertiser {
  private enum Phase {
    /// The time before AUX_ADV_IND.
    case announced
    case advertising
    case listening
    case beforeScanResponse
    case beforeConnectResponse(ConnectRequest)
    case connecting(ConnectRequest)
    /// The transmission of AUX_CHAIN_IND, also after AUX_SCAN_RSP.
    case chaining
  }

  /// The maximum delay of AUX_ADV_IND while the radio is in use.
  private static let maximumDelay = TimeSpan.milliseconds(10)
  /// The additional time that the primary channels need when the radio is busy.
  private static let crowdedMargin = TimeSpan.microseconds(2_500)

  var identity: AdvertiserIdentity
  let activityID: RadioScheduler.ActivityID
  var isClockAccurate: Bool
  private let selection: LL.ChannelSelection
  var channelMap: ChannelMap

  private var content: AdvertisingContent
  /// The event's packets; nil: no event is announced.
  private var chain: AuxiliaryChain?
  private var phase = Phase.announced
  /// The channel of the present packet, and of the exchange that follows AUX_ADV_IND.
  private var channel = ChannelIndex(0)
  private var counter = 0
  /// The number of consecutive announced packets that could not be sent.
  private var losses = 0

  /// Creates the auxiliary packets of a set.
  ///
  /// - Parameter identifier: a random number, so that different advertisers rarely choose the same channels.
  init(
    _ identity: AdvertiserIdentity, content: AdvertisingContent, identifier: UInt16, channelMap: ChannelMap,
    isClockAccurate: Bool, activityID: RadioScheduler.ActivityID
  ) {
    self.identity = identity
    self.content = content
    self.activityID = activityID
    self.channelMap = channelMap
    self.isClockAccurate = isClockAccurate
    selection = .algorithm2(identifier: identifier)
  }

  /// Sets the data, which the next event carries.
  mutating func setContent(_ content: AdvertisingContent) { self.content = content }

  private var modulation: Modulation { identity.properties.secondary }
  var dataInfo: LL.AdvertisingDataInfo {
    LL.AdvertisingDataInfo(sid: identity.properties.sid, did: content.dataID)
  }
  /// True if a packet of the event remains to be sent.
  var isPending: Bool { chain?.next != nil }
  var nextStart: Instant? { chain?.next?.start }

  /// Returns AuxPtr of a packet that begins at `now`.
  func pointer(from now: Instant) -> LL.AuxiliaryPointer {
    guard let chain, let link = chain.next else {
      return LL.AuxiliaryPointer(
        channel: ChannelIndex(0), isClockAccurate: isClockAccurate, offset: .none, phy: modulation.phy)
    }
    return chain.pointer(to: link, from: now)
  }

  // MARK: Planning

  /// Schedules AUX_ADV_IND at a time when the radio is free, not before `earliest`.
  mutating func announce(from earliest: Instant, hasSyncInfo: Bool, scheduler: RadioScheduler) {
    counter += 1
    phase = .announced
    let earliest = scheduler.next < earliest ? earliest + Self.crowdedMargin : earliest
    let start = scheduler.gap(
      of: duration(hasSyncInfo: hasSyncInfo), from: earliest, before: earliest + Self.maximumDelay)
    chain = AuxiliaryChain(
      indicationData, modulation: modulation, isClockAccurate: isClockAccurate,
      first: AuxiliaryChain.Link(start: start, channel: selection.channel(event: counter, map: channelMap)))
  }

  mutating func cancel() { chain = nil }

  /// Returns the timeslot of the next packet; nil: there is none.
  func timeslot(hasSyncInfo: Bool) -> TimeslotRequest? {
    guard let chain, let link = chain.next else { return nil }
    let packet = chain.length(fields(hasSyncInfo: hasSyncInfo))
    let longest: TimeSpan
    if case .announced = phase { longest = duration(hasSyncInfo: hasSyncInfo) } else { longest = packet }
    return TimeslotRequest(
      purpose: .auxiliary, start: link.start, latestStart: link.start, shortest: packet, longest: longest,
      losses: losses)
  }

  /// Returns the duration of AUX_ADV_IND and the longest exchange that may follow it immediately.
  private func duration(hasSyncInfo: Bool) -> TimeSpan {
    var indication = indication(hasSyncInfo: hasSyncInfo)
    indication.data = indicationData
    let packet = modulation.airTime(
      payloadOctets: min(indication.length, LL.ExtendedAdvertisingPayload.maximumLength))
    let properties = identity.properties
    guard properties.isAnswerable else { return packet }
    let request = modulation.airTime(payloadOctets: properties.isConnectable ? 34 : 12)
    var response = scanResponse
    response.data = content.response
    let octets = properties.isConnectable ? 14 : min(response.length, LL.ExtendedAdvertisingPayload.maximumLength)
    return packet + LL.interFrameSpace * 2 + request + modulation.airTime(payloadOctets: octets)
  }

  // MARK: PDUs

  /// Returns AUX_ADV_IND without its data · 2.3.1.6.
  private func indication(hasSyncInfo: Bool) -> LL.ExtendedAdvertisingPayload {
    let properties = identity.properties
    return LL.ExtendedAdvertisingPayload(
      mode: identity.mode, advertiser: properties.isAnonymous ? nil : identity.own, target: identity.target,
      dataInfo: dataInfo, syncInfo: hasSyncInfo ? .placeholder : nil,
      transmitPower: properties.includesTransmitPower ? properties.power.hciLevel : nil)
  }

  /// The data of AUX_ADV_IND; a scannable set sends its data in the response only.
  private var indicationData: ByteSlice { identity.properties.isScannable ? ByteSlice() : content.data }

  /// The AUX_SCAN_RSP of the set without its data · 2.3.2.3.
  private var scanResponse: LL.ExtendedAdvertisingPayload {
    LL.ExtendedAdvertisingPayload(advertiser: identity.own, dataInfo: dataInfo)
  }

  /// Returns the next packet without its data.
  private func fields(hasSyncInfo: Bool) -> LL.ExtendedAdvertisingPayload {
    if case .announced = phase { return indication(hasSyncInfo: hasSyncInfo) }
    return LL.ExtendedAdvertisingPayload(dataInfo: dataInfo)
  }

  // MARK: Events

  /// Sends the next packet. Called when the radio is available.
  mutating func begin(syncInfo: LL.SyncInfo?, at now: Instant, scheduler: RadioScheduler, in pool: PacketPool)
    -> RadioStep
  {
    guard let link = chain?.next else { return .done }
    losses = 0
    channel = link.channel
    var fields = fields(hasSyncInfo: syncInfo != nil)
    if case .announced = phase {
      fields.syncInfo = syncInfo
      phase = .advertising
    }
    return transmit(fields, at: now, scheduler: scheduler, in: pool)
  }

  /// Sends AUX_ADV_IND, AUX_SCAN_RSP or AUX_CHAIN_IND; data that do not fit go into later packets.
  private mutating func transmit(
    _ fields: LL.ExtendedAdvertisingPayload, at now: Instant, scheduler: RadioScheduler, in pool: PacketPool
  ) -> RadioStep {
    let (selection, counter, map) = (selection, counter, channelMap)
    let payload = chain?.take(fields, at: now, scheduler: scheduler) { sent in
      selection.channel(event: counter + sent, map: map)
    }
    return transmit(.extended(payload ?? fields), in: pool)
  }

  private func transmit(_ pdu: LL.AdvertisingPDU, in pool: PacketPool) -> RadioStep {
    .command(
      .transmit(
        pdu.packet(in: pool), on: channel.radioChannel, modulation: modulation, power: identity.properties.power))
  }

  mutating func transmitted(at now: Instant) -> Advertiser.Outcome {
    switch phase {
    case .advertising where identity.properties.isAnswerable:
      phase = .listening
      return .goesOn(
        .command(
          .receive(
            on: channel.radioChannel, phy: modulation.phy, accessAddress: LL.advertisingAccessAddress,
            crcInit: LL.advertisingCRCInit, until: RadioTiming.answerTimeout(after: now))))
    case .connecting(let request): return .connected(request)
    default:
      phase = .chaining
      return .goesOn(.done)
    }
  }

  /// Processes a packet received while the advertiser listens for a request.
  mutating func received(
    _ packet: AirPacket, isIntact: Bool, acceptList: AcceptList, resolvingList: inout ResolvingList, at now: Instant
  ) -> Advertiser.Outcome {
    switch identity.request(
      in: packet, isIntact: isIntact, acceptList: acceptList, resolvingList: &resolvingList, at: now)
    {
    case .scan(let scanner):
      phase = .beforeScanResponse
      return .scanned(.wait(until: now + LL.interFrameSpace), by: scanner)
    case .connect(let request): return .asked(request)
    case nil: return .goesOn(.done)
    }
  }

  /// Accepts a connection request: AUX_CONNECT_RSP follows.
  mutating func accept(_ request: ConnectRequest) -> RadioStep {
    phase = .beforeConnectResponse(request)
    return .wait(until: request.end + LL.interFrameSpace)
  }

  /// Sends the response when the interframe space after a request has elapsed.
  mutating func timeReached(at now: Instant, scheduler: RadioScheduler, in pool: PacketPool) -> RadioStep {
    switch phase {
    case .beforeScanResponse:
      phase = .chaining
      chain = AuxiliaryChain(
        content.response, modulation: modulation, isClockAccurate: isClockAccurate,
        first: AuxiliaryChain.Link(start: now, channel: channel))
      return transmit(scanResponse, at: now, scheduler: scheduler, in: pool)
    case .beforeConnectResponse(let request):
      phase = .connecting(request)
      return transmit(.auxConnectRsp(advertiser: identity.own, initiator: request.initiator), in: pool)
    default: return .done
    }
  }

  /// Drops the rest of the event, because the radio was not free at the announced time.
  mutating func lose() {
    losses += 1
    cancel()
  }
}

extension LL.SyncInfo {
  /// A value of the right length, which the transmitted SyncInfo replaces.
  static let placeholder = LL.SyncInfo(
    offset: .none, isAdjusted: false, interval: 0, channelMap: .all, sleepClockAccuracy: .upTo500, accessAddress: 0,
    crcInit: 0, eventCounter: 0)
}
