import BluetoothWire
import DequeModule

/// All that the host has of one link.
struct HostLink {
  let link: Link
  var bearer: GATTBearer
  var signalling: SignallingChannel
  var channels = CreditChannels()
  /// ATT and the channels take turns.
  private var isChannelsTurn = false
  var reassembler = FrameReassembler()
  /// Frames of the signalling and the security channel.
  private var frames: Deque<ByteSlice> = []
  /// What is left of the frame that is on its way to the controller.
  private var rest = ByteSlice()
  private var isFirstPart = true
  /// ACL packets that the controller has and that are not completed.
  var outstanding = 0
  /// Whether something may wait to be sent; false only when nothing does that could leave now.
  private(set) var isReady = false
  /// LE Connection Update was sent and is not completed.
  var isUpdating = false
  /// How an update has ended, of this side or of the peer, while LE Connection Update was sent and not answered.
  var earlyUpdate: HCI.ErrorCode?
  var isDisconnecting = false
  /// When the link is gone at the latest, once its end was asked for.
  var endsBy: Instant?
  var properties = LinkProperties(values: HCI.ConnectionValues(interval: 0, latency: 0, supervisionTimeout: 3_200))
  /// As peripheral: what is asked for when it is known what the peer has, or when the update before it has ended.
  var pendingParameters: ConnectionParameters?
  /// As peripheral: what its link layer asks for at the moment.
  var requestedParameters: ConnectionParameters?
  /// As peripheral: parameters that it asks for when it has waited long enough.
  var wish: ParameterWish?
  /// When the link came about.
  let beginning: Instant
  /// When the peer's host has last sent data.
  var lastData: Instant
  /// Data came, or was taken, since the links were last checked.
  var hasShownLife = true
  var standing: Standing
  /// Pairing and encryption.
  var security: SecurityManager
  /// The identity under which there is a bond with the peer; nil: there is none.
  var bond: DeviceAddress?
  /// What this side wants of channels that has not come about.
  var channelWishes: [ChannelWish] = []
  /// How many signed writes have come.
  var signedWrites: UInt32 = 0

  /// What those above know of a link.
  enum Standing {
    /// Nothing yet: this device has sent CONNECT_IND, but nothing shows that the peer has heard it.
    case unproven
    /// That it is there.
    case announced
    /// Nothing any more, or never: it came about after it was not wanted any more, or the host is shutting down.
    case hidden
  }

  /// How many frames of signalling may wait; more are answers to a flood, which are dropped.
  private static let maximumFrames = 16

  init(
    _ link: Link, _ security: SecurityManager, maximumMTU: Int, standing: Standing, at now: Instant, pool: PacketPool
  ) {
    self.link = link
    beginning = now
    lastData = now
    self.security = security
    self.standing = standing
    bearer = GATTBearer(role: link.role, maximumMTU: maximumMTU, pool: pool)
    signalling = SignallingChannel(role: link.role)
  }

  var isHidden: Bool { standing == .hidden }

  /// Under which name what is known of the peer is kept.
  var identity: DeviceAddress { bond ?? link.peer }

  var deadline: Instant? {
    // Read in place: see `Host.deadline`.
    mutating get {
      let overdue = isDisconnecting ? endsBy : wish?.due
      if isHidden { return isDisconnecting ? overdue : nil }
      let first = earliest(bearer.deadline, security.deadline)
      return earliest(overdue, earliest(earliest(first, signalling.deadline), channels.deadline))
    }
  }

  /// 100 ms to 32 s · Vol 4, Part E, 7.8.12.
  var supervisionTimeout: TimeSpan {
    .milliseconds(10 * Int64(min(max(properties.values.supervisionTimeout, 10), 3_200)))
  }

  /// The channels, and the identifiers of what they say.
  mutating func withChannels<R>(_ body: (inout CreditChannels, inout SignalIdentifiers) -> R) -> R {
    body(&channels, &signalling.identifiers)
  }

  // MARK: Output

  /// Whether anything waits to be sent, perhaps for something that the peer has to do first.
  @inline(__always)
  private var hasOutput: Bool {
    !rest.isEmpty || bearer.hasOutput || !frames.isEmpty || channels.owesSignals || channels.hasFrames
      || signalling.hasSignal
  }

  /// To be called when anything has happened that may want something sent.
  mutating func lookForOutput() { isReady = hasOutput }

  /// Whether there is anything to tell those above, or the link is to be ended.
  @inline(__always)
  var hasNews: Bool { !isHidden && (bearer.hasEvents || bearer.isClosed || channels.hasEvents) }

  /// Whether there is room for an answer.
  var hasRoom: Bool { frames.count < Self.maximumFrames }

  /// Takes a frame to send before those of ATT. The result says whether there was room for it.
  mutating func append(_ frame: ByteSlice) -> Bool {
    guard hasRoom else { return false }
    frames.append(frame)
    return true
  }

  /// Takes a frame of the Security Manager, which never has more to say at once than its few keys.
  mutating func append(security frame: ByteSlice) { frames.append(frame) }

  /// The next ACL packet of at most `length` octets; nil: there is nothing to send.
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
    // An empty slice still refers to its storage: let it go.
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
    guard channels.hasFrames else { return nextPDU(pool, at: now) }
    isChannelsTurn.toggle()
    return isChannelsTurn
      ? channels.takeFrame(pool: pool) ?? nextPDU(pool, at: now)
      : nextPDU(pool, at: now) ?? channels.takeFrame(pool: pool)
  }

  private mutating func nextPDU(_ pool: PacketPool, at now: Instant) -> ByteSlice? {
    guard let pdu = bearer.takePDU(at: now) else { return nil }
    var writer = ByteWriter(pool)
    pdu.encode(into: &writer)
    return writer.finishFrame(on: .attribute)
  }
}
