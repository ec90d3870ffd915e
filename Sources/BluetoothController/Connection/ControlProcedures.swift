import BluetoothWire
import DequeModule

/// The state of a connection's Link Layer Control procedures · Vol 6, Part B, 5.1 to 5.3. At most one that this device began
/// is going, and one that the peer began; others of this device's wait.
struct ControlProcedures {
  /// A procedure that this device begins.
  enum Procedure {
    /// 5.1.3; of a central.
    case encryption(Encryption.Request)
    /// 5.1.4
    case featureExchange
    /// 5.1.5
    case versionExchange
    /// 5.1.6; `reason` is what the own host is told, `code` what the peer is.
    case termination(reason: HCI.ErrorCode, code: HCI.ErrorCode)
    /// 5.1.8
    case ping
    /// 5.1.9
    case dataLengthUpdate
    /// 5.1.1; of a central that does not ask the peripheral.
    case connectionUpdate(ConnectionParameters, EventPlacement)
    /// 5.1.2; of a central. The map is the one that is wanted when it begins.
    case channelMapUpdate
    /// 5.1.7; a central that can't ask goes on with `connectionUpdate`.
    case parameterRequest(ConnectionParameters, EventPlacement)
    /// 5.1.10
    case phyUpdate
    /// 5.1.11; of a peripheral.
    case minimumUsedChannels(LL.MinimumUsedChannels)
    /// 5.1.13
    indirect case syncTransfer(LL.PeriodicSyncTransfer)
    /// 5.1.14; `isHosts`: the host wants to know the peer's, else the peer is to know this device's.
    case clockAccuracyUpdate(isHosts: Bool)
    /// 5.1.27; of a central.
    case channelReporting(LL.ChannelReporting)
    /// 5.1.28; of a peripheral.
    case channelStatus(LL.ChannelStatus)
  }

  /// What procedures that have an instant change: of those, only one is going at a time, whoever began it · 5.3.
  enum Transaction {
    case parameters, channelMap, phys
  }

  /// What happens at a connection event to come.
  enum Update {
    /// A central sends its first packet `delay` after the transmit window's beginning.
    case parameters(LL.ConnectionTiming, delay: TimeSpan)
    case channelMap(ChannelMap)
    case phys(LL.PHYUpdate)
  }

  struct PendingUpdate {
    var change: Update
    /// The number of the connection event; nil: the peripheral has not been told yet.
    var instant: Int?
    /// Where a central wants an anchor point to be after a change of parameters; nil: anywhere.
    var anchor: Instant?
    /// Whether it is what this device's active procedure is for.
    var isOwn: Bool
    /// True if the change gives the connection values that it does not have yet.
    var hasEffect = true
  }

  /// What is awaited in a procedure with an instant that the peer began.
  enum RemoteProcedure {
    /// The host's decision on LL_CONNECTION_PARAM_REQ.
    case parameterRequest(LL.ConnectionParameterProposal)
    /// LL_CONNECTION_UPDATE_IND, after LL_CONNECTION_PARAM_RSP.
    case connectionUpdate(until: Instant)
    /// LL_PHY_UPDATE_IND, after LL_PHY_RSP.
    case phyUpdate(until: Instant)
  }

  /// procedureTimeout · 5.2
  static let timeout = TimeSpan.seconds(40)
  /// How many events at least lie before the instant of an update · 5.1.1, 5.1.2.
  static let eventsBeforeInstant = 6

  private(set) var active: Procedure?
  private var activeDeadline: Instant?
  private var waiting: Deque<Procedure> = []

  /// The peer's procedure, until LL_…_IND has told the instant.
  var remote: RemoteProcedure?
  /// What was agreed on, until it happens.
  private(set) var update: PendingUpdate?
  /// True while the next connection event is the one at the instant of `update`: it is planned with the change.
  private(set) var isUpdateDue = false

  var remoteVersion: LL.VersionInformation?
  var hasSentVersion = false
  var remoteFeatures: HCI.LEFeatures?
  /// True if the peer has answered LL_CONNECTION_PARAM_REQ with LL_UNKNOWN_RSP.
  var isParameterRequestUnknown = false
  /// Trains that the peer has told of and nobody has taken yet.
  var syncTransfers: [LL.PeriodicSyncTransfer] = []

  /// Nothing to listen for: a peripheral may use its latency.
  var isIdle: Bool { active == nil && update == nil && remote == nil }

  /// When the peer has not answered in time.
  var deadline: Instant? {
    switch remote {
    case .connectionUpdate(let until)?, .phyUpdate(let until)?: activeDeadline.map { min($0, until) } ?? until
    case .parameterRequest?, nil: activeDeadline
    }
  }

  /// Whether such a procedure is going or waits.
  func has(_ predicate: (Procedure) -> Bool) -> Bool {
    active.map(predicate) ?? false || isWaiting(where: predicate)
  }

  mutating func enqueue(_ procedure: Procedure) {
    // The end of a connection waits for nothing.
    if case .termination = procedure {
      active = nil
      waiting.removeAll(keepingCapacity: true)
    }
    waiting.append(procedure)
  }

  /// The next procedure that may begin now: those with an instant wait for each other and for the peer's, and others may
  /// overtake them meanwhile.
  mutating func begin(deadline: Instant) -> Procedure? {
    guard active == nil else { return nil }
    let isFree = remote == nil && update == nil
    guard let index = waiting.firstIndex(where: { isFree || $0.transaction == nil }) else { return nil }
    let procedure = waiting.remove(at: index)
    active = procedure
    activeDeadline = deadline
    return procedure
  }

  /// Whether a procedure of this kind waits.
  func isWaiting(where condition: (Procedure) -> Bool) -> Bool { waiting.contains(where: condition) }

  /// The active procedure goes on as `procedure`.
  mutating func replaceActive(with procedure: Procedure) { active = procedure }

  mutating func setDeadline(_ deadline: Instant?) { activeDeadline = deadline }

  /// Both devices know of the change, or the central has decided on it: nothing more is awaited but the instant.
  mutating func agree(on change: Update, at instant: Int?, anchor: Instant? = nil) {
    let isOwn = remote == nil && active?.transaction == change.transaction
    if isOwn { activeDeadline = nil }
    remote = nil
    update = PendingUpdate(change: change, instant: instant, anchor: anchor, isOwn: isOwn)
    isUpdateDue = false
  }

  /// The peripheral is about to hear of the change that was agreed on, in the form `change`.
  mutating func choose(_ instant: Int, for change: Update) {
    update?.instant = instant
    update?.change = change
  }

  /// Returns the change whose instant is event number `event`, once; nil if there is none.
  mutating func planUpdate(at event: Int) -> (change: Update, instant: Int)? {
    guard !isUpdateDue, let update, let instant = update.instant, event >= instant else { return nil }
    isUpdateDue = true
    return (update.change, instant)
  }

  /// Notes if the planned change gives the connection other values.
  mutating func setEffect(_ hasEffect: Bool) { update?.hasEffect = hasEffect }

  /// Returns the planned change at its instant and forgets it; nil if there is none.
  mutating func takeUpdate() -> PendingUpdate? {
    guard isUpdateDue, var update else { return nil }
    self.update = nil
    isUpdateDue = false
    // The peer may have rejected this device's procedure after all: what it announced was its own then.
    update.isOwn = update.isOwn && active?.transaction == update.change.transaction
    return update
  }

  /// What the host may ask for is bounded.
  var isFull: Bool { waiting.count >= Self.maximumWaiting }
  private static let maximumWaiting = 16

  mutating func finish() {
    active = nil
    activeDeadline = nil
  }

  /// Why a procedure with an instant that the peer begins can't be let in; nil: it can. A central's own procedure wins over
  /// the peripheral's; a peripheral gives way, and waits for its own to be rejected · 5.3.
  func collision(with transaction: Transaction, role: Connection.Role) -> HCI.ErrorCode? {
    let own: Transaction?
    if let update {
      own = update.change.transaction
    } else if let remote {
      own = remote.transaction
    } else {
      own = role == .central ? active?.transaction : nil
    }
    guard let own else { return nil }
    return own == transaction ? .llProcedureCollision : .differentTransactionCollision
  }
}

extension ControlProcedures.Procedure {
  /// What it changes at an instant; nil: nothing.
  var transaction: ControlProcedures.Transaction? {
    switch self {
    case .connectionUpdate, .parameterRequest: .parameters
    case .channelMapUpdate: .channelMap
    case .phyUpdate: .phys
    case .encryption, .featureExchange, .versionExchange, .termination, .ping, .dataLengthUpdate, .minimumUsedChannels,
      .syncTransfer, .clockAccuracyUpdate, .channelReporting, .channelStatus:
      nil
    }
  }

  var isPing: Bool { if case .ping = self { true } else { false } }
  var isEncryption: Bool { if case .encryption = self { true } else { false } }

  /// The PDU that begins this procedure and that the peer may refuse; nil: it can't refuse. What refuses encryption depends on
  /// how far that is.
  func request(role: Connection.Role) -> LL.ControlOpcode? {
    switch self {
    case .featureExchange: role == .central ? .featureReq : .peripheralFeatureReq
    case .versionExchange: .versionInd
    case .ping: .pingReq
    case .dataLengthUpdate: .lengthReq
    case .parameterRequest: .connectionParamReq
    case .phyUpdate: .phyReq
    case .clockAccuracyUpdate: .clockAccuracyReq
    case .minimumUsedChannels: .minUsedChannelsInd
    case .syncTransfer: .periodicSyncInd
    case .channelReporting: .channelReportingInd
    case .channelStatus: .channelStatusInd
    case .encryption, .termination, .connectionUpdate, .channelMapUpdate: nil
    }
  }
}

extension ControlProcedures.Update {
  var transaction: ControlProcedures.Transaction {
    switch self {
    case .parameters: .parameters
    case .channelMap: .channelMap
    case .phys: .phys
    }
  }
}

extension ControlProcedures.RemoteProcedure {
  var transaction: ControlProcedures.Transaction {
    switch self {
    case .parameterRequest, .connectionUpdate: .parameters
    case .phyUpdate: .phys
    }
  }
}
