import BluetoothWire
import DequeModule

/// The state of a connection's Link Layer Control procedures · Vol 6, Part B, 5.1 to 5.3. At most one local procedure
/// and one procedure of the peer are in progress; other local procedures wait.
struct ControlProcedures {
  /// A local procedure, which this device initiates.
  enum Procedure {
    /// The encryption start and pause procedures · 5.1.3; central only.
    case encryption(Encryption.Request)
    /// The feature exchange · 5.1.4.
    case featureExchange
    /// The version exchange · 5.1.5.
    case versionExchange
    /// The termination · 5.1.6; `reason` goes to the local host, `code` to the peer.
    case termination(reason: HCI.ErrorCode, code: HCI.ErrorCode)
    /// The LE ping · 5.1.8.
    case ping
    /// The data length update · 5.1.9.
    case dataLengthUpdate
    /// The connection update without a preceding LL_CONNECTION_PARAM_REQ · 5.1.1; central only.
    case connectionUpdate(LinkParameters, EventPlacement)
    /// The channel map update · 5.1.2; central only. The map is the preferred one when the procedure begins.
    case channelMapUpdate
    /// The connection parameters request · 5.1.7; a central continues with `connectionUpdate` if the peer does not
    /// support the request.
    case parameterRequest(LinkParameters, EventPlacement)
    /// The PHY update · 5.1.10.
    case phyUpdate
    /// The minimum number of used channels · 5.1.11; peripheral only.
    case minimumUsedChannels(LL.MinimumUsedChannels)
    /// The periodic advertising sync transfer · 5.1.13.
    indirect case syncTransfer(LL.PeriodicSyncTransfer)
    /// The sleep clock accuracy update · 5.1.14; `isHosts`: the host requests the peer's accuracy; otherwise this
    /// device reports its accuracy to the peer.
    case clockAccuracyUpdate(isHosts: Bool)
    /// The channel classification enable · 5.1.27; central only.
    case channelReporting(LL.ChannelReporting)
    /// The channel classification report · 5.1.28; peripheral only.
    case channelStatus(LL.ChannelStatus)
  }

  /// The property that a procedure with an instant changes. Only one such procedure is in progress at a time, local or
  /// remote · 5.3.
  enum Transaction {
    case parameters, channelMap, phys
  }

  /// A change at a future connection event.
  enum Update {
    /// A central sends its first packet `delay` after the start of the transmit window.
    case parameters(LL.ConnectionTiming, delay: TimeSpan)
    case channelMap(ChannelMap)
    case phys(LL.PHYUpdate)
  }

  struct PendingUpdate {
    var change: Update
    /// The number of the connection event; nil: the update has not been sent to the peripheral yet.
    var instant: Int?
    /// The anchor point that a central prefers after a change of parameters; nil: any.
    var anchor: Instant?
    /// True if the update belongs to this device's active procedure.
    var isOwn: Bool
    /// True if the peer has sent a PDU of the update's procedure.
    var isPeersToo: Bool
    /// True if the change gives the connection new values.
    var hasEffect = true
  }

  /// The next step of a procedure with an instant that the peer initiated.
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
  /// The minimum number of events before the instant of an update · 5.1.1, 5.1.2.
  static let eventsBeforeInstant = 6

  private(set) var active: Procedure?
  private var activeDeadline: Instant?
  private var waiting: Deque<Procedure> = []

  /// The peer's procedure, until LL_…_IND sets the instant.
  var remote: RemoteProcedure?
  /// The agreed update, until its instant.
  private(set) var update: PendingUpdate?
  /// True while the next connection event is the one at the instant of `update`: that event is scheduled with the
  /// change.
  private(set) var isUpdateDue = false

  var remoteVersion: LL.VersionInformation?
  var hasSentVersion = false
  var remoteFeatures: HCI.LEFeatures?
  /// True if the peer has answered LL_CONNECTION_PARAM_REQ with LL_UNKNOWN_RSP.
  var isParameterRequestUnknown = false
  /// The trains that the peer has transferred and that the controller has not processed yet.
  var syncTransfers: [LL.PeriodicSyncTransfer] = []

  /// True if no procedure is in progress: a peripheral may use its latency.
  var isIdle: Bool { active == nil && update == nil && remote == nil }

  /// The time at which the procedure response timeout expires; nil: no response is pending.
  var deadline: Instant? {
    switch remote {
    case .connectionUpdate(let until)?, .phyUpdate(let until)?: activeDeadline.map { min($0, until) } ?? until
    case .parameterRequest?, nil: activeDeadline
    }
  }

  /// True if the peer is known not to support a feature.
  func peerLacks(_ feature: HCI.LEFeatures) -> Bool { remoteFeatures?.contains(feature) == false }

  /// True if a procedure that fulfils `predicate` is active or waiting.
  func has(_ predicate: (Procedure) -> Bool) -> Bool {
    active.map(predicate) ?? false || isWaiting(where: predicate)
  }

  mutating func enqueue(_ procedure: Procedure) {
    // Termination has priority over all other procedures.
    if case .termination = procedure {
      active = nil
      waiting.removeAll(keepingCapacity: true)
    }
    waiting.append(procedure)
  }

  /// Starts the next procedure that may begin now. A procedure with an instant waits until no other such procedure,
  /// local or remote, is in progress; a procedure without an instant may overtake it.
  mutating func begin(deadline: Instant) -> Procedure? {
    guard active == nil else { return nil }
    let isFree = remote == nil && update == nil
    guard let index = waiting.firstIndex(where: { isFree || $0.transaction == nil }) else { return nil }
    let procedure = waiting.remove(at: index)
    active = procedure
    activeDeadline = deadline
    return procedure
  }

  /// True if a procedure of this kind is waiting.
  func isWaiting(where condition: (Procedure) -> Bool) -> Bool { waiting.contains(where: condition) }

  /// Continues the active procedure as `procedure`.
  mutating func replaceActive(with procedure: Procedure) { active = procedure }

  mutating func setDeadline(_ deadline: Instant?) { activeDeadline = deadline }

  /// Sets the update that both devices have agreed on, or that the central has decided on. It takes effect at its
  /// instant.
  mutating func agree(on change: Update, at instant: Int?, anchor: Instant? = nil, role: ConnectionRole) {
    let isOwn = remote == nil && active?.transaction == change.transaction
    if isOwn { activeDeadline = nil }
    remote = nil
    // Only two of a central's procedures have waited for a PDU of the peer.
    let isCentralsAlone =
      switch active {
      case .connectionUpdate?, .channelMapUpdate?: isOwn && role == .central
      default: false
      }
    update = PendingUpdate(
      change: change, instant: instant, anchor: anchor, isOwn: isOwn, isPeersToo: !isCentralsAlone)
    isUpdateDue = false
  }

  /// Sets the instant and the final form of the agreed update, just before it is sent to the peripheral.
  mutating func choose(_ instant: Int, for change: Update) {
    update?.instant = instant
    update?.change = change
  }

  /// Returns the pending change if its instant is event number `event` or earlier, and only once; nil otherwise.
  mutating func planUpdate(at event: Int) -> (change: Update, instant: Int)? {
    guard !isUpdateDue, let update, let instant = update.instant, event >= instant else { return nil }
    isUpdateDue = true
    return (update.change, instant)
  }

  /// Records whether the scheduled change gives the connection new values.
  mutating func setEffect(_ hasEffect: Bool) { update?.hasEffect = hasEffect }

  /// Returns the scheduled change at its instant and removes it; nil if there is none.
  mutating func takeUpdate() -> PendingUpdate? {
    guard isUpdateDue, var update else { return nil }
    self.update = nil
    isUpdateDue = false
    // If the peer has rejected this device's procedure since then, the update belongs to the peer's procedure.
    update.isOwn = update.isOwn && active?.transaction == update.change.transaction
    return update
  }

  /// True if the queue is full, which limits the requests of the host.
  var isFull: Bool { waiting.count >= Self.maximumWaiting }
  private static let maximumWaiting = 16

  mutating func finish() {
    active = nil
    activeDeadline = nil
  }

  /// A procedure with an instant that the peer has started while another one is in progress.
  struct Collision {
    let error: HCI.ErrorCode
    /// True if the peer breaks the rules, so that the connection must end; false: the procedure is rejected.
    let endsConnection: Bool
  }

  /// Returns the collision with a procedure with an instant that the peer starts, with a request or with an instruction;
  /// nil: the procedure may start.
  ///
  /// The connection ends if the peer has sent a PDU of an update whose instant has not come. If it has not, the two
  /// procedures have crossed, and the central's has priority: a central rejects the peer's, and a peripheral accepts it
  /// and waits for the central to reject its own. A request of the peer before the answer to its previous one is
  /// rejected · 5.3.
  func collision(with transaction: Transaction, role: ConnectionRole) -> Collision? {
    func error(_ present: Transaction) -> HCI.ErrorCode {
      present == transaction ? .llProcedureCollision : .differentTransactionCollision
    }
    if let update { return Collision(error: error(update.change.transaction), endsConnection: update.isPeersToo) }
    let own = remote?.transaction ?? (role == .central ? active?.transaction : nil)
    return own.map { Collision(error: error($0), endsConnection: false) }
  }
}

extension ControlProcedures.Procedure {
  /// The property that the procedure changes at an instant; nil: none.
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

  /// Returns the PDU that begins this procedure and that the peer may reject; nil: the peer can't reject it.
  /// Encryption is handled separately, since the rejected PDU depends on the phase.
  func request(role: ConnectionRole) -> LL.ControlOpcode? {
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
