import BluetoothWire

/// The power states of the host and its recovery from controller failures.
extension Host {
  enum Power {
    case off
    /// The host is disconnecting the links, until the given time at the latest; nil: it is resetting the controller.
    case stopping(until: Instant?)
    case starting(Startup)
    /// The controller has failed; the host resets it again at the given time.
    case pausing(until: Instant)
    case on
    /// The controller is unusable.
    case failed
    /// The transport to the controller is down.
    case unreachable
  }

  /// The maximum time that the host waits for peers to confirm disconnection when it is switched off.
  static let shutdownTime = TimeSpan.seconds(1)
  /// The number of consecutive commands without an answer after which the controller counts as failed, whichever the
  /// commands are.
  static let maximumUnansweredCommands = 3

  var isOn: Bool {
    if case .on = power { return true }
    return false
  }

  /// Switches the host on or off, which starts up or shuts down the controller. A new host is off.
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

  /// Starts up the controller without any knowledge of its state.
  mutating func start() {
    recovery = Recovery()
    controller = ControllerCapabilities()
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

  /// Handles the end of a start-up command.
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

  /// Resets a failed controller, at once or after a pause, unless the maximum number of attempts is reached.
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

  // MARK: Shutdown

  /// Disconnects the links with the reason for power-off, and then resets the controller. The host reports `off`
  /// immediately.
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

  /// Resets the controller when the last link has ended during shutdown.
  mutating func resetIfQuiet() {
    if case .stopping(.some) = power, allLinks.isEmpty { reset() }
  }

  private mutating func reset() {
    power = .stopping(until: nil)
    commands.append(.reset, for: .shutdown)
  }

  /// Resets the controller immediately: the time for disconnection is over, or the controller does not answer.
  private mutating func resetAtOnce() {
    commands.removeUnsent()
    reset()
  }

  mutating func shutdownEnded() {
    forgetLinks()
    power = .off
    if wantsPower { start() }
  }

  // MARK: Failures

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
    let trouble = HostDiagnostic.unanswered(entry.command.opcode)
    unansweredCommands += 1
    let isDead = unansweredCommands >= Self.maximumUnansweredCommands
    switch entry.purpose {
    case .startup where isDead: fail(trouble, at: now)
    case _ where isOn && (isDead || entry.purpose.isEssential): fail(trouble, at: now, unanswered: entry)
    default:
      events.append(.trouble(trouble))
      if case .shutdown = entry.purpose { return shutdownEnded() }
      if case .stopping = power { return resetAtOnce() }
      // The controller advertises the command but does not answer it, so the host does not retry.
      switch entry.purpose {
      case .startup, .checkLink: break
      default: controller.silent.insert(entry.command.opcode)
      }
      commandEnded(entry, .unspecifiedError, nil, at: now)
    }
  }

  /// Handles a failure of the controller: all of its state is lost. The host tries to recover it.
  mutating func fail(_ trouble: HostDiagnostic, at now: Instant, unanswered: CommandQueue.Entry? = nil) {
    switch power {
    case .on: break
    case .starting(let startup):
      // These packets were in transit when the reset began.
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

  /// Reports the end of all links, connection attempts and other operations.
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
