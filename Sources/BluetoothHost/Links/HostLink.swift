import BluetoothWire
import DequeModule

/// The state of one link in the host.
struct HostLink {
  let link: Link
  var bearer: GATTBearer
  var signalling: SignallingChannel
  var channels = CreditChannels()
  /// True if the channels send next; ATT and the channels take turns.
  private var isChannelsTurn = false
  var reassembler = FrameReassembler()
  /// The queued frames of the signalling and the Security Manager channel.
  private var frames: Deque<ByteSlice> = []
  /// The unsent rest of the frame that is being sent.
  private var rest = ByteSlice()
  private var isFirstPart = true
  /// The number of ACL packets in the controller that are not completed.
  private(set) var packetsInController = 0
  /// True if the link may have data to send; false only if no data can be sent now.
  private(set) var isReady = false
  private var ending = Ending.none
  var properties = HostLinkProperties(values: HCI.ConnectionValues(interval: 0, latency: 0, supervisionTimeout: 3_200))
  /// The updates of connection parameters by this side.
  var parameterUpdates = ParameterUpdates()
  /// True if apps go on using the attributes of the peer's server on the next link.
  var keepsDatabase = false
  /// True from LE Set PHY after the link's creation until LE PHY Update Complete.
  var isChoosingPHYs = false
  /// The request of the upper layer in progress; nil: none.
  var pendingRequest: PendingLinkRequest?
  /// The time at which the link was created.
  let beginning: Instant
  /// The time at which the peer's host last sent data.
  var lastData: Instant
  /// True if the link has received data or completed packets since the last check.
  var hasShownLife = true
  var visibility: Visibility
  /// The link's Security Manager: pairing and encryption.
  var security: SecurityManager
  /// The identity address of the bonded peer; nil: there is no bond.
  var bond: DeviceAddress?
  /// The requests for channels that are not completed.
  var channelRequests = PendingChannelRequests()
  /// The limit of the data rate; nil: none.
  var pace: LinkPace?
  /// The number of signed writes received.
  var signedWrites: UInt32 = 0

  /// The progress of a disconnection by this host.
  private enum Ending {
    /// The host has not requested a disconnection.
    case none
    case requested
    /// The controller has accepted the disconnection; the link must end by the given time.
    case accepted(until: Instant)
  }

  /// The visibility of a link to the upper layer.
  enum Visibility {
    /// Not reported yet: this device has sent CONNECT_IND, and the peer has not answered so far.
    case provisional
    /// Reported as connected.
    case reported
    /// Hidden: established after the attempt was cancelled, or still there while the host is shutting down.
    case hidden
  }

  /// The maximum number of queued signalling frames; more are responses to a flood, which the host drops.
  private static let maximumFrames = 16

  init(
    _ link: Link, _ security: SecurityManager, _ configuration: HostConfiguration, visibility: Visibility,
    at now: Instant, pool: PacketPool
  ) {
    self.link = link
    beginning = now
    lastData = now
    self.security = security
    self.visibility = visibility
    bearer = GATTBearer(role: link.role, maximumMTU: configuration.maximumMTU, pool: pool)
    pace = configuration.linkDataRate.map { LinkPace(octetsPerSecond: $0) }
    signalling = SignallingChannel(role: link.role)
  }

  var isHidden: Bool { visibility == .hidden }

  /// True if the host has requested the disconnection.
  var isDisconnecting: Bool {
    if case .none = ending { false } else { true }
  }

  /// The time by which the link must have ended after the controller has accepted its disconnection.
  var endsBy: Instant? {
    if case .accepted(let until) = ending { until } else { nil }
  }

  /// The address under which the peer's data are stored: its identity address, or without a bond its address.
  var identity: DeviceAddress { bond ?? link.peer }

  var deadline: Instant? {
    // Read-only; `mutating` avoids copying the link.
    mutating get {
      let overdue: Instant?
      switch ending {
      case .none: overdue = isHidden ? nil : parameterUpdates.deadline
      case .requested: overdue = nil
      case .accepted(let until): overdue = until
      }
      if isHidden { return overdue }
      let first = earliest(bearer.deadline, security.deadline)
      let result = earliest(overdue, earliest(earliest(first, signalling.deadline), channels.deadline))
      guard let pace else { return result }
      return earliest(result, pace.deadline(interval: interval))
    }
  }

  /// The connection interval.
  var interval: TimeSpan { .microseconds(1_250 * Int64(properties.values.interval)) }

  /// The supervision timeout, limited to 100 ms to 32 s · Vol 4, Part E, 7.8.12.
  var supervisionTimeout: TimeSpan {
    .milliseconds(10 * Int64(min(max(properties.values.supervisionTimeout, 10), 3_200)))
  }

  /// Calls `body` with the channels and the identifiers of their signals.
  mutating func withChannels<R>(_ body: (inout CreditChannels, inout SignalIdentifiers) -> R) -> R {
    body(&channels, &signalling.identifiers)
  }

  // MARK: Disconnection

  /// Disconnects the link, at most once.
  mutating func disconnect(_ reason: HCI.ErrorCode, _ context: inout HostContext) {
    guard case .none = ending else { return }
    ending = .requested
    context.controller.append(.disconnect(link.handle, reason: reason), for: .disconnect(link.handle))
  }

  /// Notes that the controller has accepted the disconnection. The link ends no later than its supervision timeout ·
  /// Vol 6, Part B, 5.1.6. Some controllers never report this end, so the host sets a time limit.
  mutating func disconnectAccepted(at now: Instant) {
    ending = .accepted(until: now + supervisionTimeout + ControllerDriver.shutdownTime)
  }

  // MARK: Output

  /// True if data are queued, including data that must wait for the peer.
  @inline(__always)
  var hasOutput: Bool {
    !rest.isEmpty || bearer.hasOutput || !frames.isEmpty || channels.owesSignals || channels.hasFrames
      || signalling.hasSignal
  }

  /// Updates `isReady`. Called after every change that may lead to data to send.
  mutating func lookForOutput() { isReady = hasOutput }

  /// True if there are events to report, or the link must be disconnected.
  @inline(__always)
  var hasNews: Bool { !isHidden && (bearer.hasEvents || bearer.isClosed || channels.hasEvents) }

  /// True if there is room for a response.
  var hasRoom: Bool { frames.count < Self.maximumFrames }

  /// Queues a frame that is sent before those of ATT. Returns false if the queue is full.
  mutating func append(_ frame: ByteSlice) -> Bool {
    guard hasRoom else { return false }
    frames.append(frame)
    return true
  }

  /// Queues a frame of the Security Manager without a limit: the Security Manager sends at most its few keys at once.
  mutating func append(security frame: ByteSlice) { frames.append(frame) }

  /// Notes that the controller has taken a packet.
  mutating func packetSent() { packetsInController += 1 }

  /// Notes that the controller has completed packets. Returns their number: a controller cannot complete more packets
  /// than it had.
  mutating func packetsCompleted(_ count: Int) -> Int {
    let completed = min(count, packetsInController)
    packetsInController -= completed
    return completed
  }

  /// Returns the next ACL packet of at most `length` octets; nil: there is nothing to send.
  mutating func takePacket(_ length: Int, pool: PacketPool, at now: Instant) -> HCI.ACLData? {
    if rest.isEmpty {
      guard !isHidden, let frame = nextFrame(pool, at: now) else {
        isReady = false
        return nil
      }
      if frame.count <= length {
        lookForOutput()
        return HCI.ACLData(handle: link.handle, boundary: .firstNonFlushable, payload: frame)
      }
      rest = frame
      isFirstPart = true
    }
    let boundary: HCI.ACLData.Boundary = isFirstPart ? .firstNonFlushable : .continuing
    let part = rest.prefix(length)
    rest = rest.dropFirst(length)
    // An empty slice still retains its storage, so release it.
    if rest.isEmpty { rest = ByteSlice() }
    isFirstPart = false
    return HCI.ACLData(handle: link.handle, boundary: boundary, payload: part)
  }

  private mutating func nextFrame(_ pool: PacketPool, at now: Instant) -> ByteSlice? {
    if let frame = frames.popFirst() { return frame }
    if signalling.hasSignal, let signal = signalling.takeSignal() { return signal.frame(in: pool) }
    if channels.owesSignals, let signal = channels.takeSignal(&signalling.identifiers, at: now) {
      return signal.frame(in: pool)
    }
    guard maySendData(at: now) else { return nil }
    guard channels.hasFrames else { return nextPDU(pool, at: now) }
    isChannelsTurn.toggle()
    return isChannelsTurn
      ? nextChannelFrame(pool, at: now) ?? nextPDU(pool, at: now)
      : nextPDU(pool, at: now) ?? nextChannelFrame(pool, at: now)
  }

  private mutating func nextChannelFrame(_ pool: PacketPool, at now: Instant) -> ByteSlice? {
    let frame = channels.takeFrame(pool: pool)
    if let frame { pace?.sent(frame.count - L2CAP.headerLength, at: now) }
    return frame
  }

  private mutating func nextPDU(_ pool: PacketPool, at now: Instant) -> ByteSlice? {
    guard let pdu = bearer.takePDU(at: now) else { return nil }
    var writer = ByteWriter(pool)
    pdu.encode(into: &writer)
    let frame = writer.finishFrame(on: .attribute)
    pace?.sent(frame.count - L2CAP.headerLength - LinkPace.attributeHeader, at: now)
    return frame
  }
}
