import BluetoothWire

/// Brings the controller's advertising to what is wanted, one command at a time · Vol 4, Part E, 7.8.5 to 7.8.9, and 7.8.52
/// to 7.8.56 for extended commands.
struct Advertiser {
  private enum Step { case disable, parameters, address, data, scanResponse, enable }

  private var wanted: HostAdvertising?
  /// What the controller has.
  private var data: ByteSlice?
  private var scanResponse: ByteSlice?
  private var shape: HostAdvertising.Shape?
  private var hasAddress = false
  private(set) var isEnabled = false
  private var inFlight: Step?
  private var owesAnswer = false
  /// The controller has refused to go on beside the links that there are.
  private var isBlocked = false
  /// Something has changed since there was nothing to do.
  private(set) var isDirty = false
  /// When limited discoverable mode is over.
  private(set) var deadline: Instant?

  mutating func start(_ advertising: HostAdvertising) {
    wanted = advertising
    deadline = nil
    owesAnswer = true
    isBlocked = false
    isDirty = true
  }

  mutating func stop() {
    wanted = nil
    deadline = nil
    owesAnswer = false
    isDirty = true
  }

  /// True: advertising ends now.
  mutating func timeReached(_ now: Instant) -> Bool {
    guard let until = deadline, until <= now, let limit = wanted?.limit else { return false }
    deadline = nil
    switch limit.end {
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

  /// Somebody waits to hear that it began.
  var isAwaited: Bool { owesAnswer }

  /// A link in the peripheral role ends advertising · Vol 4, Part E, 7.8.9.
  mutating func linkCameAbout() {
    isEnabled = false
    isDirty = true
  }

  mutating func linkEnded() {
    isBlocked = false
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
    guard let wanted, !isBlocked else { return isEnabled ? send(.disable, commands.enable(false)) : nil }
    if shape != wanted.shape {
      // An advertiser that is on takes no other parameters · Vol 4, Part E, 7.8.5.
      if isEnabled { return send(.disable, commands.enable(false)) }
      // What other PDUs do not carry stays with the set, whatever was wanted meanwhile.
      if shape?.type != wanted.shape.type { (data, scanResponse) = (nil, nil) }
      shape = wanted.shape
      return send(.parameters, commands.parameters(wanted.shape))
    }
    if !hasAddress {
      hasAddress = true
      if let command = commands.address { return send(.address, command) }
    }
    if data != wanted.data {
      data = wanted.data
      if let command = commands.data(wanted) { return send(.data, command) }
    }
    if scanResponse != wanted.scanResponse {
      scanResponse = wanted.scanResponse
      if let command = commands.scanResponse(wanted) { return send(.scanResponse, command) }
    }
    return isEnabled ? nil : send(.enable, commands.enable(true))
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
      case .data: data = nil
      case .scanResponse: scanResponse = nil
      // It was off already.
      case .disable:
        isEnabled = false
        return nil
      default: break
      }
      guard owesAnswer else {
        isBlocked = true
        return nil
      }
      stop()
      return .failure(.controller(status))
    }
    switch inFlight {
    case .disable: isEnabled = false
    case .enable: isEnabled = true
    case .parameters, .address, .data, .scanResponse, nil: break
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
    deadline = wanted?.limit.map { now + $0.time }
    return .success(())
  }

  /// Answers a start that needs no command, because the same is in force already.
  mutating func answerWithoutCommand(at now: Instant) -> Result<Void, HostError>? {
    inFlight == nil ? answer(at: now) : nil
  }
}
