import BluetoothWire
import DequeModule

/// The host's driver of its controller: power, transport, initialization, recovery from failures, and the queues of
/// commands and packets.
///
/// The driver knows nothing about links and operations. Where an event concerns them, the driver returns an `Outcome`
/// for the host.
struct ControllerDriver {
  private enum Power {
    case off
    /// The host is disconnecting the links, until the given time at the latest; nil: it is resetting the controller.
    case stopping(until: Instant?)
    case starting(Startup)
    /// The controller has failed; the host resets it again at the given time.
    case pausing(until: Instant)
    case on
    /// The controller is unusable, at least until its transport is opened again.
    case failed
    /// The transport to the controller is down.
    case unreachable
  }

  /// The consequence of an event for the links and operations of the host.
  enum Outcome {
    /// No consequence.
    case none
    /// The controller is ready for operation.
    case isReady
    /// The host was switched off. It ends its operations and calls `shutDown`.
    case mustShutDown
    /// The controller has been reset for the shutdown. The host forgets its links and calls `shutdownEnded`.
    case hasShutDown
    /// The controller has failed: all of its state is lost. The host reports the end of all links and operations,
    /// including the command without an answer, and calls `recover`.
    case hasFailed(unanswered: CommandQueue.Entry?)
    /// The controller has not answered a command that the host can do without.
    case isUnanswered(CommandQueue.Entry)
    /// A command ends with this answer.
    indirect case isAnswered(CommandQueue.Entry, CommandQueue.Answer)
  }

  /// The maximum time that the host waits for peers to confirm disconnection when it is switched off.
  static let shutdownTime = TimeSpan.seconds(1)
  /// The number of consecutive commands without an answer after which the controller counts as failed, whichever the
  /// commands are.
  private static let maximumUnansweredCommands = 3
  /// The time without a packet from the controller after which the host checks whether the controller works.
  private static let maximumSilence = TimeSpan.seconds(10)

  private let preferredPHYs: HCI.PHYs?
  private let needsRandomAddress: Bool
  private let prefersExtendedCommands: Bool
  private let advertisesWithExtendedCommands: Bool
  private let canReopenTransport: Bool
  private let checksSilentController: Bool
  private var power = Power.off
  private var wantsPower = false
  private var transport = TransportState.ready
  private var recovery = Recovery()
  /// The arrival time of the latest packet from the controller.
  var lastArrival = Instant.zero
  /// The next instant at which the host compares the time with `lastArrival`; nil: never. Packets do not move it.
  private var silenceCheck: Instant?
  /// True if the latest start-up has shown that the controller has no Low Energy, which no other transport changes.
  private var lacksLowEnergy = false
  /// The number of consecutive commands without an answer.
  private var unansweredCommands = 0
  private(set) var capabilities = ControllerCapabilities()
  private var commands = CommandQueue()
  /// True if the controller claims the extended commands but does not know them.
  private var refusesExtendedCommands = false
  private var packets: Deque<HCI.Packet> = []

  /// Creates the driver of a controller that is switched off.
  init(_ configuration: HostConfiguration) {
    preferredPHYs = configuration.preferredPHYs
    needsRandomAddress = !configuration.usesPublicAddress || configuration.usesPrivateAddresses
    prefersExtendedCommands = configuration.usesExtendedCommands
    advertisesWithExtendedCommands = configuration.advertisesWithExtendedCommands
    canReopenTransport = configuration.canReopenTransport
    checksSilentController = configuration.checksSilentController
  }

  /// True while the controller is ready for operation.
  @inline(__always)
  var isOn: Bool {
    if case .on = power { return true }
    return false
  }

  /// True if all resets of the controller have failed and the transport must be opened again.
  var needsNewTransport: Bool {
    if case .failed = power { return canReopenTransport && !lacksLowEnergy }
    return false
  }

  /// The next instant at which `timeReached` must be called; nil: none.
  ///
  /// Read-only; `mutating` avoids copying the driver.
  var deadline: Instant? {
    mutating get {
      switch power {
      case .stopping(let until?), .pausing(let until): earliest(commands.deadline, until)
      case .on: earliest(commands.deadline, silenceCheck)
      case .off, .stopping(nil), .starting, .failed, .unreachable: commands.deadline
      }
    }
  }

  // MARK: Power

  /// Switches the host on or off.
  mutating func setPower(_ on: Bool, _ ownAddress: inout OwnAddress, _ output: inout HostOutput) -> Outcome {
    wantsPower = on
    switch power {
    case .off, .failed: if on { start(&ownAddress, &output) } else { power = .off }
    case .starting, .pausing, .unreachable: if !on { becomeOff(&output) }
    case .on: if !on { return .mustShutDown }
    case .stopping: break
    }
    return .none
  }

  /// Starts up the controller without any knowledge of its state.
  private mutating func start(_ ownAddress: inout OwnAddress, _ output: inout HostOutput) {
    recovery = Recovery()
    capabilities = ControllerCapabilities()
    guard transport == .ready else { return becomeUnreachable(&output) }
    output.tell(.powerChanged(.starting))
    resetController(&ownAddress)
  }

  private mutating func resetController(_ ownAddress: inout OwnAddress) {
    let startup = Startup(
      address: needsRandomAddress ? ownAddress.reset() : nil, preferredPHYs: preferredPHYs,
      silent: capabilities.silent)
    power = .starting(startup)
    lacksLowEnergy = false
    commands.removeAll()
    unansweredCommands = 0
    if let command = startup.command { commands.append(command, for: .startup) }
  }

  private mutating func becomeOff(_ output: inout HostOutput) {
    commands.removeAll()
    power = .off
    output.tell(.powerChanged(.off))
  }

  /// Handles the end of a start-up command.
  mutating func startupEnded(
    _ status: HCI.ErrorCode, _ parameters: HCI.ReturnParameters?, _ ownAddress: inout OwnAddress,
    _ output: inout HostOutput, at now: Instant
  ) -> Outcome {
    guard case .starting(var startup) = power else { return .none }
    switch startup.ended(status, parameters) {
    case .goOn:
      if let command = startup.command { commands.append(command, for: .startup) }
      power = .starting(startup)
    case .ready:
      capabilities = startup.facts
      power = .on
      silenceCheck = checksSilentController ? now + Self.maximumSilence : nil
      if recovery.succeeded(at: now) { output.tell(.trouble(.recovered)) }
      output.tell(.powerChanged(.on))
      return .isReady
    case .unusable: tryAgain(&ownAddress, &output, at: now)
    case .lacksLowEnergy:
      lacksLowEnergy = true
      tryAgain(&ownAddress, &output, at: now)
    }
    return .none
  }

  /// Prepares the shutdown: the controller still disables its operations, but their ends are ignored.
  mutating func prepareShutdown() { commands.disown() }

  /// Resets the controller when all links have ended. The host reports `off` immediately.
  mutating func shutDown(hasLinks: Bool, _ output: inout HostOutput, at now: Instant) {
    output.tell(.powerChanged(.off))
    power = .stopping(until: now + Self.shutdownTime)
    if !hasLinks { linksEnded() }
  }

  /// Resets the controller when the last link has ended during shutdown.
  mutating func linksEnded() {
    if case .stopping(.some) = power { reset() }
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

  /// Ends the shutdown after the host has forgotten its links.
  mutating func shutdownEnded(_ ownAddress: inout OwnAddress, _ output: inout HostOutput) {
    power = .off
    if wantsPower { start(&ownAddress, &output) }
  }

  // MARK: Transport

  /// Starts up the controller after its transport has come up.
  mutating func transportCameUp(_ ownAddress: inout OwnAddress, _ output: inout HostOutput) {
    transport = .ready
    if case .unreachable = power { start(&ownAddress, &output) }
  }

  /// Discards all commands and packets, because the transport is down. The host has ended its links and operations.
  mutating func transportWentDown(_ state: TransportState, _ output: inout HostOutput) {
    transport = state
    commands.removeAll()
    packets.removeAll()
    if wantsPower { becomeUnreachable(&output) } else { power = .off }
  }

  private mutating func becomeUnreachable(_ output: inout HostOutput) {
    power = .unreachable
    switch transport {
    case .ready, .connecting: output.tell(.powerChanged(.starting))
    case .lost: output.tell(.powerChanged(.unreachable))
    case .refused: output.tell(.powerChanged(.unsupported))
    }
  }

  // MARK: Failures

  /// Handles the timers of power states, and commands without an answer.
  mutating func timeReached(
    _ ownAddress: inout OwnAddress, _ output: inout HostOutput, at now: Instant
  ) -> Outcome {
    switch power {
    case .stopping(let until?): if until <= now { resetAtOnce() }
    case .pausing(let until): if until <= now { resetController(&ownAddress) }
    case .on: checkForSilence(at: now)
    case .off, .stopping(nil), .starting, .failed, .unreachable: break
    }
    switch commands.timeReached(now) {
    case .unanswered(let entry)?: return unanswered(entry, &ownAddress, &output, at: now)
    case .answered(let entry, let answer)?:
      unansweredCommands = 0
      return .isAnswered(entry, answer)
    case .stopped?: return fail(.noCommandsTaken, &ownAddress, &output, at: now)
    case nil: return .none
    }
  }

  /// Queues a command for a controller from which no packet has arrived for the maximum time. Its timeout starts the
  /// recovery.
  private mutating func checkForSilence(at now: Instant) {
    guard let silenceCheck, silenceCheck <= now else { return }
    let silenceEnd = lastArrival + Self.maximumSilence
    guard silenceEnd <= now else {
      self.silenceCheck = silenceEnd
      return
    }
    self.silenceCheck = now + Self.maximumSilence
    if commands.progress(of: .checkController) == nil {
      commands.append(capabilities.leBufferSizeCommand, for: .checkController)
    }
  }

  private mutating func unanswered(
    _ entry: CommandQueue.Entry, _ ownAddress: inout OwnAddress, _ output: inout HostOutput, at now: Instant
  ) -> Outcome {
    let trouble = HostDiagnostic.unanswered(entry.opcode)
    unansweredCommands += 1
    let isDead = unansweredCommands >= Self.maximumUnansweredCommands
    if isDead, entry.purpose == .startup { return fail(trouble, &ownAddress, &output, at: now) }
    if isOn, isDead || entry.purpose.isEssential {
      return fail(trouble, unanswered: entry, &ownAddress, &output, at: now)
    }
    output.tell(.trouble(trouble))
    if case .shutdown = entry.purpose { return .hasShutDown }
    if case .stopping = power {
      resetAtOnce()
      return .none
    }
    // The controller advertises the command but does not answer it, so the host does not retry.
    if !entry.purpose.isRepeated { capabilities.silent.insert(entry.opcode) }
    return .isUnanswered(entry)
  }

  /// Handles a failure of the controller: all of its state is lost. The host tries to recover it.
  mutating func fail(
    _ trouble: HostDiagnostic, unanswered: CommandQueue.Entry? = nil, _ ownAddress: inout OwnAddress,
    _ output: inout HostOutput, at now: Instant
  ) -> Outcome {
    switch power {
    case .on:
      output.tell(.trouble(trouble))
      return .hasFailed(unanswered: unanswered)
    case .starting(let startup):
      // Packets that were in transit when the reset began may have caused this fault.
      if startup.isResetting, trouble.isOfTheMoment { return .none }
      output.tell(.trouble(trouble))
      tryAgain(&ownAddress, &output, at: now)
      return .none
    case .stopping:
      output.tell(.trouble(trouble))
      return .hasShutDown
    case .off, .failed, .pausing, .unreachable: return .none
    }
  }

  /// Resets the failed controller after the host has reported the end of all links and operations.
  mutating func recover(_ ownAddress: inout OwnAddress, _ output: inout HostOutput, at now: Instant) {
    output.tell(.powerChanged(.starting))
    tryAgain(&ownAddress, &output, at: now)
  }

  /// Resets a failed controller, at once or after a pause, unless the maximum number of attempts is reached.
  private mutating func tryAgain(_ ownAddress: inout OwnAddress, _ output: inout HostOutput, at now: Instant) {
    commands.removeAll()
    // A controller that fell silent worked until its latest packet, not until the host noticed the silence.
    guard let attempt = recovery.failed(afterWorkUntil: checksSilentController ? lastArrival : now) else {
      power = .failed
      guard !needsNewTransport else { return output.tell(.powerChanged(.unreachable)) }
      output.tell(.trouble(.failed))
      output.tell(.powerChanged(.unsupported))
      return
    }
    output.tell(.trouble(.resetting(attempt: attempt.number, of: attempt.of, after: attempt.pause)))
    if attempt.pause == .zero { resetController(&ownAddress) } else { power = .pausing(until: now + attempt.pause) }
  }

  /// Fails all commands, sent or not, because the controller has failed.
  ///
  /// - Parameter unanswered: The command that it did not answer; nil: it has answered all.
  mutating func failCommands(unanswered: CommandQueue.Entry?, _ output: inout HostOutput) {
    var next = unanswered ?? commands.popFirst()
    while let entry = next {
      if case .readRSSI(let handle) = entry.purpose {
        output.tell(.rssiRead(handle, .failure(.commandTimeout)))
      }
      next = commands.popFirst()
    }
  }

  // MARK: Commands

  /// Queues a command.
  mutating func append(_ command: HCI.Command, for purpose: CommandPurpose) { commands.append(command, for: purpose) }

  /// Returns the progress of the first command for this purpose; nil: there is none.
  func progress(of purpose: CommandPurpose) -> CommandQueue.Progress? { commands.progress(of: purpose) }

  /// Removes the commands for a link that have not been sent, because the link has ended.
  mutating func linkEnded(_ handle: HCI.ConnectionHandle, _ output: inout HostOutput) {
    for entry in commands.removeAll(for: handle) {
      if case .readRSSI = entry.purpose { output.tell(.rssiRead(handle, .failure(.notConnected))) }
    }
  }

  /// Handles Command Complete or Command Status. Returns the command that the event answers; nil: none.
  mutating func answered(_ answer: CommandQueue.Answer, _ output: inout HostOutput) -> CommandQueue.Entry? {
    guard let entry = commands.answered(answer) else {
      if answer.opcode != .none { output.metrics.unexpectedPackets += 1 }
      return nil
    }
    unansweredCommands = 0
    return entry
  }

  /// Sends the queued commands that the controller accepts now.
  @inline(__always)
  mutating func sendCommands(_ pool: PacketPool, at now: Instant) {
    guard !commands.isEmpty else { return }
    while let command = commands.takeCommand(at: now) { packets.append(command.packet(in: pool)) }
  }

  /// Queues a packet with data for the controller.
  @inline(__always)
  mutating func append(_ packet: HCI.ACLData) { packets.append(.acl(packet)) }

  /// Removes and returns the next packet for the controller.
  @inline(__always)
  mutating func takePacket() -> HCI.Packet? { packets.popFirst() }

  // MARK: Legacy and extended commands

  /// The reaction of the host to the result of an extended command.
  enum Fallback {
    /// The command ends as any other.
    case none
    /// The host uses the legacy commands from now on, and forgets the controller's state of advertising, scanning and
    /// connecting.
    case usesLegacyCommands
    /// The controller rejects legacy commands until it is reset.
    case needsReset(HostDiagnostic)
  }

  /// True if the host uses the extended commands. A controller takes these or the legacy commands until it is reset
  /// · Vol 4, Part E, 3.1.1.
  @inline(__always)
  var usesExtendedCommands: Bool {
    prefersExtendedCommands && !refusesExtendedCommands && capabilities.hasExtendedCommands
  }

  /// True if the host uses the extended commands for advertising.
  var usesExtendedAdvertisingCommands: Bool {
    usesExtendedCommands
      || advertisesWithExtendedCommands && capabilities.leFeatures.contains(.extendedAdvertising)
        && !refusesExtendedCommands
  }

  /// Handles the result of a command with respect to the choice of commands: a controller may claim extended commands
  /// and not know them.
  mutating func fallback(after opcode: HCI.Opcode, _ status: HCI.ErrorCode) -> Fallback {
    guard opcode.definition?.provesExtendedCommands == true else { return .none }
    if status != .unknownHCICommand {
      capabilities.hasTakenExtendedCommands = true
      return .none
    }
    guard !refusesExtendedCommands else { return .none }
    refusesExtendedCommands = true
    if capabilities.hasTakenExtendedCommands { return .needsReset(.unknownCommand(opcode)) }
    commands.removeUnsentRadioCommands()
    return .usesLegacyCommands
  }
}

extension HCI.CommandDefinition {
  /// True if the answer to the command shows whether the controller has the extended commands. LE Set Advertising Set
  /// Random Address belongs to neither generation, but only controllers with extended commands support it.
  fileprivate var provesExtendedCommands: Bool {
    opcode == .leSetAdvertisingSetRandomAddress || generation == .extended && !Self.dispensable.contains(opcode)
  }

  /// The extended commands that the host can do without.
  private static let dispensable: Set<HCI.Opcode> = [
    .leRemoveAdvertisingSet, .leSetPeriodicAdvertisingParameters, .leSetPeriodicAdvertisingData,
    .leSetPeriodicAdvertisingEnable, .lePeriodicAdvertisingCreateSync, .lePeriodicAdvertisingCreateSyncCancel,
    .lePeriodicAdvertisingTerminateSync,
  ]
}
