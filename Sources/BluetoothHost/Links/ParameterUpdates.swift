import BluetoothWire

/// The updates of one link's connection parameters by this side.
///
/// A central updates them directly. A peripheral requests them with the link layer procedure if both sides have it, and
/// with L2CAP if not · Vol 3, Part A, 4.20. One request is open at a time; of the requests made meanwhile only the last
/// one is kept.
struct ParameterUpdates {
  private enum Procedure {
    case none
    /// LE Connection Update is not completed.
    ///
    /// - `requested`: the parameters that the peripheral's link layer requests; nil: this side is the central.
    /// - `early`: the status of an update, by this side or by the peer, that completed before LE Connection Update was
    ///   answered.
    case running(requested: LinkParameters?, early: HCI.ErrorCode?)
  }

  /// The next step of a peripheral's request.
  enum Step {
    case none
    /// Reads the remote features, which decide on the procedure.
    case readRemoteFeatures
    case requestByLinkLayer(LinkParameters)
    case requestByL2CAP(LinkParameters)
  }

  /// The properties of the link that decide on the procedure.
  struct Path {
    /// True if this side has the link layer procedure.
    let hasLinkLayerProcedure: Bool
    /// The peer's features; nil: not read yet.
    let remoteFeatures: HCI.LEFeatures?
  }

  /// The maximum time from LE Read Remote Features to its completion: the time of the command, and then the procedure
  /// response timeout of the link layer · Vol 6, Part B, 5.2.
  private static let featuresTimeout = CommandQueue.timeout + .seconds(40)

  private var procedure = Procedure.none
  /// The parameters that the peripheral requests once it knows the peer's features or the previous update has ended.
  private var pending: LinkParameters?
  /// The time until which the pending parameters wait for the peer's features; nil: they do not wait for features.
  private var featuresDue: Instant?
  /// The parameters that the peripheral requests after the waiting time that GAP demands.
  private var postponed: PostponedParameterRequest?

  /// True while an update by this side is not completed.
  var isRunning: Bool {
    if case .none = procedure { false } else { true }
  }

  /// The time at which a peripheral's request is due, or its wait for the peer's features ends; nil: none waits.
  var deadline: Instant? { earliest(postponed?.due, featuresDue) }

  // MARK: Requests of a peripheral

  /// Keeps a request until GAP permits it · Vol 3, Part C, 9.3.12. It replaces an earlier one.
  mutating func postpone(_ postponed: PostponedParameterRequest) { self.postponed = postponed }

  /// Removes and returns the request if it is due. Recent traffic of the central postpones it.
  ///
  /// - Parameter lastData: The time at which the central last sent data.
  mutating func takeDue(lastData: Instant, at now: Instant) -> LinkParameters? {
    guard var postponed else { return nil }
    postponed.update(lastData: lastData)
    self.postponed = postponed.due <= now ? nil : postponed
    return postponed.due <= now ? postponed.parameters : nil
  }

  /// Chooses the procedure for a peripheral's request.
  mutating func request(_ parameters: LinkParameters, on path: Path, at now: Instant) -> Step {
    guard path.hasLinkLayerProcedure else { return .requestByL2CAP(parameters) }
    guard !isRunning else {
      pending = parameters
      return .none
    }
    guard let features = path.remoteFeatures else {
      let isAsked = featuresDue != nil
      pending = parameters
      if !isAsked { featuresDue = now + Self.featuresTimeout }
      return isAsked ? .none : .readRemoteFeatures
    }
    return features.contains(.connectionParametersRequestProcedure)
      ? .requestByLinkLayer(parameters) : .requestByL2CAP(parameters)
  }

  /// Returns true if the parameters have waited long enough for the peer's features.
  func areFeaturesOverdue(at now: Instant) -> Bool { featuresDue.map { $0 <= now } ?? false }

  /// Removes and returns the parameters that have waited for the peer's features.
  mutating func takePending() -> LinkParameters? {
    featuresDue = nil
    defer { pending = nil }
    return pending
  }

  // MARK: Procedure

  /// Begins LE Connection Update.
  ///
  /// - Parameter requested: The parameters that the peripheral's link layer requests; nil: this side is the central.
  mutating func begin(requested: LinkParameters?) {
    // While an update is running, keep the parameters that the peripheral has requested unless there are new ones.
    if case .running(let former, let early) = procedure {
      procedure = .running(requested: requested ?? former, early: early)
    } else {
      procedure = .running(requested: requested, early: nil)
    }
  }

  /// Notes that an update has completed before LE Connection Update was answered.
  mutating func completedEarly(_ status: HCI.ErrorCode) {
    if case .running(let requested, _) = procedure { procedure = .running(requested: requested, early: status) }
  }

  /// Returns the status with which the procedure ends when LE Connection Update is answered; nil: it goes on.
  func end(after status: HCI.ErrorCode) -> HCI.ErrorCode? {
    guard status == .success else { return status }
    if case .running(_, let early) = procedure { return early }
    return nil
  }

  /// Ends the procedure. Returns the next step of a peripheral: the request made meanwhile, or L2CAP after a refusal.
  mutating func ended(_ status: HCI.ErrorCode, isPeripheral: Bool, on path: Path, at now: Instant) -> Step {
    let former = exchange(&procedure, with: .none)
    guard isPeripheral else { return .none }
    if path.remoteFeatures != nil, let parameters = takePending() {
      return request(parameters, on: path, at: now)
    }
    if status.letsL2CAPAsk, case .running(let requested?, _) = former { return .requestByL2CAP(requested) }
    return .none
  }
}

extension HCI.ErrorCode {
  /// True if a refusal of the link layer procedure does not express a decision of the central's host: the peer lacks
  /// the procedure, or its controller or driver has refused before a host could decide. (Linux answers Unknown
  /// Connection Identifier to a request that comes before it has read the remote features.)
  fileprivate var letsL2CAPAsk: Bool { self != .success && self != .unacceptableConnectionParameters }
}
