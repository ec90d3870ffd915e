// Design: the choices of the link layer
//
// At most one procedure of this device and one of the peer are in progress. Procedures with an instant (parameters,
// channel map, PHYs) exclude each other. Their agreed result is one `PendingUpdate` until its event comes: that event
// is planned with the change when the previous event is over, and the hosts are told when the change takes effect.
// Where the specification leaves a choice, the controller decides as follows:
// - A central that has its own procedure with an instant in progress rejects the peripheral's (0x23, 0x2A), even where
//   it could end the connection at once. A peripheral ends the connection if the central mixes two such procedures.
// - From a range of intervals, a central takes the longest that is a multiple or a divisor of the intervals of its
//   other connections, else the longest. Anchor points move only if the interval changes, or if the peripheral offers
//   some. The central asks with LL_CONNECTION_PARAM_REQ unless the peripheral is known to lack the procedure, by its
//   features or because it has answered LL_UNKNOWN_RSP; then the central decides alone.
// - Of the PHYs that both devices want, the fastest is used. LE Coded uses S=8 unless the host prefers S=2.
// - A peripheral skips no more events than its widened window can compensate. A peripheral that has no time left for a
//   long PDU answers with an empty one, so a central that was told of no more data reserves only the time of an empty
//   PDU: an event is full in either direction.
// - Channels are classified by the losses on them (`ChannelAssessment`). A channel is bad if it loses a fifth of the
//   packets or more, and five standard deviations more than the undisturbed channels. If all channels lose alike, the
//   peer is far away, and no channel is excluded. A bad channel is tried again after a minute; if it is still bad,
//   after twice the time, up to 16 minutes. A central that finds bad channels asks the peripheral for its channel
//   reports. `ConnectionStatistics` counts the events of each link, and the statistics of the last 64 ended links are
//   kept. A connection that ends before the peer's first packet is a failed attempt: the controller only counts it, by
//   peer (`AttemptReport`).

import BluetoothWire

/// One connection of the link layer · Vol 6, Part B, 4.5.
struct Connection {
  /// The state of a connection that is ending.
  enum Ending {
    /// The peer's LL_TERMINATE_IND has arrived and is not acknowledged yet.
    case afterAnswer(HCI.ErrorCode)
    /// The connection has ended, with the reason for the host.
    case over(HCI.ErrorCode)
  }

  /// The number of intervals without a packet after which a new connection counts as never established · 4.5.2.
  private static let establishmentEvents: Int64 = 6

  let handle: HCI.ConnectionHandle
  let role: ConnectionRole
  let own: DeviceAddress
  let peer: DeviceAddress
  let accessAddress: UInt32
  let crcInit: UInt32
  let transmitPower: Decibel
  let selection: LL.ChannelSelection
  /// The local device's version, for LL_VERSION_IND.
  let version: LL.VersionInformation
  /// The local device's accuracy, for LL_CLOCK_ACCURACY_REQ and LL_CLOCK_ACCURACY_RSP.
  private(set) var sleepClockAccuracy: LL.SleepClockAccuracy
  /// The local device's features.
  let features: HCI.LEFeatures

  /// The connection parameters in the units of HCI.
  var values: HCI.ConnectionValues
  var schedule: EventSchedule
  var channels: ConnectionChannels
  var phys: PHYState
  var lengths: DataLengthState
  var flow = LinkARQ()
  var procedures = ControlProcedures()
  var encryption: Encryption
  var statistics = ConnectionStatistics()

  /// True if a packet of the peer has ever arrived · 4.5.
  var isEstablished = false
  /// The time at which the connection is lost unless a packet arrives · 4.5.2.
  var supervisionDeadline: Instant
  var ending: Ending?
  /// The number of consecutive events missed because the radio was in use; the connection that has missed most events
  /// has priority.
  var missed = 0
  var event = ConnectionEventState()

  init(
    handle: HCI.ConnectionHandle, role: ConnectionRole, own: DeviceAddress, peer: DeviceAddress,
    data: LL.ConnectionData,
    usesAlgorithm2: Bool, auxiliaryPHY: RadioPHY? = nil, context: Context, delay: TimeSpan = .zero, at now: Instant
  ) {
    self.handle = handle
    self.role = role
    self.own = own
    self.peer = peer
    accessAddress = data.accessAddress
    crcInit = data.crcInit
    transmitPower = context.transmitPower
    version = context.version
    sleepClockAccuracy = context.sleepClockAccuracy
    features = context.features
    selection =
      usesAlgorithm2
      ? .algorithm2(accessAddress: data.accessAddress) : .algorithm1(hopIncrement: data.hop)
    channels = ConnectionChannels(
      map: data.channelMap, host: context.hostChannels, isAssessed: context.assessesChannels)
    values = HCI.ConnectionValues(interval: data.interval, latency: data.latency, supervisionTimeout: data.timeout)
    phys = PHYState(auxiliaryPHY ?? .le1M, preferences: context.preferredPHYs.possible(with: context.features))
    lengths = DataLengthState(preferred: context.preferredLength, phys: phys)
    encryption = Encryption(random: RandomStream(seed: context.seed))
    let interval = LinkParameters.intervalUnit * Int64(data.interval)
    let windowStart = context.clock.instant(
      LL.transmitWindowDelay(afterAuxiliaryPacketOn: auxiliaryPHY)
        + LinkParameters.intervalUnit * Int64(data.windowOffset) + delay, after: now)
    schedule = EventSchedule(
      role: role, interval: interval, windowStart: windowStart,
      windowSize: LinkParameters.intervalUnit * Int64(data.windowSize),
      ownAccuracy: context.sleepClockPartsPerMillion, peerAccuracy: data.sleepClockAccuracy.partsPerMillion,
      clock: context.clock, now: now)
    supervisionDeadline = now + interval * Self.establishmentEvents
    if role == .peripheral, features.contains(.minimumNumberOfUsedChannels), let minimum = context.minimumUsedChannels {
      procedures.enqueue(.minimumUsedChannels(minimum))
    }
  }

  /// The values that a controller gives to all its connections.
  struct Context {
    var clock: SleepClock
    var sleepClockAccuracy: LL.SleepClockAccuracy
    var sleepClockPartsPerMillion: Int64
    var transmitPower: Decibel
    var version: LL.VersionInformation
    var features: HCI.LEFeatures
    /// connInitialMaxTxOctets and connInitialMaxTxTime.
    var preferredLength: HCI.DataLength
    /// The preference of LE Set Default PHY.
    var preferredPHYs = LL.PHYPreferences(transmit: .all, receive: .all)
    /// The channels that the host does not classify as bad.
    var hostChannels = ChannelMap.all
    /// True if the connection excludes channels with high loss.
    var assessesChannels = true
    /// The minimum number of used channels that a peripheral requests from the central.
    var minimumUsedChannels: LL.MinimumUsedChannels?
    /// The seed of the connection's random numbers.
    var seed: UInt64
  }

  var channelMap: ChannelMap { channels.map }
  /// The level of the last packet received.
  var level: Decibel? { statistics.lastLevel }

  var interval: TimeSpan { schedule.interval }
  var supervisionTimeout: TimeSpan {
    LinkParameters.supervisionTimeoutUnit * Int64(values.supervisionTimeout)
  }

  /// The reason why the connection has ended; nil: it has not.
  var reasonForEnd: HCI.ErrorCode? {
    if case .over(let reason)? = ending { reason } else { nil }
  }

  /// The earliest expiry of the supervision timeout, the procedure response timeout and the timeout of an encryption
  /// procedure.
  private var end: Instant {
    min(supervisionDeadline, procedures.deadline ?? .distantFuture, encryption.deadline ?? .distantFuture)
  }

  /// The time of the next call of `checkDeadline`, apart from the connection's events.
  var deadline: Instant { min(end, encryption.payloadTimer.deadline ?? .distantFuture) }

  /// Ends the connection if a timeout has expired, and otherwise checks the authenticated payload timer.
  mutating func checkDeadline(at now: Instant, into output: inout HCIEventQueue) {
    guard reasonForEnd == nil else { return }
    guard now >= end else { return checkAuthenticatedPayload(at: now, into: &output) }
    if case .termination(let reason, _)? = procedures.active {
      // T_terminate has expired, or the peer does not respond · 5.1.6. The host requested the disconnection, so its
      // reason applies.
      ending = .over(reason)
    } else if now >= supervisionDeadline {
      ending = .over(isEstablished ? .connectionTimeout : .connectionFailedToBeEstablished)
    } else {
      ending = .over(.llResponseTimeout)
    }
  }

  /// Changes the accuracy of the local clock: adapts window widening, and informs the peer unless the peer does not
  /// support Sleep Clock Accuracy Updates.
  mutating func setSleepClock(
    _ accuracy: LL.SleepClockAccuracy, partsPerMillion: Int64, at now: Instant, into output: inout HCIEventQueue
  ) {
    sleepClockAccuracy = accuracy
    schedule.setOwnAccuracy(partsPerMillion)
    guard !procedures.peerLacks(.sleepClockAccuracyUpdates), !procedures.isFull else { return }
    begin(.clockAccuracyUpdate(isHosts: false), at: now, into: &output)
  }

  /// Queues an ACL packet from the host.
  mutating func send(_ packet: HCI.ACLData, at now: Instant) {
    flow.append(packet)
    schedule.hasten(at: now)
  }

  // MARK: Radio

  /// The number of intervals before the supervision timeout from which events are urgent.
  private static let urgentEvents: Int64 = 3

  /// The timeslot of the next event on the radio.
  var timeslot: TimeslotRequest {
    mutating get {
      let start = schedule.start
      // A peripheral listens in a window; a central transmits at a fixed time.
      let latestStart = role == .central ? start + RadioTiming.anchorJitter : schedule.listeningEnds
      return TimeslotRequest(
        purpose: .connection, start: start, latestStart: latestStart, shortest: minimumEnd - start,
        longest: longestEnd - start, losses: missed,
        isUrgent: supervisionDeadline - start < interval * Self.urgentEvents)
    }
  }

  /// The values that the connection table caches for a connection.
  struct Summary {
    var deadline: Instant
    var heldPackets: Int
    /// The timeslot of the next event; nil unless requested.
    var timeslot: TimeslotRequest?
  }

  /// Returns the values for the connection table; nil: the connection has ended. Read-only; `mutating` because a
  /// non-mutating call on an array element in a class would copy the connection.
  mutating func summary(withTimeslot: Bool) -> Summary? {
    guard reasonForEnd == nil else { return nil }
    return Summary(deadline: deadline, heldPackets: flow.heldPackets, timeslot: withTimeslot ? timeslot : nil)
  }
}
