import BluetoothRadio
import BluetoothWire

/// The reception of one periodic advertising train · Vol 6, Part B, 4.4.5.
struct PeriodicSync {
  /// Why the train is received.
  enum Origin {
    /// LE Periodic Advertising Create Sync.
    case created
    /// The peer of a connection has told of it.
    case transferred(HCI.ConnectionHandle, serviceData: UInt16)
  }

  /// A train that is not heard in so many events is never heard · Vol 4, Part E, 7.7.65.14.
  private static let establishmentEvents = 6

  let handle: HCI.SyncHandle
  let place: RadioAgenda.Place
  let origin: Origin
  let advertiser: PeerIdentity
  let advertisingSID: UInt8
  let phy: PHY
  /// As it was told; what changes in it is the train's matter.
  let info: LL.SyncInfo
  private let keeping: HCI.SyncKeeping
  private let selection: LL.ChannelSelection

  private var channelMap: ChannelMap
  /// The map from the event with this counter on.
  private var nextMap: (map: ChannelMap, instant: UInt16)?
  private(set) var schedule: EventSchedule
  private(set) var isEstablished = false
  private var failures = 0
  private var hasHeard = false
  /// When the train is lost unless it is heard before; `distantFuture` until it has been heard.
  private(set) var deadline = Instant.distantFuture
  /// The last AUX_SYNC_IND that has come.
  private(set) var lastHeard: (counter: UInt16, start: Instant)?
  /// How often in a row the radio was not free.
  private var losses = 0

  /// Of AUX_CHAIN_IND, while one is to come.
  private(set) var chain: AuxiliaryWindow?

  var isReporting: Bool
  var filtersDuplicates: Bool
  /// ADI of what is being received, and of what the host has wholly.
  private(set) var dataInfo: LL.AdvertisingDataInfo?
  private var reportedInfo: LL.AdvertisingDataInfo?
  private(set) var reportedLength = 0
  /// The host waits for more of an event's data.
  private(set) var isReportOpen = false
  private(set) var transmitPower: Int8?

  /// - Parameter window: when the event begins whose counter `info` tells.
  init(
    handle: HCI.SyncHandle, place: RadioAgenda.Place, origin: Origin, advertiser: PeerIdentity, advertisingSID: UInt8,
    phy: PHY, info: LL.SyncInfo, schedule: EventSchedule, keeping: HCI.SyncKeeping,
    enable: HCI.PeriodicAdvertisingReceiveEnable
  ) {
    self.handle = handle
    self.place = place
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

  /// The train was never heard in as many events as there were to hear it.
  var hasFailed: Bool { !isEstablished && failures >= Self.establishmentEvents }

  // MARK: Events

  /// What the next packet needs of the radio.
  var claim: RadioClaim {
    if let chain { return chain.claim(losses: losses) }
    let listening = schedule.listeningEnds - schedule.start
    return RadioClaim(
      purpose: .periodic, start: schedule.start, latestStart: schedule.listeningEnds,
      shortest: listening + LL.interFrameSpace, longest: listening + phy.longestPacket, losses: losses,
      isUrgent: isEstablished && deadline - schedule.start < schedule.interval * 2)
  }

  /// The radio is there for the next packet.
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

  /// This device's sleep clock is as wrong as this at most from now on, parts per million.
  mutating func setOwnAccuracy(_ accuracy: Int64) { schedule.setOwnAccuracy(accuracy) }

  /// AUX_SYNC_IND that began at `start` has come.
  mutating func heard(_ payload: LL.ExtendedAdvertisingPayload, from start: Instant) {
    schedule.anchored(at: start)
    lastHeard = (counter, start)
    // Whoever told of the train does not matter any more.
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

  /// The first event that begins surely after `instant`.
  func event(after instant: Instant) -> Int {
    var event = schedule.next
    let ahead = (schedule.anchor(of: event) - instant).nanoseconds / schedule.interval.nanoseconds
    event -= Int(ahead)
    while schedule.anchor(of: event) - instant < LL.interFrameSpace { event += 1 }
    return event
  }

  /// What somebody needs to know of `event` who counts from `anchor`.
  func syncInfo(of event: Int, from anchor: Instant) -> LL.SyncInfo {
    var result = info
    result.eventCounter = counter(of: event)
    result.channelMap = channelMap
    if let nextMap, Int16(bitPattern: result.eventCounter &- nextMap.instant) >= 0 { result.channelMap = nextMap.map }
    result.span = schedule.anchor(of: event) - anchor
    return result
  }

  /// Whether the host is told of what has begun to come.
  var wantsData: Bool { isReporting && !(filtersDuplicates && dataInfo != nil && dataInfo == reportedInfo) }

  /// Whether AUX_CHAIN_IND belongs to what came before it.
  func continues(_ payload: LL.ExtendedAdvertisingPayload) -> Bool {
    payload.dataInfo == nil || payload.dataInfo == dataInfo
  }

  /// The host has `count` octets more, and waits for what `next` has, or for nothing more; `isComplete`: it has all.
  mutating func reported(_ count: Int, next: AuxiliaryWindow?, isComplete: Bool) {
    reportedLength += count
    chain = next
    isReportOpen = next != nil
    if isComplete { reportedInfo = dataInfo }
  }

  /// A packet of the event has come, or has not; the event is over unless there is a chain.
  mutating func endPacket() {
    guard chain == nil else { return }
    if !hasHeard { failures += 1 }
    schedule.advance(skipping: hasHeard && isEstablished ? skip : 0)
    hasHeard = false
  }

  /// What was announced has not come.
  mutating func breakChain() {
    chain = nil
    isReportOpen = false
  }

  /// How many events are left out: no more than leave two chances before the train would be lost.
  private var skip: Int {
    var count = schedule.skippable(latency: Int(keeping.skip))
    while count > 0, schedule.anchor(of: schedule.next + count + 2) >= deadline { count -= 1 }
    return count
  }

  /// Events whose time has passed are left out.
  mutating func catchUp(to now: Instant) {
    guard schedule.listeningEnds <= now else { return }
    let missed = (now - schedule.listeningEnds).nanoseconds / schedule.interval.nanoseconds
    schedule.advance(skipping: Int(missed))
    if schedule.listeningEnds <= now { schedule.advance() }
  }
}
