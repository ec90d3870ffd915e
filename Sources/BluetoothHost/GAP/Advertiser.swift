import BluetoothWire

/// The host's advertising state machine. It compares the requested advertising with the controller's state and issues
/// one command at a time · Vol 4, Part E, 7.8.5 to 7.8.9, and 7.8.52 to 7.8.56 for extended commands.
struct Advertiser {
  private enum Step { case disable, remove, parameters, address, data, scanResponse, enable }

  /// The properties of an advertising set that cannot change while the set holds data · Vol 4, Part E, 7.8.53.
  private struct Kind: Equatable {
    let type: HCI.AdvertisingType
    let isExtended: Bool

    init(_ shape: HostAdvertising.Shape) { (type, isExtended) = (shape.type, shape.extended != nil) }
  }

  private struct Partial {
    let isScanResponse: Bool
    let content: ByteSlice
    var sent: Int
  }

  private var wanted: HostAdvertising?
  /// The advertising data that the controller holds. `scanResponse`, `shape` and `owner` below are also the
  /// controller's state.
  private var data: ByteSlice?
  private var scanResponse: ByteSlice?
  private var shape: HostAdvertising.Shape?
  private var owner: AdvertisingCommands.Owner?
  /// The kind of the advertising set that exists in the controller; nil: no set exists.
  private var kind: Kind?
  private var hasAddress = false
  /// The data that is being sent to the controller in fragments.
  private var partial: Partial?
  private(set) var isEnabled = false
  private var inFlight: Step?
  private var owesAnswer = false
  /// True while advertising is suspended, whatever has been requested.
  private var isPaused = false
  /// The time of the next attempt after the controller has refused to go on advertising beside existing links. The
  /// host retries because a link may have ended without its knowledge.
  private var retry: Instant? { didSet { deadline = earliest(limit, retry) } }
  /// True if the host must disable and enable advertising again, because the controller may have stopped it.
  private var restarts = false
  /// True if something has changed since the last time that no command was due.
  private(set) var isDirty = false
  /// The end of limited discoverable mode.
  private var limit: Instant? { didSet { deadline = earliest(limit, retry) } }
  /// The next instant at which `timeReached` must be called. It is stored because it is read much more often than it
  /// changes.
  private(set) var deadline: Instant?

  /// The wait before the next attempt after the controller has refused to advertise beside links.
  private static let retryTime = TimeSpan.seconds(30)

  mutating func start(_ advertising: HostAdvertising) {
    wanted = advertising
    limit = nil
    owesAnswer = true
    retry = nil
    isDirty = true
  }

  mutating func stop() {
    wanted = nil
    limit = nil
    retry = nil
    owesAnswer = false
    isDirty = true
  }

  /// Handles an expired timer. Returns true if advertising ends now.
  mutating func timeReached(_ now: Instant) -> Bool {
    if let retry, retry <= now {
      self.retry = nil
      isDirty = true
    }
    guard let until = limit, until <= now, let end = wanted?.limit?.end else { return false }
    limit = nil
    switch end {
    case .stops:
      stop()
      return true
    case .becomesGeneral:
      wanted?.limit = nil
      // The data already contain Flags, so the new Flags fit.
      if let data = wanted.flatMap({ AdvertisingData($0.data).discoverable(.generalDiscoverable) }) {
        wanted?.data = data
      }
      isDirty = true
      return false
    }
  }

  /// Suspends or resumes advertising.
  mutating func pause(_ isPaused: Bool) {
    guard self.isPaused != isPaused else { return }
    self.isPaused = isPaused
    isDirty = true
  }

  /// True if the controller neither advertises nor executes an advertising command.
  var isQuiet: Bool { !isEnabled && inFlight == nil }

  /// Forgets the controller's state after a reset, or because the controller has not accepted any command; the
  /// requested advertising stays.
  mutating func forgetController() {
    let (wanted, owesAnswer, limit, isPaused) = (wanted, owesAnswer, limit, isPaused)
    self = Advertiser()
    (self.wanted, self.owesAnswer, self.limit, self.isPaused) = (wanted, owesAnswer, limit, isPaused)
    isDirty = true
  }

  /// Switches to a controller that has legacy commands only and has accepted no command so far. Requested advertising
  /// on extended PDUs is cancelled. Returns the result for `advertisingStarted`; nil: nothing to report.
  mutating func fallBack() -> Result<Void, HostError>? {
    forgetController()
    guard wanted?.shape.extended != nil else { return nil }
    let isAwaited = owesAnswer
    stop()
    return isAwaited ? .failure(.controller(.unsupportedFeatureOrParameterValue)) : nil
  }

  /// Handles the controller's own end of the advertising set. Returns true if advertising does not start again.
  mutating func setTerminated(_ status: HCI.ErrorCode) -> Bool {
    // Success means that a connection was created, which its own event reports.
    guard status != .success, isEnabled else { return false }
    isEnabled = false
    // The host has requested different advertising, which starts now.
    guard status == .advertisingTimeout, !owesAnswer else {
      isDirty = true
      return false
    }
    stop()
    return true
  }

  /// True while the start of advertising has not been reported yet.
  var isAwaited: Bool { owesAnswer }

  /// Handles a new link in the peripheral role, which ends advertising · Vol 4, Part E, 7.8.9.
  mutating func linkCameAbout() {
    isEnabled = false
    isDirty = true
  }

  mutating func linkEnded() {
    retry = nil
    isDirty = true
  }

  /// Restarts advertising after a link has been created or has ended without the host's knowledge, which may have
  /// ended advertising.
  mutating func restart() {
    retry = nil
    restarts = isEnabled
    isDirty = true
  }

  /// Returns the next command; nil: no command is due now.
  mutating func next(_ commands: AdvertisingCommands) -> HCI.Command? {
    guard isDirty, inFlight == nil else { return nil }
    let command = nextCommand(commands)
    isDirty = command != nil
    return command
  }

  private mutating func nextCommand(_ commands: AdvertisingCommands) -> HCI.Command? {
    guard let wanted, retry == nil, !isPaused else { return isEnabled ? send(.disable, commands.enable(false)) : nil }
    if restarts, isEnabled { return send(.disable, commands.enable(false)) }
    if shape != wanted.shape || owner != commands.owner {
      // The controller rejects new parameters while advertising is enabled · Vol 4, Part E, 7.8.5.
      if isEnabled { return send(.disable, commands.enable(false)) }
      if let kind, kind != Kind(wanted.shape), let command = commands.remove { return send(.remove, command) }
      shape = wanted.shape
      if owner?.address != commands.owner.address { hasAddress = false }
      owner = commands.owner
      return send(.parameters, commands.parameters(wanted.shape))
    }
    if !hasAddress {
      hasAddress = true
      if let command = commands.address { return send(.address, command) }
    }
    if data != wanted.data {
      if commands.hasData(wanted.shape) { return send(wanted.data, isScanResponse: false, commands) }
      data = wanted.data
    }
    if scanResponse != wanted.scanResponse {
      if commands.hasScanResponse(wanted.shape) { return send(wanted.scanResponse, isScanResponse: true, commands) }
      scanResponse = wanted.scanResponse
    }
    return isEnabled ? nil : send(.enable, commands.enable(true, wanted.shape))
  }

  /// Returns the command with the next fragment of the data; most data fit into one. The controller rejects fragments
  /// while advertising is enabled · Vol 4, Part E, 7.8.54.
  private mutating func send(
    _ content: ByteSlice, isScanResponse: Bool, _ commands: AdvertisingCommands
  ) -> HCI.Command {
    if isEnabled, content.count > AdvertisingCommands.maximumFragment { return send(.disable, commands.enable(false)) }
    if partial?.isScanResponse != isScanResponse || partial?.content != content {
      partial = Partial(isScanResponse: isScanResponse, content: content, sent: 0)
    }
    let sent = partial?.sent ?? 0
    partial?.sent = min(content.count, sent + AdvertisingCommands.maximumFragment)
    // The first fragment replaces the data that the controller holds.
    if content.count > AdvertisingCommands.maximumFragment {
      if isScanResponse { scanResponse = nil } else { data = nil }
    }
    return isScanResponse
      ? send(.scanResponse, commands.scanResponse(content, from: sent))
      : send(.data, commands.data(content, from: sent))
  }

  /// Records that the controller has accepted a fragment.
  private mutating func partTaken() {
    guard let partial, partial.sent == partial.content.count else { return }
    if partial.isScanResponse { scanResponse = partial.content } else { data = partial.content }
    self.partial = nil
  }

  /// Records that the set has been removed, or that it is unusable because the controller does not remove it.
  private mutating func setRemoved() {
    (kind, shape, data, scanResponse, partial) = (nil, nil, nil, nil, nil)
    hasAddress = false
  }

  private mutating func send(_ step: Step, _ command: HCI.Command) -> HCI.Command {
    inFlight = step
    return command
  }

  /// Handles the end of a command. Returns the result for `advertisingStarted`; nil: nothing to report.
  mutating func ended(_ status: HCI.ErrorCode, at now: Instant) -> Result<Void, HostError>? {
    defer { inFlight = nil }
    guard status == .success else {
      switch inFlight {
      case .parameters: shape = nil
      case .address: hasAddress = false
      case .data, .scanResponse:
        if inFlight == .data { data = nil } else { scanResponse = nil }
        partial = nil
      // Advertising was already disabled.
      case .disable:
        (isEnabled, restarts) = (false, false)
        return nil
      case .remove:
        setRemoved()
        return nil
      default: break
      }
      guard owesAnswer else {
        retry = now + Self.retryTime
        return nil
      }
      stop()
      return .failure(.controller(status))
    }
    switch inFlight {
    case .disable: (isEnabled, restarts) = (false, false)
    case .enable: isEnabled = true
    case .data, .scanResponse: partTaken()
    case .remove: setRemoved()
    case .parameters: kind = shape.map(Kind.init)
    case .address, nil: break
    }
    return answer(at: now)
  }

  /// True if the controller advertises with the requested parameters and data. New data apply as soon as the
  /// controller has both the data and the scan response.
  private var isInForce: Bool {
    guard let wanted else { return false }
    return isEnabled && shape == wanted.shape && data == wanted.data && scanResponse == wanted.scanResponse
  }

  private mutating func answer(at now: Instant) -> Result<Void, HostError>? {
    guard owesAnswer, isInForce else { return nil }
    owesAnswer = false
    limit = wanted?.limit.map { now + $0.time }
    return .success(())
  }

  /// Answers a start that needs no command because the same advertising is already in force.
  mutating func answerWithoutCommand(at now: Instant) -> Result<Void, HostError>? {
    inFlight == nil ? answer(at: now) : nil
  }
}
