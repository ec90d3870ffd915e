import BluetoothWire
import DequeModule

/// The state of a connection's Link Layer Control procedures · Vol 6, Part B, 5.1. This device has at most one of its own
/// going; the others wait.
struct ControlProcedures {
  /// A procedure that this device begins.
  enum Procedure {
    /// 5.1.4
    case featureExchange
    /// 5.1.5
    case versionExchange
    /// 5.1.6; `reason` is what the own host is told, `code` what the peer is.
    case termination(reason: HCI.ErrorCode, code: HCI.ErrorCode)
    /// 5.1.9
    case dataLengthUpdate
    /// 5.1.1; of a central.
    case connectionUpdate(ConnectionParameters)
    /// 5.1.2; of a central.
    case channelMapUpdate(ChannelMap)
    /// 5.1.7; of a peripheral.
    case parameterRequest(ConnectionParameters)
  }

  /// procedureTimeout · 5.2
  static let timeout = TimeSpan.seconds(40)
  /// How many events at least lie before the instant of an update · 5.1.1, 5.1.2.
  static let eventsBeforeInstant = 6

  private(set) var active: Procedure?
  private(set) var deadline: Instant?
  private var waiting: Deque<Procedure> = []

  var remoteVersion: LL.VersionInformation?
  var hasSentVersion = false
  var remoteFeatures: HCI.LEFeatures?

  /// New timing, at connection event `instant`.
  var update: (timing: LL.ConnectionTiming, instant: Int)?
  var mapUpdate: (map: ChannelMap, instant: Int)?
  /// The host is deciding about the peer's LL_CONNECTION_PARAM_REQ.
  var remoteRequest: LL.ConnectionParameterProposal?

  /// Nothing to listen for: a peripheral may use its latency.
  var isIdle: Bool { active == nil && update == nil && mapUpdate == nil && remoteRequest == nil }

  mutating func enqueue(_ procedure: Procedure) {
    // The end of a connection waits for nothing.
    if case .termination = procedure {
      active = nil
      waiting.removeAll(keepingCapacity: true)
    }
    waiting.append(procedure)
  }

  /// The next procedure, if none is going.
  mutating func begin(deadline: Instant?) -> Procedure? {
    guard active == nil, let procedure = waiting.popFirst() else { return nil }
    active = procedure
    self.deadline = deadline
    return procedure
  }

  mutating func setDeadline(_ deadline: Instant?) { self.deadline = deadline }

  mutating func finish() {
    active = nil
    deadline = nil
  }
}
