import BluetoothWire

/// The state machine of one advertising set, or of legacy advertising. It compares the requested advertising with the
/// controller's state and issues one command at a time · Vol 4, Part E, 7.8.5 to 7.8.9; 7.8.52 to 7.8.56 for extended
/// commands, 7.8.61 to 7.8.63 for the periodic train of a set.
struct HostAdvertiser {
  private enum Step {
    case disable, remove, parameters, address, data, scanResponse, enable
    case disableTrain, trainParameters, trainData, enableTrain
  }

  /// The contents that the controller takes in fragments.
  private enum Part { case data, scanResponse, trainData }

  /// The properties of an advertising set that cannot change while the set holds data · Vol 4, Part E, 7.8.53.
  private struct Kind: Equatable {
    let type: HCI.AdvertisingType
    let isExtended: Bool

    init(_ shape: HostAdvertising.Shape) { (type, isExtended) = (shape.type, shape.extended != nil) }
  }

  private struct Partial {
    let part: Part
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
    /// The periodic train; nil: the set has never had one.
    @Boxed var train: TrainState?
    /// True if the periodic train is enabled. It goes on while advertising is disabled · Vol 4, Part E, 7.8.56.
    var isTrainEnabled: Bool { train?.isEnabled ?? false }
  }

  /// The periodic train of a set as the controller holds it. A value is nil if the host has not set it, or if the
  /// controller may not have accepted it.
  private struct TrainState {
    var shape: HostAdvertising.PeriodicTrain.Shape?
    var data: ByteSlice?
    var isEnabled = false
  }

  private var request = Request.none { didSet { setDeadline() } }
  private var held = ControllerState()
  private var activity = Activity.disabled
  private var progress = Progress.settled
  /// True while advertising is suspended. Independent of the request, whose state a pause does not change.
  private(set) var isPaused = false
  /// True if the controller must not keep the set when advertising has stopped: it holds a limited number of sets.
  private var removesUnusedSet = false
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

  /// True if the controller sends the set's periodic train as far as the host knows.
  var isTrainEnabled: Bool { held.isTrainEnabled }

  /// True while the controller advertises with PDUs in response to which a central can connect.
  var isConnectable: Bool {
    switch held.shape?.type {
    case .connectableScannableUndirected, .connectableDirectedHighDutyCycle, .connectableDirectedLowDutyCycle:
      isEnabled
    case .scannableUndirected, .nonConnectableUndirected, nil: false
    }
  }

  /// True if no advertising is requested, no command is due, and the controller holds no set.
  var isUnused: Bool { desired == nil && !hasWork && held.kind == nil }

  /// True while the controller holds a set that it must remove.
  var isEnding: Bool { desired == nil && removesUnusedSet && held.kind != nil }

  /// True if the controller holds no set.
  var isNew: Bool { held.kind == nil }

  /// True if advertising is requested.
  var isRequested: Bool { desired != nil }

  /// Lets the controller remove the set as soon as advertising has stopped.
  mutating func removeUnusedSet() {
    guard !removesUnusedSet else { return }
    removesUnusedSet = true
    noteChange()
  }

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
    guard let desired = current else { return nextCommandForEnd(commands) }
    if activity == .mustRestart { return (.disable, commands.enable(false)) }
    if held.shape != desired.shape || held.owner != commands.owner {
      // The controller rejects new parameters while advertising is enabled · Vol 4, Part E, 7.8.5.
      if isEnabled { return (.disable, commands.enable(false)) }
      if let kind = held.kind, kind != Kind(desired.shape), let command = commands.remove {
        if held.isTrainEnabled { return (.disableTrain, commands.enableTrain(false)) }
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
      if commands.hasData(desired.shape) { return send(desired.data, .data, commands) }
      held.data = desired.data
    }
    if held.scanResponse != desired.scanResponse {
      if commands.hasScanResponse(desired.shape) { return send(desired.scanResponse, .scanResponse, commands) }
      held.scanResponse = desired.scanResponse
    }
    if let command = nextTrainCommand(desired.train, commands) { return command }
    return isEnabled ? nil : (.enable, commands.enable(true, desired.shape))
  }

  /// Returns the next command while no advertising is due. A pause leaves the train on: only the end of the request
  /// ends it.
  private func nextCommandForEnd(_ commands: AdvertisingCommands) -> (Step, HCI.Command)? {
    if isEnabled { return (.disable, commands.enable(false)) }
    guard desired == nil else { return nil }
    if held.isTrainEnabled { return (.disableTrain, commands.enableTrain(false)) }
    if removesUnusedSet, held.kind != nil, let command = commands.remove { return (.remove, command) }
    return nil
  }

  /// Returns the next command for the periodic train, which is enabled before the set, so that the first packets of the
  /// set announce the train.
  private mutating func nextTrainCommand(
    _ train: HostAdvertising.PeriodicTrain?, _ commands: AdvertisingCommands
  ) -> (Step, HCI.Command)? {
    guard let train else { return held.isTrainEnabled ? (.disableTrain, commands.enableTrain(false)) : nil }
    let heldTrain = held.train ?? TrainState()
    if heldTrain.shape != train.shape {
      // The controller rejects new parameters while the train is enabled · Vol 4, Part E, 7.8.61.
      if heldTrain.isEnabled { return (.disableTrain, commands.enableTrain(false)) }
      held.train = heldTrain
      held.train?.shape = train.shape
      return (.trainParameters, commands.trainParameters(train.shape))
    }
    if heldTrain.data != train.data { return send(train.data, .trainData, commands) }
    return held.isTrainEnabled ? nil : (.enableTrain, commands.enableTrain(true))
  }

  /// Returns the command with the next fragment of the data; most data fit into one. The controller rejects fragments
  /// while advertising, or the train, is enabled · Vol 4, Part E, 7.8.54, 7.8.62.
  private mutating func send(
    _ content: ByteSlice, _ part: Part, _ commands: AdvertisingCommands
  ) -> (Step, HCI.Command) {
    let limit = part == .trainData ? AdvertisingCommands.maximumTrainFragment : AdvertisingCommands.maximumFragment
    if content.count > limit {
      if part == .trainData, held.isTrainEnabled { return (.disableTrain, commands.enableTrain(false)) }
      if part != .trainData, isEnabled { return (.disable, commands.enable(false)) }
    }
    if held.partial?.part != part || held.partial?.content != content {
      held.partial = Partial(part: part, content: content, sent: 0)
    }
    let sent = held.partial?.sent ?? 0
    held.partial?.sent = min(content.count, sent + limit)
    // The first fragment replaces the data that the controller holds.
    if content.count > limit { hold(nil, part) }
    return switch part {
    case .data: (.data, commands.data(content, from: sent))
    case .scanResponse: (.scanResponse, commands.scanResponse(content, from: sent))
    case .trainData: (.trainData, commands.trainData(content, from: sent))
    }
  }

  /// Records the content that the controller holds; nil: unknown.
  private mutating func hold(_ content: ByteSlice?, _ part: Part) {
    switch part {
    case .data: held.data = content
    case .scanResponse: held.scanResponse = content
    case .trainData: held.train?.data = content
    }
  }

  /// Records that the controller has accepted a fragment.
  private mutating func partTaken() {
    guard let partial = held.partial, partial.sent == partial.content.count else { return }
    hold(partial.content, partial.part)
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
      case .trainParameters: held.train?.shape = nil
      case .data, .scanResponse, .trainData:
        if let partial = held.partial { hold(nil, partial.part) }
        held.partial = nil
      // Advertising was already disabled.
      case .disable:
        activity = .disabled
        return nil
      case .disableTrain:
        held.train?.isEnabled = false
        return nil
      case .remove:
        setRemoved()
        return nil
      case .enable, .enableTrain, nil: break
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
    case .disableTrain: held.train?.isEnabled = false
    case .enableTrain: held.train?.isEnabled = true
    case .data, .scanResponse, .trainData: partTaken()
    case .remove: setRemoved()
    case .parameters: held.kind = held.shape.map(Kind.init)
    case .trainParameters, .address, nil: break
    }
    return answer(at: now)
  }

  /// Returns the result if the controller advertises with the requested parameters and data. New data apply as soon as
  /// the controller has both the data and the scan response.
  private mutating func answer(at now: Instant) -> Result<Void, HostError>? {
    guard case .starting(let desired) = request, isEnabled, held.shape == desired.shape, held.data == desired.data,
      held.scanResponse == desired.scanResponse, holds(desired.train)
    else { return nil }
    request = .started(desired, until: desired.limit.map { now + $0.time }, retry: nil)
    return .success(())
  }

  /// True if the controller sends this train; nil: none.
  private func holds(_ train: HostAdvertising.PeriodicTrain?) -> Bool {
    guard let train else { return !held.isTrainEnabled }
    guard let held = held.train else { return false }
    return held.isEnabled && held.shape == train.shape && held.data == train.data
  }

  /// Answers a start that needs no command because the same advertising is already enabled.
  mutating func answerWithoutCommand(at now: Instant) -> Result<Void, HostError>? {
    inFlight == nil ? answer(at: now) : nil
  }
}
