import BluetoothWire

/// Switching on and off, and what happens when the controller breaks.
extension Host {
  enum Power {
    case off
    /// The links are being ended, at most until then; nil: the controller is being reset.
    case stopping(until: Instant?)
    case starting(Startup, isSecondTry: Bool)
    case on
    /// The controller is of no use.
    case failed
  }

  /// How long peers may take to confirm that their links end when the host is switched off.
  static let shutdownTime = TimeSpan.seconds(1)
  /// A controller that breaks again so soon is given up.
  static let trialTime = TimeSpan.seconds(10)

  var isOn: Bool {
    if case .on = power { return true }
    return false
  }

  /// Starts up or shuts down the controller. A host begins switched off.
  package mutating func setPower(_ on: Bool, at now: Instant) {
    wantsPower = on
    switch power {
    case .off, .failed: if on { start(isSecondTry: false) } else { power = .off }
    case .starting: if !on { becomeOff() }
    case .on: if !on { shutDown(at: now) }
    case .stopping: break
    }
    settle(at: now)
  }

  private mutating func start(isSecondTry: Bool) {
    let startup = Startup(address: address)
    if !isSecondTry { events.append(.powerChanged(.starting)) }
    power = .starting(startup, isSecondTry: isSecondTry)
    commands.removeAll()
    if let command = startup.command { commands.append(command, for: .startup) }
  }

  private mutating func becomeOff() {
    commands.removeAll()
    power = .off
    events.append(.powerChanged(.off))
  }

  /// A command of the start-up has ended.
  mutating func startupEnded(_ status: HCI.ErrorCode, _ parameters: HCI.ReturnParameters?) {
    guard case .starting(var startup, let isSecondTry) = power else { return }
    switch startup.ended(status, parameters) {
    case .goOn:
      if let command = startup.command { commands.append(command, for: .startup) }
      power = .starting(startup, isSecondTry: isSecondTry)
    case .ready:
      controller = startup.facts
      initiator = Initiator(acceptListSize: controller.acceptListSize)
      power = .on
      events.append(.powerChanged(.on))
    case .unusable:
      if isSecondTry { giveUp() } else { start(isSecondTry: true) }
    }
  }

  private mutating func giveUp() {
    commands.removeAll()
    power = .failed
    events.append(.powerChanged(.unsupported))
  }

  // MARK: Off

  /// Ends the links with the reason that is meant for it, and then resets the controller. For those above it is off at
  /// once.
  private mutating func shutDown(at now: Instant) {
    commands.removeAll()
    if advertiser.isEnabled { commands.append(advertisingCommands.enable(false), for: .other) }
    if scanner.isEnabled { commands.append(.leSetScanEnable(false, filterDuplicates: false), for: .other) }
    for index in allLinks.indices where !allLinks[index].isHidden {
      if allLinks[index].standing == .announced {
        events.append(.disconnected(allLinks[index].link.handle, .connectionTerminatedByLocalHost))
      }
      allLinks[index].standing = .hidden
      commands.append(
        .disconnect(allLinks[index].link.handle, reason: .remoteDeviceTerminatedPowerOff), for: .other)
    }
    forgetWishes()
    events.append(.powerChanged(.off))
    power = .stopping(until: now + Self.shutdownTime)
    resetIfQuiet()
  }

  /// Resets the controller when the last link has ended.
  mutating func resetIfQuiet() {
    if case .stopping(.some) = power, allLinks.isEmpty { reset() }
  }

  private mutating func reset() {
    power = .stopping(until: nil)
    commands.append(.reset, for: .shutdown)
  }

  mutating func shutdownEnded() {
    forgetLinks()
    power = .off
    if wantsPower { start(isSecondTry: false) }
  }

  // MARK: Failure

  mutating func timeReachedForPower(_ now: Instant) {
    if case .stopping(let until?) = power, until <= now { reset() }
    switch commands.timeReached(now) {
    case .unanswered(let entry)?:
      if case .shutdown = entry.purpose {
        shutdownEnded()
      } else if entry.purpose.isEssential, isOn {
        fail(at: now, unanswered: entry)
      } else {
        commandEnded(entry, .unspecifiedError, nil, at: now)
      }
    case .stopped?: fail(at: now)
    case nil: break
    }
  }

  /// The controller does not work any more: everything that it had is gone. It gets another chance.
  mutating func fail(at now: Instant, unanswered: CommandQueue.Entry? = nil) {
    switch power {
    case .on: break
    case .starting(_, let isSecondTry):
      if isSecondTry { giveUp() } else { start(isSecondTry: true) }
      return
    case .stopping:
      shutdownEnded()
      return
    case .off, .failed: return
    }
    var next = unanswered ?? commands.popFirst()
    while let entry = next {
      if case .readRSSI(let handle) = entry.purpose {
        events.append(.rssiRead(handle, .failure(.commandTimeout)))
      }
      next = commands.popFirst()
    }
    for link in allLinks {
      switch link.standing {
      case .announced: events.append(.disconnected(link.link.handle, .hardwareFailure))
      case .unproven: events.append(.connectionFailed(link.link.peer, .hardwareFailure))
      case .hidden: break
      }
    }
    for address in initiator.wanted { events.append(.connectionFailed(address, .hardwareFailure)) }
    if advertiser.isAwaited { events.append(.advertisingStarted(.commandTimeout)) }
    forgetWishes()
    forgetLinks()
    let isRepeated = lastFailure.map { now - $0 < Self.trialTime } ?? false
    lastFailure = now
    if isRepeated { giveUp() } else { start(isSecondTry: false) }
  }

  private mutating func forgetWishes() {
    advertiser = Advertiser()
    scanner = Scanner()
    initiator = Initiator(acceptListSize: controller.acceptListSize)
  }

  private mutating func forgetLinks() {
    for link in allLinks { keepClient(of: link) }
    allLinks.removeAll()
    outstanding = 0
  }
}
