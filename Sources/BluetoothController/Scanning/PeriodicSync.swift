import BluetoothRadio
import BluetoothWire

/// The reception of one periodic advertising train · Vol 6, Part B, 4.4.5.
struct PeriodicSync {
  /// The reason why the train is received.
  enum Origin {
    /// The host's command LE Periodic Advertising Create Sync.
    case created
    /// A transfer from the peer of a connection.
    case transferred(HCI.ConnectionHandle, serviceData: UInt16)
  }

  /// The number of events without reception after which synchronization fails · Vol 4, Part E, 7.7.65.14.
  private static let establishmentEvents = 6

  let handle: HCI.SyncHandle
  let activityID: RadioScheduler.ActivityID
  let origin: Origin
  let advertiser: PeerIdentity
  let advertisingSID: UInt8
  let phy: RadioPHY
  /// The SyncInfo as received; later changes of the train are not in it.
  let info: LL.SyncInfo
  private let keeping: HCI.SyncKeeping
  private let selection: LL.ChannelSelection

  private var channelMap: ChannelMap
  /// The next channel map, and the counter of the first event that uses it.
  private var nextMap: (map: ChannelMap, instant: UInt16)?
  private(set) var schedule: EventSchedule
  private(set) var isEstablished = false
  private var failures = 0
  private var hasHeard = false
  /// The time at which the synchronization timeout expires if no packet arrives; `distantFuture` until the first
  /// packet.
  private(set) var deadline = Instant.distantFuture
  /// The last AUX_SYNC_IND received.
  private(set) var lastHeard: (counter: UInt16, start: Instant)?
  /// The number of consecutive events for which the radio was not free.
  private var losses = 0

  /// The window of AUX_CHAIN_IND; nil if none is expected.
  private(set) var chain: AuxiliaryWindow?

  var isReporting: Bool
  var filtersDuplicates: Bool
  /// The ADI of the data being received; `reportedInfo` is the ADI of the last data completely reported.
  private(set) var dataInfo: LL.AdvertisingDataInfo?
  private var reportedInfo: LL.AdvertisingDataInfo?
  private(set) var reportedLength = 0
  /// True if the host waits for more data of an event.
  private(set) var isReportOpen = false
  private(set) var transmitPower: Int8?

  /// Creates the reception of a train.
  ///
  /// - Parameter schedule: the schedule of the train; its event 0 is the one with the counter in `info`.
  init(
    handle: HCI.SyncHandle, activityID: RadioScheduler.ActivityID, origin: Origin, advertiser: PeerIdentity,
    advertisingSID: UInt8,
    phy: RadioPHY, info: LL.SyncInfo, schedule: EventSchedule, keeping: HCI.SyncKeeping,
    enable: HCI.PeriodicAdvertisingReceiveEnable
  ) {
    self.handle = handle
    self.activityID = activityID
    self.origin = origin
    self.advertiser = advertiser
    self.advertisingSID = advertisingSID
    self.phy = phy
    self.info = info
    self.schedule = schedule
    self.keeping = keeping
    channelMap = info.channelMap
    selection = .algorithm2(accessAddress: info.accessAddress)
    isReporting = enable.contains(.reporting)
    filtersDuplicates = enable.contains(.filtersDuplicates)
  }

  /// paEventCounter of the next event.
  var counter: UInt16 { counter(of: schedule.next) }
  private func counter(of event: Int) -> UInt16 { info.eventCounter &+ UInt16(truncatingIfNeeded: event) }

  private var timeout: TimeSpan { HCI.SyncKeeping.timeoutUnit * Int64(keeping.timeout) }

  /// True if synchronization has failed: no packet arrived in the events for its establishment.
  var hasFailed: Bool { !isEstablished && failures >= Self.establishmentEvents }

  // MARK: Events

  /// The timeslot of the next packet on the radio.
  var timeslot: TimeslotRequest {
    if let chain { return chain.timeslot(losses: losses) }
    let listening = schedule.listeningEnds - schedule.start
    return TimeslotRequest(
      purpose: .periodic, start: schedule.start, latestStart: schedule.listeningEnds,
      shortest: listening + LL.interFrameSpace, longest: listening + phy.longestPacket, losses: losses,
      isUrgent: isEstablished && deadline - schedule.start < schedule.interval * 2)
  }

  /// Listens for the next packet. Called when the radio is available.
  mutating func begin() -> RadioStep {
    losses = 0
    if let chain { return .command(chain.command(accessAddress: info.accessAddress, crcInit: info.crcInit)) }
    let channel = selection.channel(event: Int(counter), map: map(at: counter)).radioChannel
    return .command(
      .receive(
        on: channel, phy: phy, accessAddress: info.accessAddress, crcInit: info.crcInit, until: schedule.listeningEnds))
  }

  private mutating func map(at counter: UInt16) -> ChannelMap {
    if let nextMap, Int16(bitPattern: counter &- nextMap.instant) >= 0 {
      channelMap = nextMap.map
      self.nextMap = nil
    }
    return channelMap
  }

  mutating func lose() { losses += 1 }

  /// Sets the maximum error of the local sleep clock from now on, parts per million.
  mutating func setOwnAccuracy(_ accuracy: Int64) { schedule.setOwnAccuracy(accuracy) }

  /// Processes an AUX_SYNC_IND that began at `start`.
  mutating func heard(_ payload: LL.ExtendedAdvertisingPayload, from start: Instant) {
    schedule.anchored(at: start)
    lastHeard = (counter, start)
    // After a sync transfer, the schedule has used the sender's clock accuracy; from now on the advertiser's applies.
    if !isEstablished { schedule.setPeerAccuracy(info.sleepClockAccuracy.partsPerMillion) }
    isEstablished = true
    hasHeard = true
    deadline = start + timeout
    transmitPower = payload.transmitPower
    dataInfo = payload.dataInfo
    reportedLength = 0
    guard let update = ChannelMapUpdate(in: payload.additionalData), update.map.isValid else { return }
    nextMap = (update.map, update.instant)
  }

  /// Returns the first event that certainly begins after `instant`.
  func event(after instant: Instant) -> Int {
    var event = schedule.next
    let ahead = (schedule.anchor(of: event) - instant).nanoseconds / schedule.interval.nanoseconds
    event -= Int(ahead)
    while schedule.anchor(of: event) - instant < LL.interFrameSpace { event += 1 }
    return event
  }

  /// Returns the SyncInfo of `event`, with the offset from `anchor`.
  func syncInfo(of event: Int, from anchor: Instant) -> LL.SyncInfo {
    var result = info
    result.eventCounter = counter(of: event)
    result.channelMap = channelMap
    if let nextMap, Int16(bitPattern: result.eventCounter &- nextMap.instant) >= 0 { result.channelMap = nextMap.map }
    result.span = schedule.anchor(of: event) - anchor
    return result
  }

  /// True if the host gets reports of the data being received.
  var wantsData: Bool { isReporting && !(filtersDuplicates && dataInfo != nil && dataInfo == reportedInfo) }

  /// True if AUX_CHAIN_IND belongs to the packet before it.
  func continues(_ payload: LL.ExtendedAdvertisingPayload) -> Bool {
    payload.dataInfo == nil || payload.dataInfo == dataInfo
  }

  /// Records that `count` octets were reported to the host. `next` is the window of the next packet, if any;
  /// `isComplete`: the data are complete.
  mutating func reported(_ count: Int, next: AuxiliaryWindow?, isComplete: Bool) {
    reportedLength += count
    chain = next
    isReportOpen = next != nil
    if isComplete { reportedInfo = dataInfo }
  }

  /// Ends a packet, received or not. Ends the event, too, unless a chain follows.
  mutating func endPacket() {
    guard chain == nil else { return }
    if !hasHeard { failures += 1 }
    schedule.advance(skipping: hasHeard && isEstablished ? skip : 0)
    hasHeard = false
  }

  /// Ends a chain of which a packet is missing.
  mutating func breakChain() {
    chain = nil
    isReportOpen = false
  }

  /// The number of events to skip, so that at least two events remain before the synchronization timeout.
  private var skip: Int {
    var count = schedule.skippable(latency: Int(keeping.skip))
    while count > 0, schedule.anchor(of: schedule.next + count + 2) >= deadline { count -= 1 }
    return count
  }

  /// Skips events whose time has passed.
  mutating func catchUp(to now: Instant) {
    guard schedule.listeningEnds <= now else { return }
    let missed = (now - schedule.listeningEnds).nanoseconds / schedule.interval.nanoseconds
    schedule.advance(skipping: Int(missed))
    if schedule.listeningEnds <= now { schedule.advance() }
  }
}
