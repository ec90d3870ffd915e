import BluetoothRadio
import BluetoothWire

/// The parameters of a periodic advertising train · Vol 4, Part E, 7.8.61.
struct PeriodicAdvertisingProperties {
  /// The interval of the train, in units of 1.25 ms, 6 to 65,535: one of `intervals`.
  var interval: UInt16
  /// The range from Periodic_Advertising_Interval_Min to Periodic_Advertising_Interval_Max.
  var intervals: ClosedRange<UInt16>
  var includesTransmitPower: Bool
}

/// A periodic advertising train: AUX_SYNC_IND at fixed intervals, and AUX_CHAIN_IND with the data that do not fit
/// into it · Vol 6, Part B, 4.4.2.12.
struct PeriodicAdvertiser {
  let activityID: RadioScheduler.ActivityID
  /// The identity of the train: the address and the SID of the set when the train began.
  let advertiser: DeviceAddress
  let sid: UInt8
  let properties: PeriodicAdvertisingProperties
  let modulation: Modulation
  let accessAddress: UInt32
  let crcInit: UInt32
  var sleepClockAccuracy: LL.SleepClockAccuracy
  private let power: Decibel
  private let clock: SleepClock
  private let selection: LL.ChannelSelection
  private var channels: AnnouncedChannelMap

  /// AdvData of the train, and the ADI if the train includes it.
  private var data: ByteSlice
  private var dataInfo: LL.AdvertisingDataInfo?

  /// The start of the train.
  private let reference: Instant
  /// paEventCounter without its 16-bit limit: the next event, or the event whose chain is being sent.
  private var event = 0
  private var chain: AuxiliaryChain?
  private var losses = 0

  init(
    _ properties: PeriodicAdvertisingProperties, of identity: AdvertiserIdentity, data: ByteSlice,
    dataInfo: LL.AdvertisingDataInfo?, sleepClockAccuracy: LL.SleepClockAccuracy, channelMap: ChannelMap,
    clock: SleepClock, activityID: RadioScheduler.ActivityID, random: inout RandomStream, start: Instant
  ) {
    self.properties = properties
    self.data = data
    self.dataInfo = dataInfo
    self.sleepClockAccuracy = sleepClockAccuracy
    channels = AnnouncedChannelMap(channelMap)
    self.clock = clock
    self.activityID = activityID
    advertiser = identity.own
    sid = identity.properties.sid
    modulation = identity.properties.secondary
    power = identity.properties.power
    accessAddress = LL.randomAccessAddress(using: &random)
    crcInit = UInt32(truncatingIfNeeded: random.next()) & 0xFF_FFFF
    selection = .algorithm2(accessAddress: accessAddress)
    reference = start
  }

  /// Sets the data, which the next event carries.
  mutating func setData(_ data: ByteSlice, _ dataInfo: LL.AdvertisingDataInfo?) {
    self.data = data
    self.dataInfo = dataInfo
  }

  /// Changes the channel map; receivers of the train get an announcement first.
  mutating func setChannelMap(_ map: ChannelMap) { channels.change(to: map, from: upcomingEvent) }

  /// The first event of which no packet has been sent.
  private var upcomingEvent: Int { chain == nil ? event : event + 1 }

  var interval: TimeSpan { LL.SyncInfo.intervalUnit * Int64(properties.interval) }

  func start(of event: Int) -> Instant { clock.instant(interval * Int64(event), after: reference) }

  /// Returns the first event from `earliest` on.
  func event(notBefore earliest: Instant) -> Int {
    // An event that has begun is too late for a device that has yet to receive the SyncInfo.
    var event = max(event, Int((earliest - reference).nanoseconds / interval.nanoseconds))
    while start(of: event) < earliest { event += 1 }
    return event
  }

  /// Returns the SyncInfo of `event`, with the offset from `now`.
  func syncInfo(of event: Int, from now: Instant) -> LL.SyncInfo {
    var result = LL.SyncInfo(
      offset: .none, isAdjusted: false, interval: properties.interval, channelMap: channels.map(at: event),
      sleepClockAccuracy: sleepClockAccuracy, accessAddress: accessAddress, crcInit: crcInit,
      eventCounter: UInt16(truncatingIfNeeded: event))
    result.span = start(of: event) - now
    return result
  }

  /// paEventCounter of the last AUX_SYNC_IND.
  var lastEvent: UInt16 { UInt16(truncatingIfNeeded: chain == nil ? event - 1 : event) }

  /// True if all packets of an event end before the next event.
  static func canCarry(_ data: ByteSlice, interval: TimeSpan, modulation: Modulation) -> Bool {
    let maximum = LL.ExtendedAdvertisingPayload.maximumLength
    // The first packet may have ADI, AuxPtr, TxPower and a Channel Map Update Indication.
    let packets = 1 + data.count / (maximum - 18)
    return (modulation.airTime(payloadOctets: maximum) + LL.minimumAuxiliaryFrameSpace) * Int64(packets) < interval
      || packets == 1
  }

  // MARK: Events

  private var fields: LL.ExtendedAdvertisingPayload {
    guard chain == nil else { return LL.ExtendedAdvertisingPayload(dataInfo: dataInfo) }
    return LL.ExtendedAdvertisingPayload(
      dataInfo: dataInfo, transmitPower: properties.includesTransmitPower ? power.hciLevel : nil,
      additionalData: channels.announcement)
  }

  var timeslot: TimeslotRequest {
    if let chain, let link = chain.next {
      let length = chain.length(fields)
      return TimeslotRequest(
        purpose: .auxiliary, start: link.start, latestStart: link.start, shortest: length, longest: length)
    }
    let start = start(of: event)
    var payload = fields
    payload.data = data
    let length = modulation.airTime(payloadOctets: min(payload.length, LL.ExtendedAdvertisingPayload.maximumLength))
    return TimeslotRequest(
      purpose: .periodic, start: start, latestStart: start + RadioTiming.anchorJitter, shortest: length,
      longest: length, losses: losses)
  }

  /// Sends the next packet. Called when the radio is available.
  mutating func begin(at now: Instant, scheduler: RadioScheduler, in pool: PacketPool) -> RadioStep {
    losses = 0
    let fields = fields
    let (selection, event, map) = (selection, event, channels.map(at: event))
    let channel: ChannelIndex
    if let link = chain?.next {
      channel = link.channel
    } else {
      channel = selection.channel(event: event, map: map)
      chain = AuxiliaryChain(
        data, modulation: modulation, isClockAccurate: sleepClockAccuracy.partsPerMillion <= 50,
        first: AuxiliaryChain.Link(start: now, channel: channel))
    }
    let payload = chain?.take(fields, at: now, scheduler: scheduler) { sent in
      selection.channel(event: event + sent, map: map)
    }
    let packet = LL.AdvertisingPDU.extended(payload ?? fields).packet(
      in: pool, accessAddress: accessAddress, crcInit: crcInit)
    return .command(.transmit(packet, on: channel.radioChannel, modulation: modulation, power: power))
  }

  /// Ends a packet.
  mutating func end() {
    // The next event has priority over the rest of the chain.
    if let link = chain?.next, link.start < start(of: event + 1) - LL.minimumAuxiliaryFrameSpace { return }
    advance()
  }

  /// Skips the event, because the radio was not free at the announced time.
  mutating func lose() {
    if chain == nil { losses += 1 }
    advance()
  }

  private mutating func advance() {
    chain = nil
    event += 1
    channels.advance(to: event)
  }
}
