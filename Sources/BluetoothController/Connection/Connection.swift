import BluetoothRadio
import BluetoothWire

/// One connection of the link layer · Vol 6, Part B, 4.5.
struct Connection {
  /// Raw values are those of HCI.
  enum Role: UInt8 {
    case central = 0
    case peripheral = 1
  }

  /// How a connection comes to its end.
  enum Ending {
    /// The peer's LL_TERMINATE_IND is there and not answered yet.
    case afterAnswer(HCI.ErrorCode)
    /// It is over, with the reason for the host.
    case over(HCI.ErrorCode)
  }

  /// A connection that lives shorter than this many intervals without a packet was never established · 4.5.2.
  private static let establishmentEvents: Int64 = 6

  let handle: HCI.ConnectionHandle
  let role: Role
  let own: DeviceAddress
  let peer: DeviceAddress
  let accessAddress: UInt32
  let crcInit: UInt32
  let transmitPower: Decibel
  let selection: LL.ChannelSelection
  /// The local device's, for LL_VERSION_IND.
  let version: LL.VersionInformation
  /// The local device's, for LL_CLOCK_ACCURACY_REQ and LL_CLOCK_ACCURACY_RSP.
  private(set) var sleepClockAccuracy: LL.SleepClockAccuracy
  /// What the local device has.
  let features: HCI.LEFeatures

  /// In the units of HCI.
  var values: HCI.ConnectionValues
  var schedule: EventSchedule
  var channels: ConnectionChannels
  var phys: PHYState
  var lengths: DataLengthState
  var flow = PacketFlow()
  var procedures = ControlProcedures()
  var encryption: Encryption
  var statistics = LinkStatistics()

  /// Whether a packet of the peer has ever come · 4.5.
  var isEstablished = false
  /// When the connection is lost unless a packet comes · 4.5.2.
  var supervisionDeadline: Instant
  var ending: Ending?
  /// Events missed in a row because the radio was taken: who missed most is first next time.
  var missed = 0
  var event = EventProgress()

  init(
    handle: HCI.ConnectionHandle, role: Role, own: DeviceAddress, peer: DeviceAddress, data: LL.ConnectionData,
    usesAlgorithm2: Bool, auxiliaryPHY: PHY? = nil, context: Context, delay: TimeSpan = .zero, at now: Instant
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
    encryption = Encryption(random: SplitGenerator(seed: context.seed))
    let interval = ConnectionParameters.intervalUnit * Int64(data.interval)
    let windowStart = context.clock.instant(
      LL.transmitWindowDelay(afterAuxiliaryPacketOn: auxiliaryPHY)
        + ConnectionParameters.intervalUnit * Int64(data.windowOffset) + delay, after: now)
    schedule = EventSchedule(
      role: role, interval: interval, windowStart: windowStart,
      windowSize: ConnectionParameters.intervalUnit * Int64(data.windowSize),
      ownAccuracy: context.sleepClockPartsPerMillion, peerAccuracy: data.sleepClockAccuracy.partsPerMillion,
      clock: context.clock, now: now)
    supervisionDeadline = now + interval * Self.establishmentEvents
    if role == .peripheral, features.contains(.minimumNumberOfUsedChannels), let minimum = context.minimumUsedChannels {
      procedures.enqueue(.minimumUsedChannels(minimum))
    }
  }

  /// What a controller gives to all of its connections.
  struct Context {
    var clock: SleepClock
    var sleepClockAccuracy: LL.SleepClockAccuracy
    var sleepClockPartsPerMillion: Int64
    var transmitPower: Decibel
    var version: LL.VersionInformation
    var features: HCI.LEFeatures
    /// connInitialMaxTxOctets and …Time.
    var preferredLength: HCI.DataLength
    /// Of LE Set Default PHY.
    var preferredPHYs = LL.PHYPreferences(transmit: .all, receive: .all)
    /// The channels that the host does not know to be bad.
    var hostChannels = ChannelMap.all
    /// Whether channels that lose much are left out.
    var assessesChannels = true
    /// What a peripheral asks the central for.
    var minimumUsedChannels: LL.MinimumUsedChannels?
    /// For the connection's own chance.
    var seed: UInt64
  }

  var channelMap: ChannelMap { channels.map }
  /// How strong the last packet was.
  var level: Decibel? { statistics.lastLevel }

  var interval: TimeSpan { schedule.interval }
  var supervisionTimeout: TimeSpan {
    ConnectionParameters.supervisionTimeoutUnit * Int64(values.supervisionTimeout)
  }

  /// Why the connection is over; nil: it is not.
  var reasonForEnd: HCI.ErrorCode? {
    if case .over(let reason)? = ending { reason } else { nil }
  }

  /// When the connection ends unless something happens.
  private var end: Instant {
    min(supervisionDeadline, procedures.deadline ?? .distantFuture, encryption.deadline ?? .distantFuture)
  }

  /// When the connection wants to be looked at, besides its events.
  var deadline: Instant { min(end, encryption.payloadTimer.deadline ?? .distantFuture) }

  /// `deadline` may have come.
  mutating func checkDeadline(at now: Instant, into output: inout HostOutput) {
    guard reasonForEnd == nil else { return }
    guard now >= end else { return checkAuthenticatedPayload(at: now, into: &output) }
    if case .termination(let reason, _)? = procedures.active {
      // T_terminate, or nobody there any more · 5.1.6: the host asked for it, so it is its own doing.
      ending = .over(reason)
    } else if now >= supervisionDeadline {
      ending = .over(isEstablished ? .connectionTimeout : .connectionFailedToBeEstablished)
    } else {
      ending = .over(.llResponseTimeout)
    }
  }

  /// The local device has another clock: windows follow, and the peer is told if it can be.
  mutating func setSleepClock(
    _ accuracy: LL.SleepClockAccuracy, partsPerMillion: Int64, at now: Instant, into output: inout HostOutput
  ) {
    sleepClockAccuracy = accuracy
    schedule.setOwnAccuracy(partsPerMillion)
    guard !peerLacks(.sleepClockAccuracyUpdates), !procedures.isFull else { return }
    begin(.clockAccuracyUpdate(isHosts: false), at: now, into: &output)
  }

  /// Takes an ACL packet of the host's.
  mutating func send(_ packet: HCI.ACLData, at now: Instant) {
    flow.append(packet)
    schedule.hasten(at: now)
  }
}
