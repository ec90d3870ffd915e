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

  /// The request of the upper layer.
  private enum Request {
    case none
    /// The start of this advertising has not been reported yet.
    case starting(HostAdvertising)
    /// The start has been reported.
    ///
    /// - `until`: The end of limited discoverable mode.
    /// - `retry`: The time of the next attempt after the controller has refused to go on advertising beside existing
    ///   links. The host retries because a link may have ended without its knowledge.
    case started(HostAdvertising, until: Instant?, retry: Instant?)
  }

  private enum Activity {
    case disabled
    case enabled
    /// The host must disable and enable advertising again, because the controller may have stopped it.
    case mustRestart
  }

  /// The progress towards the request.
  private enum Progress {
    /// No command is due until something changes.
    case settled
    /// Something has changed since the last time that no command was due.
    case changed
    /// The controller executes a command.
    case executing(Step)
  }

  /// The advertising set as the controller holds it.
  private struct ControllerState {
    /// The kind of the advertising set; nil: no set exists.
    var kind: Kind?
    var shape: HostAdvertising.Shape?
    var owner: AdvertisingCommands.Owner?
    /// The random address of the advertising set; nil: the host has set none, or another one since.
    var address: DeviceAddress?
    var data: ByteSlice?
    var scanResponse: ByteSlice?
    /// The data that is being sent to the controller in fragments.
    var partial: Partial?
  }

  private var request = Request.none { didSet { setDeadline() } }
  private var held = ControllerState()
  private var activity = Activity.disabled
  private var progress = Progress.settled
  /// True while advertising is suspended. Independent of the request, whose state a pause does not change.
  private var isPaused = false
  /// The next instant at which `timeReached` must be called. It is stored because it is read much more often than it
  /// changes.
  private(set) var deadline: Instant?

  /// The wait before the next attempt after the controller has refused to advertise beside links.
  private static let retryTime = TimeSpan.seconds(30)

  private mutating func setDeadline() {
    if case .started(_, let until, let retry) = request { deadline = earliest(until, retry) } else { deadline = nil }
  }

  /// The requested advertising; nil: none.
  private var desired: HostAdvertising? {
    switch request {
    case .none: nil
    case .starting(let advertising), .started(let advertising, _, _): advertising
    }
  }

  /// True until no command is due.
  var hasWork: Bool {
    if case .settled = progress { false } else { true }
  }

  /// The advertising that the controller should do now; nil: none.
  private var current: HostAdvertising? {
    if case .started(_, _, retry: _?) = request { return nil }
    return isPaused ? nil : desired
  }

  /// True if the controller advertises as far as the host knows.
  var isEnabled: Bool { activity != .disabled }

  /// True while the start of advertising has not been reported yet.
  var isAwaited: Bool {
    if case .starting = request { true } else { false }
  }

  mutating func start(_ advertising: HostAdvertising) {
    request = .starting(advertising)
    noteChange()
  }

  mutating func stop() {
    request = .none
    noteChange()
  }

  private mutating func noteChange() {
    if case .settled = progress { progress = .changed }
  }

  /// Makes the next attempt at once if the controller has refused one.
  private mutating func retryNow() {
    if case .started(let advertising, let until, _?) = request {
      request = .started(advertising, until: until, retry: nil)
    }
    noteChange()
  }

  /// Handles an expired timer. Returns true if advertising ends now.
  mutating func timeReached(_ now: Instant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    if case .started(_, _, let retry?) = request, retry <= now { retryNow() }
    guard case .started(var advertising, let until?, let retry) = request, until <= now,
      let end = advertising.limit?.end
    else { return false }
    switch end {
    case .stops:
      stop()
      return true
    case .becomesGeneral:
      advertising.limit = nil
      // The data already contain Flags, so the new Flags fit.
      if let data = AdvertisingData(advertising.data).discoverable(.generalDiscoverable) { advertising.data = data }
      request = .started(advertising, until: nil, retry: retry)
      noteChange()
      return false
    }
  }

  /// Suspends or resumes advertising.
  mutating func pause(_ isPaused: Bool) {
    guard self.isPaused != isPaused else { return }
    self.isPaused = isPaused
    noteChange()
  }

  /// True if the controller neither advertises nor executes an advertising command.
  var isQuiet: Bool { !isEnabled && inFlight == nil }

  /// The command that the controller executes; nil: none.
  private var inFlight: Step? {
    if case .executing(let step) = progress { step } else { nil }
  }

  /// Forgets the controller's state after a reset, or because the controller has not accepted any command; the
  /// requested advertising stays.
  mutating func forgetController() {
    (held, activity, progress) = (ControllerState(), .disabled, .changed)
    retryNow()
  }

  /// Switches to a controller that has legacy commands only and has accepted no command so far. Requested advertising
  /// on extended PDUs is cancelled. Returns the result for `advertisingStarted`; nil: nothing to report.
  mutating func fallBack() -> Result<Void, HostError>? {
    forgetController()
    guard desired?.shape.extended != nil else { return nil }
    let isAwaited = isAwaited
    stop()
    return isAwaited ? .failure(.controller(.unsupportedFeatureOrParameterValue)) : nil
  }

  /// Handles LE Advertising Set Terminated. Returns true if advertising does not start again.
  mutating func setTerminated(_ status: HCI.ErrorCode) -> Bool {
    // Success means that a connection was created, which LE Connection Complete reports.
    guard status != .success, isEnabled else { return false }
    activity = .disabled
    // Restart advertising unless it has timed out and no new start is pending.
    guard status == .advertisingTimeout, !isAwaited else {
      noteChange()
      return false
    }
    stop()
    return true
  }

  /// Handles a new link in the peripheral role, which ends advertising · Vol 4, Part E, 7.8.9.
  mutating func linkCreated() {
    activity = .disabled
    noteChange()
  }

  mutating func linkEnded() { retryNow() }

  /// Restarts advertising after a link has been created or has ended without the host's knowledge, which may have
  /// ended advertising.
  mutating func restart() {
    if isEnabled { activity = .mustRestart }
    retryNow()
  }

  /// Returns the next command; nil: no command is due now.
  mutating func next(_ commands: AdvertisingCommands) -> HCI.Command? {
    guard case .changed = progress else { return nil }
    guard let (step, command) = nextCommand(commands) else {
      progress = .settled
      return nil
    }
    progress = .executing(step)
    return command
  }

  private mutating func nextCommand(_ commands: AdvertisingCommands) -> (Step, HCI.Command)? {
    guard let desired = current else { return isEnabled ? (.disable, commands.enable(false)) : nil }
    if activity == .mustRestart { return (.disable, commands.enable(false)) }
    if held.shape != desired.shape || held.owner != commands.owner {
      // The controller rejects new parameters while advertising is enabled · Vol 4, Part E, 7.8.5.
      if isEnabled { return (.disable, commands.enable(false)) }
      if let kind = held.kind, kind != Kind(desired.shape), let command = commands.remove {
        return (.remove, command)
      }
      held.shape = desired.shape
      if held.owner?.address != commands.owner.address { held.address = nil }
      held.owner = commands.owner
      return (.parameters, commands.parameters(desired.shape))
    }
    if held.address != commands.owner.address, let command = commands.address {
      held.address = commands.owner.address
      return (.address, command)
    }
    if held.data != desired.data {
      if commands.hasData(desired.shape) { return send(desired.data, isScanResponse: false, commands) }
      held.data = desired.data
    }
    if held.scanResponse != desired.scanResponse {
      if commands.hasScanResponse(desired.shape) { return send(desired.scanResponse, isScanResponse: true, commands) }
      held.scanResponse = desired.scanResponse
    }
    return isEnabled ? nil : (.enable, commands.enable(true, desired.shape))
  }

  /// Returns the command with the next fragment of the data; most data fit into one. The controller rejects fragments
  /// while advertising is enabled · Vol 4, Part E, 7.8.54.
  private mutating func send(
    _ content: ByteSlice, isScanResponse: Bool, _ commands: AdvertisingCommands
  ) -> (Step, HCI.Command) {
    if isEnabled, content.count > AdvertisingCommands.maximumFragment { return (.disable, commands.enable(false)) }
    if held.partial?.isScanResponse != isScanResponse || held.partial?.content != content {
      held.partial = Partial(isScanResponse: isScanResponse, content: content, sent: 0)
    }
    let sent = held.partial?.sent ?? 0
    held.partial?.sent = min(content.count, sent + AdvertisingCommands.maximumFragment)
    // The first fragment replaces the data that the controller holds.
    if content.count > AdvertisingCommands.maximumFragment {
      if isScanResponse { held.scanResponse = nil } else { held.data = nil }
    }
    return isScanResponse
      ? (.scanResponse, commands.scanResponse(content, from: sent))
      : (.data, commands.data(content, from: sent))
  }

  /// Records that the controller has accepted a fragment.
  private mutating func partTaken() {
    guard let partial = held.partial, partial.sent == partial.content.count else { return }
    if partial.isScanResponse { held.scanResponse = partial.content } else { held.data = partial.content }
    held.partial = nil
  }

  /// Records that the set has been removed, or that it is unusable because the controller does not remove it.
  private mutating func setRemoved() { held = ControllerState(owner: held.owner) }

  /// Handles the end of a command. Returns the result for `advertisingStarted`; nil: nothing to report.
  mutating func ended(_ status: HCI.ErrorCode, at now: Instant) -> Result<Void, HostError>? {
    let step = inFlight
    if step != nil { progress = .changed }
    guard status == .success else {
      switch step {
      case .parameters: held.shape = nil
      case .address: held.address = nil
      case .data, .scanResponse:
        if step == .data { held.data = nil } else { held.scanResponse = nil }
        held.partial = nil
      // Advertising was already disabled.
      case .disable:
        activity = .disabled
        return nil
      case .remove:
        setRemoved()
        return nil
      case .enable, nil: break
      }
      guard isAwaited else {
        if case .started(let advertising, let until, _) = request {
          request = .started(advertising, until: until, retry: now + Self.retryTime)
        }
        return nil
      }
      stop()
      return .failure(.controller(status))
    }
    switch step {
    case .disable: activity = .disabled
    case .enable: activity = .enabled
    case .data, .scanResponse: partTaken()
    case .remove: setRemoved()
    case .parameters: held.kind = held.shape.map(Kind.init)
    case .address, nil: break
    }
    return answer(at: now)
  }

  /// Returns the result if the controller advertises with the requested parameters and data. New data apply as soon as
  /// the controller has both the data and the scan response.
  private mutating func answer(at now: Instant) -> Result<Void, HostError>? {
    guard case .starting(let desired) = request, isEnabled, held.shape == desired.shape, held.data == desired.data,
      held.scanResponse == desired.scanResponse
    else { return nil }
    request = .started(desired, until: desired.limit.map { now + $0.time }, retry: nil)
    return .success(())
  }

  /// Answers a start that needs no command because the same advertising is already enabled.
  mutating func answerWithoutCommand(at now: Instant) -> Result<Void, HostError>? {
    inFlight == nil ? answer(at: now) : nil
  }
}
