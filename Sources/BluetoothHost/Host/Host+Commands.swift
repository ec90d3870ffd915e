import BluetoothWire

/// The ends of commands.
extension Host {
  /// Handles Command Complete or Command Status.
  mutating func commandAnswered(_ answer: CommandQueue.Answer, at now: Instant) {
    guard let entry = context.controller.answered(answer, &context.output) else { return }
    commandEnded(entry, answer.status, answer.parameters, at: now)
  }

  /// Handles the end of a command. Commands whose completion comes as a separate event end when the controller
  /// accepts them.
  mutating func commandEnded(
    _ entry: CommandQueue.Entry, _ status: HCI.ErrorCode, _ parameters: HCI.ReturnParameters?, at now: Instant
  ) {
    switch context.controller.fallback(after: entry.opcode, status) {
    case .none: break
    case .usesLegacyCommands: return gap.useLegacyCommands(&context.output)
    case .needsReset(let trouble): return fail(trouble, at: now)
    }
    switch entry.purpose {
    case .startup:
      perform(
        context.controller.startupEnded(status, parameters, &gap.ownAddress, &context.output, at: now), at: now)
    case .shutdown: perform(.hasShutDown, at: now)
    case .advertising(let set):
      if status == .unknownAdvertisingIdentifier, gap.advertisers.holds(set, despite: entry.command) {
        return fail(.lostAdvertisingSet(set), at: now)
      }
      gap.advertisingCommandEnded(status, of: set, &context.output, at: now)
    case .synchronizing: gap.synchronizingCommandEnded(status, &context.output)
    case .scanning: gap.scanningCommandEnded(status)
    case .resolvingList: gap.resolvingList.ended(status, parameters)
    case .ownAddress: gap.ownAddressChanged(status, &context)
    case .initiating: gap.initiatingCommandEnded(status, &context.output, at: now)
    case .readRSSI(let handle): table.rssiRead(handle, status, parameters, &context.output)
    case .checkLink(let handle): table.linkChecked(handle, status, &gap, &context, at: now)
    case .updateConnection(let handle): table.updateAnswered(handle, status, &context, at: now)
    case .choosePHYs(let handle): if status != .success { table.choiceOfPHYsRefused(handle) }
    case .changeLink(let handle): table.requestAnswered(handle, status, &context)
    case .readRemoteFeatures(let handle):
      if status != .success { table.remoteFeaturesRead(handle, nil, &context, at: now) }
    case .enableEncryption(let handle):
      // Success only means that the procedure has begun; a separate event reports its end.
      if status != .success { table.encryptionChanged(handle, status, isEncrypted: false, &context, at: now) }
    case .disconnect(let handle): table.disconnectEnded(handle, status, &gap, &context, at: now)
    case .checkController, .other: break
    }
  }
}
