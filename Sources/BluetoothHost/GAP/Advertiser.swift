import BluetoothWire

/// Brings the controller's advertising to what is wanted, one command at a time · Vol 4, Part E, 7.8.5 to 7.8.9, and 7.8.52
/// to 7.8.56 for extended commands.
struct Advertiser {
  private enum Step { case disable, remove, parameters, address, data, scanResponse, enable }

  /// What a set can't go over from while it holds data · Vol 4, Part E, 7.8.53.
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
  /// What the controller has.
  private var data: ByteSlice?
  private var scanResponse: ByteSlice?
  private var shape: HostAdvertising.Shape?
  private var owner: AdvertisingCommands.Owner?
  /// Of the set that there is.
  private var kind: Kind?
  private var hasAddress = false
  /// What goes to the controller in parts.
  private var partial: Partial?
  private(set) var isEnabled = false
  private var inFlight: Step?
  private var owesAnswer = false
  /// Off for a while, whatever is wanted.
  private var isPaused = false
  /// The controller has refused to go on beside the links that there are. It is tried again at times: a link may have ended
  /// without the host's knowledge.
  private var retry: Instant? { didSet { deadline = earliest(limit, retry) } }
  /// Switches advertising off and on, because the controller may have stopped it.
  private var restarts = false
  /// Something has changed since there was nothing to do.
  private(set) var isDirty = false
  /// When limited discoverable mode is over.
  private var limit: Instant? { didSet { deadline = earliest(limit, retry) } }
  /// When `timeReached` wants to be called. Stored: it is asked for much more often than it changes.
  private(set) var deadline: Instant?

  /// The pause after the controller has refused to advertise beside links.
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

  /// True: advertising ends now.
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
      // There are Flags, so there is room for them.
      if let data = wanted.flatMap({ AdvertisingData($0.data).discoverable(.generalDiscoverable) }) {
        wanted?.data = data
      }
      isDirty = true
      return false
    }
  }

  /// Off, or about to go on again.
  mutating func pause(_ isPaused: Bool) {
    guard self.isPaused != isPaused else { return }
    self.isPaused = isPaused
    isDirty = true
  }

  /// The controller does nothing for it.
  var isQuiet: Bool { !isEnabled && inFlight == nil }

  /// The controller has forgotten all, or never taken anything; what is wanted stays.
  mutating func forgetController() {
    let (wanted, owesAnswer, limit, isPaused) = (wanted, owesAnswer, limit, isPaused)
    self = Advertiser()
    (self.wanted, self.owesAnswer, self.limit, self.isPaused) = (wanted, owesAnswer, limit, isPaused)
    isDirty = true
  }

  /// The controller has legacy commands only, and has taken none so far: what is wanted on extended PDUs is given up. The
  /// result is what `advertisingStarted` is to tell; nil: nothing.
  mutating func fallBack() -> Result<Void, HostError>? {
    forgetController()
    guard wanted?.shape.extended != nil else { return nil }
    let isAwaited = owesAnswer
    stop()
    return isAwaited ? .failure(.controller(.unsupportedFeatureOrParameterValue)) : nil
  }

  /// The controller has ended the set itself. True: it is not begun again.
  mutating func setTerminated(_ status: HCI.ErrorCode) -> Bool {
    // With a connection, whose own event has told it.
    guard status != .success, isEnabled else { return false }
    isEnabled = false
    // What is to begin now is something else than what has ended.
    guard status == .advertisingTimeout, !owesAnswer else {
      isDirty = true
      return false
    }
    stop()
    return true
  }

  /// Somebody waits to hear that it began.
  var isAwaited: Bool { owesAnswer }

  /// A link in the peripheral role ends advertising · Vol 4, Part E, 7.8.9.
  mutating func linkCameAbout() {
    isEnabled = false
    isDirty = true
  }

  mutating func linkEnded() {
    retry = nil
    isDirty = true
  }

  /// A link has come about or has ended without the host's knowledge, and may have ended advertising.
  mutating func restart() {
    retry = nil
    restarts = isEnabled
    isDirty = true
  }

  /// The next command; nil: there is nothing to do now.
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
      // An advertiser that is on takes no other parameters · Vol 4, Part E, 7.8.5.
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

  /// The next part of data, which is mostly all of them. An advertiser that is on takes no parts · Vol 4, Part E, 7.8.54.
  private mutating func send(
    _ content: ByteSlice, isScanResponse: Bool, _ commands: AdvertisingCommands
  ) -> HCI.Command {
    if isEnabled, content.count > AdvertisingCommands.maximumFragment { return send(.disable, commands.enable(false)) }
    if partial?.isScanResponse != isScanResponse || partial?.content != content {
      partial = Partial(isScanResponse: isScanResponse, content: content, sent: 0)
    }
    let sent = partial?.sent ?? 0
    partial?.sent = min(content.count, sent + AdvertisingCommands.maximumFragment)
    // The first part takes the place of what there was.
    if content.count > AdvertisingCommands.maximumFragment {
      if isScanResponse { scanResponse = nil } else { data = nil }
    }
    return isScanResponse
      ? send(.scanResponse, commands.scanResponse(content, from: sent))
      : send(.data, commands.data(content, from: sent))
  }

  /// The controller has a part of data.
  private mutating func partTaken() {
    guard let partial, partial.sent == partial.content.count else { return }
    if partial.isScanResponse { scanResponse = partial.content } else { data = partial.content }
    self.partial = nil
  }

  /// The set is gone, or of no other use where the controller does not remove it.
  private mutating func setRemoved() {
    (kind, shape, data, scanResponse, partial) = (nil, nil, nil, nil, nil)
    hasAddress = false
  }

  private mutating func send(_ step: Step, _ command: HCI.Command) -> HCI.Command {
    inFlight = step
    return command
  }

  /// The command has ended. The result is what `advertisingStarted` is to tell; nil: nothing.
  mutating func ended(_ status: HCI.ErrorCode, at now: Instant) -> Result<Void, HostError>? {
    defer { inFlight = nil }
    guard status == .success else {
      switch inFlight {
      case .parameters: shape = nil
      case .address: hasAddress = false
      case .data, .scanResponse:
        if inFlight == .data { data = nil } else { scanResponse = nil }
        partial = nil
      // It was off already.
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

  /// New data of an advertiser that is on are in force as soon as the controller has both.
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

  /// Answers a start that needs no command, because the same is in force already.
  mutating func answerWithoutCommand(at now: Instant) -> Result<Void, HostError>? {
    inFlight == nil ? answer(at: now) : nil
  }
}
