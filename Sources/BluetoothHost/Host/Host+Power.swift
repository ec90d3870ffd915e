import BluetoothWire

/// Power, the transport to the controller, and failures of the controller.
extension Host {
  /// Switches the host on or off, which starts up or shuts down the controller. A new host is off.
  package mutating func setPower(_ on: Bool, at now: Instant) {
    perform(context.controller.setPower(on, &gap.ownAddress, &context.output), at: now)
    settle(at: now)
  }

  /// Tells the host the state of its transport; a new host assumes `ready`. When the transport goes down, the host
  /// loses all links and operations, as after a failure of the controller; when it comes up, the host begins with a
  /// Reset.
  package mutating func setTransport(_ state: TransportState, at now: Instant) {
    if state == .ready {
      context.controller.transportCameUp(&gap.ownAddress, &context.output)
    } else {
      if context.controller.isOn { endEverything(unanswered: nil, at: now) }
      // These links were already being disconnected.
      table.forgetAll(&context)
      context.controller.transportWentDown(state, &context.output)
    }
    settle(at: now)
  }

  /// True if all resets of the controller have failed and the owner of the transport must open it again. Always false
  /// without `HostConfiguration.canReopenTransport`.
  package var needsNewTransport: Bool { context.controller.needsNewTransport }

  /// Reports that the octets from the controller no longer form packets. The host then resets the controller
  /// · Vol 4, Part A, 4.
  package mutating func synchronizationLost(at now: Instant) {
    fail(.synchronizationLost, at: now)
    settle(at: now)
  }

  /// Handles a failure of the controller.
  mutating func fail(_ trouble: HostDiagnostic, at now: Instant) {
    perform(context.controller.fail(trouble, &gap.ownAddress, &context.output, at: now), at: now)
  }

  /// Applies the consequence of the controller's state to links and operations.
  mutating func perform(_ outcome: ControllerDriver.Outcome, at now: Instant) {
    switch outcome {
    case .none: break
    case .isReady:
      gap.controllerIsReady(&context, at: now)
      context.security.context.identity = context.ownIdentity
    case .mustShutDown:
      context.controller.prepareShutdown()
      gap.shutDown(&context)
      table.shutDown(&context)
      context.controller.shutDown(hasLinks: !table.all.isEmpty, &context.output, at: now)
    case .hasShutDown:
      table.forgetAll(&context)
      context.controller.shutdownEnded(&gap.ownAddress, &context.output)
    case .hasFailed(let unanswered):
      endEverything(unanswered: unanswered, at: now)
      context.controller.recover(&gap.ownAddress, &context.output, at: now)
    case .isUnanswered(let entry): commandEnded(entry, .unspecifiedError, nil, at: now)
    case .isAnswered(let entry, let answer): commandEnded(entry, answer.status, answer.parameters, at: now)
    }
  }

  /// Reports the end of all links, connection attempts and other operations.
  private mutating func endEverything(unanswered: CommandQueue.Entry?, at now: Instant) {
    context.controller.failCommands(unanswered: unanswered, &context.output)
    table.controllerFailed(&context, at: now)
    gap.controllerFailed(&context)
    table.forgetAll(&context)
  }
}
