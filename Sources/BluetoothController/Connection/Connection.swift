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

  var channelMap: ChannelMap
  /// In the units of HCI.
  var values: HCI.ConnectionValues
  var schedule: EventSchedule
  var flow = PacketFlow()
  var lengths: DataLengthState
  var procedures = ControlProcedures()

  /// Whether a packet of the peer has ever come · 4.5.
  var isEstablished = false
  /// When the connection is lost unless a packet comes · 4.5.2.
  var supervisionDeadline: Instant
  var ending: Ending?
  /// How strong the last packet was.
  var level: Decibel?
  /// Units of 10 ms; it would count on an encrypted connection only · 5.4.
  var authenticatedPayloadTimeout: UInt16 = 3_000

  /// Events missed in a row because the radio was taken: who missed most is first next time.
  var missed = 0
  var event = EventProgress()

  init(
    handle: HCI.ConnectionHandle, role: Role, own: DeviceAddress, peer: DeviceAddress, data: LL.ConnectionData,
    usesAlgorithm2: Bool, context: Context, delay: TimeSpan = .zero, at now: Instant
  ) {
    self.handle = handle
    self.role = role
    self.own = own
    self.peer = peer
    accessAddress = data.accessAddress
    crcInit = data.crcInit
    transmitPower = context.transmitPower
    version = context.version
    selection =
      usesAlgorithm2
      ? .algorithm2(accessAddress: data.accessAddress) : .algorithm1(hopIncrement: data.hop)
    channelMap = data.channelMap
    values = HCI.ConnectionValues(interval: data.interval, latency: data.latency, supervisionTimeout: data.timeout)
    lengths = DataLengthState(preferred: context.preferredLength)
    let interval = ConnectionParameters.intervalUnit * Int64(data.interval)
    // transmitWindowDelay is 1.25 ms after CONNECT_IND · 4.5.3.
    let windowStart = context.clock.instant(
      ConnectionParameters.intervalUnit * (1 + Int64(data.windowOffset)) + delay, after: now)
    // The central's accuracy is in CONNECT_IND; a central never has to widen its window.
    let accuracy = data.sleepClockAccuracy.partsPerMillion + Int64(context.sleepClockAccuracy)
    schedule = EventSchedule(
      role: role, interval: interval, windowStart: windowStart,
      windowSize: ConnectionParameters.intervalUnit * Int64(data.windowSize), accuracy: accuracy,
      clock: context.clock, now: now)
    supervisionDeadline = now + interval * Self.establishmentEvents
  }

  /// What a controller gives to all of its connections.
  struct Context {
    var clock: SleepClock
    /// Parts per million.
    var sleepClockAccuracy: Int
    var transmitPower: Decibel
    var version: LL.VersionInformation
    /// connInitialMaxTxOctets and …Time.
    var preferredLength: HCI.DataLength
  }

  var interval: TimeSpan { schedule.interval }
  var supervisionTimeout: TimeSpan {
    ConnectionParameters.supervisionTimeoutUnit * Int64(values.supervisionTimeout)
  }

  /// Why the connection is over; nil: it is not.
  var reasonForEnd: HCI.ErrorCode? {
    if case .over(let reason)? = ending { reason } else { nil }
  }

  /// When the connection wants to be looked at, besides its events.
  var deadline: Instant {
    guard let procedure = procedures.deadline else { return supervisionDeadline }
    return min(supervisionDeadline, procedure)
  }

  /// `deadline` may have come.
  mutating func checkDeadline(at now: Instant) {
    guard reasonForEnd == nil else { return }
    if case .termination(let reason, _)? = procedures.active, now >= deadline {
      // T_terminate, or nobody there any more · 5.1.6: the host asked for it, so it is its own doing.
      ending = .over(reason)
    } else if now >= supervisionDeadline {
      ending = .over(isEstablished ? .connectionTimeout : .connectionFailedToBeEstablished)
    } else if let deadline = procedures.deadline, now >= deadline {
      ending = .over(.llResponseTimeout)
    }
  }

  /// Takes an ACL packet of the host's.
  mutating func send(_ packet: HCI.ACLData, at now: Instant) {
    flow.append(packet)
    schedule.hasten(at: now)
  }
}
