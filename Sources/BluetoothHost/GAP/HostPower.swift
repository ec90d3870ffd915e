import BluetoothWire

/// Switching on and off, and what happens when the controller breaks.
extension Host {
  enum Power {
    case off
    /// The links are being ended, at most until then; nil: the controller is being reset.
    case stopping(until: Instant?)
    case starting(Startup)
    /// The controller does not work; then it is reset once more.
    case pausing(until: Instant)
    case on
    /// The controller is of no use.
    case failed
    /// There is no way to the controller now.
    case unreachable
  }

  /// How long peers may take to confirm that their links end when the host is switched off.
  static let shutdownTime = TimeSpan.seconds(1)
  /// A controller that leaves so many commands in a row without an answer is broken, whichever they are.
  static let maximumUnansweredCommands = 3

  var isOn: Bool {
    if case .on = power { return true }
    return false
  }

  /// Starts up or shuts down the controller. A host begins switched off.
  package mutating func setPower(_ on: Bool, at now: Instant) {
    wantsPower = on
    switch power {
    case .off, .failed: if on { start() } else { power = .off }
    case .starting, .pausing, .unreachable: if !on { becomeOff() }
    case .on: if !on { shutDown(at: now) }
    case .stopping: break
    }
    settle(at: now)
  }

  /// Starts up a controller of which nothing is known.
  mutating func start() {
    recovery = Recovery()
    controller = ControllerFacts()
    guard transport == .ready else { return becomeUnreachable() }
    events.append(.powerChanged(.starting))
    resetController()
  }

  private var needsRandomAddress: Bool { !configuration.usesPublicAddress || configuration.usesPrivateAddresses }

  private mutating func resetController() {
    let startup = Startup(
      address: needsRandomAddress ? ownAddress.reset() : nil, preferredPHYs: configuration.preferredPHYs,
      silent: controller.silent)
    power = .starting(startup)
    commands.removeAll()
    unansweredCommands = 0
    if let command = startup.command { commands.append(command, for: .startup) }
  }

  private mutating func becomeOff() {
    commands.removeAll()
    power = .off
    events.append(.powerChanged(.off))
  }

  /// A command of the start-up has ended.
  mutating func startupEnded(_ status: HCI.ErrorCode, _ parameters: HCI.ReturnParameters?, at now: Instant) {
    guard case .starting(var startup) = power else { return }
    switch startup.ended(status, parameters) {
    case .goOn:
      if let command = startup.command { commands.append(command, for: .startup) }
      power = .starting(startup)
    case .ready:
      controller = startup.facts
      initiator = Initiator(acceptListSize: controller.acceptListSize)
      power = .on
      if controller.ownAddressType == .random { ownAddress.started(at: now) }
      securityContext.identity = ownIdentity
      if recovery.succeeded(at: now) { events.append(.trouble(.recovered)) }
      events.append(.powerChanged(.on))
    case .unusable: tryAgain(at: now)
    }
  }

  /// Resets a controller that does not work, now or later, unless that was done often enough.
  private mutating func tryAgain(at now: Instant) {
    commands.removeAll()
    guard let attempt = recovery.failed(at: now) else {
      power = .failed
      events.append(.trouble(.givenUp))
      events.append(.powerChanged(.unsupported))
      return
    }
    events.append(.trouble(.resetting(attempt: attempt.number, of: attempt.of, after: attempt.pause)))
    if attempt.pause == .zero { resetController() } else { power = .pausing(until: now + attempt.pause) }
  }

  // MARK: Off

  /// Ends the links with the reason that is meant for it, and then resets the controller. For those above it is off at
  /// once.
  private mutating func shutDown(at now: Instant) {
    commands.disown()
    if advertiser.isEnabled { commands.append(advertisingCommands.enable(false), for: .other) }
    if scanner.isEnabled { commands.append(scanCommands.disable, for: .other) }
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

  /// Resets the controller without waiting for anything else: there was time enough, or it does not answer.
  private mutating func resetAtOnce() {
    commands.removeUnsent()
    reset()
  }

  mutating func shutdownEnded() {
    forgetLinks()
    power = .off
    if wantsPower { start() }
  }

  // MARK: Failure

  mutating func timeReachedForPower(_ now: Instant) {
    switch power {
    case .stopping(let until?): if until <= now { resetAtOnce() }
    case .pausing(let until): if until <= now { resetController() }
    case .off, .stopping(nil), .starting, .on, .failed, .unreachable: break
    }
    switch commands.timeReached(now) {
    case .unanswered(let entry)?: unanswered(entry, at: now)
    case .stopped?: fail(.noCommandsTaken, at: now)
    case nil: break
    }
  }

  private mutating func unanswered(_ entry: CommandQueue.Entry, at now: Instant) {
    let trouble = HostTrouble.unanswered(entry.command.opcode)
    unansweredCommands += 1
    let isDead = unansweredCommands >= Self.maximumUnansweredCommands
    switch entry.purpose {
    case .startup where isDead: fail(trouble, at: now)
    case _ where isOn && (isDead || entry.purpose.isEssential): fail(trouble, at: now, unanswered: entry)
    default:
      events.append(.trouble(trouble))
      if case .shutdown = entry.purpose { return shutdownEnded() }
      if case .stopping = power { return resetAtOnce() }
      // It says that it has the command, and does not know it: it is not asked again.
      switch entry.purpose {
      case .startup, .checkLink: break
      default: controller.silent.insert(entry.command.opcode)
      }
      commandEnded(entry, .unspecifiedError, nil, at: now)
    }
  }

  /// The controller does not work any more: everything that it had is gone. It gets another chance.
  mutating func fail(_ trouble: HostTrouble, at now: Instant, unanswered: CommandQueue.Entry? = nil) {
    switch power {
    case .on: break
    case .starting(let startup):
      // What was on its way when the reset began.
      if startup.isResetting, trouble.isOfTheMoment { return }
      events.append(.trouble(trouble))
      return tryAgain(at: now)
    case .stopping:
      events.append(.trouble(trouble))
      return shutdownEnded()
    case .off, .failed, .pausing, .unreachable: return
    }
    events.append(.trouble(trouble))
    endEverything(unanswered: unanswered, at: now)
    events.append(.powerChanged(.starting))
    tryAgain(at: now)
  }

  /// Those above are told that all they have is gone.
  mutating func endEverything(unanswered: CommandQueue.Entry? = nil, at now: Instant) {
    var next = unanswered ?? commands.popFirst()
    while let entry = next {
      if case .readRSSI(let handle) = entry.purpose {
        events.append(.rssiRead(handle, .failure(.commandTimeout)))
      }
      next = commands.popFirst()
    }
    for link in allLinks {
      endSecurity(of: link, at: now)
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
  }

  private mutating func forgetWishes() {
    advertiser = Advertiser()
    scanner = Scanner()
    reports.removeAll()
    resolvingList.forgetController()
    ownAddress.stop()
    initiator = Initiator(acceptListSize: controller.acceptListSize)
  }

  mutating func forgetLinks() {
    for link in allLinks {
      keepCounters(of: link)
      keepClient(of: link)
      keepCache(of: link)
    }
    allLinks.removeAll()
    strays.removeAll()
    linkCheck.end()
    outstanding = 0
  }
}
