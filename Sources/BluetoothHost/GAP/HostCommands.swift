import BluetoothWire

/// Commands on their way out, and how they end.
extension Host {
  /// Does what has become possible: to be called at the end of every input.
  mutating func settle(at now: Instant) {
    if !nameDiscoveries.isEmpty { continueNameDiscoveries(at: now) }
    if hasAddressChanges || advertiser.isDirty || scanner.hasWork || initiator.hasWork {
      chooseCommands(at: now)
    }
    if !commands.isEmpty { sendCommands(at: now) }
    sendData(at: now)
  }

  private mutating func chooseCommands(at now: Instant) {
    guard isOn else { return }
    if hasAddressChanges { changeAddresses() }
    if advertiser.isDirty, let command = advertiser.next(advertisingCommands) {
      commands.append(command, for: .advertising)
    }
    if initiator.hasWork {
      chooseEar(at: now)
      scanner.listen(initiator.listens, includesLECoded: configuration.connectsOnLECoded)
    }
    if scanner.hasWork, let command = scanner.next(scanCommands) {
      commands.append(command, for: .scanning)
    }
    if initiator.hasWork, let command = initiator.next(initiatingCommands, at: now) {
      commands.append(command, for: .initiating)
    }
  }

  private mutating func sendCommands(at now: Instant) {
    while let command = commands.takeCommand(at: now) { packets.append(command.packet(in: pool)) }
  }

  /// A command has ended, or it was taken and its end comes as an event of its own.
  mutating func commandEnded(
    _ entry: CommandQueue.Entry, _ status: HCI.ErrorCode, _ parameters: HCI.ReturnParameters?, at now: Instant
  ) {
    if fallsBack(entry.command, status, at: now) { return }
    switch entry.purpose {
    case .startup: startupEnded(status, parameters, at: now)
    case .shutdown: shutdownEnded()
    case .advertising: tellAdvertisingStarted(advertiser.ended(status, at: now))
    case .scanning:
      scanner.ended(status)
      // What was begun has no end any more.
      if !scanner.isEnabled { reports.removeAll() }
    case .resolvingList: resolvingList.ended(status, parameters)
    case .ownAddress: ownAddressChanged(status)
    case .initiating:
      for address in initiator.ended(status, at: now) { events.append(.connectionFailed(address, status)) }
    case .readRSSI(let handle): rssiRead(handle, status, parameters)
    case .checkLink(let handle): linkChecked(handle, status, at: now)
    case .updateConnection(let handle): updateAnswered(handle, status, at: now)
    case .readRemoteFeatures(let handle): if status != .success { remoteFeaturesRead(handle, nil, at: now) }
    case .enableEncryption(let handle):
      // That it has begun says nothing; the end comes as an event.
      if status != .success { encryptionChanged(handle, status, isEncrypted: false, at: now) }
    case .disconnect(let handle): disconnectEnded(handle, status, at: now)
    case .other: break
    }
  }

  private mutating func rssiRead(
    _ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, _ parameters: HCI.ReturnParameters?
  ) {
    if case .rssi(handle, let level)? = parameters {
      events.append(.rssiRead(handle, .success(level)))
    } else {
      let isGone = status == .unknownConnectionIdentifier || index(of: handle) == nil
      events.append(.rssiRead(handle, .failure(isGone ? .notConnected : .controller(status))))
    }
  }

  mutating func tellAdvertisingStarted(_ result: Result<Void, HostError>?) {
    switch result {
    case .success?: events.append(.advertisingStarted(nil))
    case .failure(let error)?: events.append(.advertisingStarted(error))
    case nil: break
    }
  }

  /// Ends a link; once is enough.
  mutating func disconnect(_ index: Int, reason: HCI.ErrorCode) {
    guard !allLinks[index].isDisconnecting else { return }
    allLinks[index].isDisconnecting = true
    let handle = allLinks[index].link.handle
    commands.append(.disconnect(handle, reason: reason), for: .disconnect(handle))
  }

  /// The controller has taken Disconnect, or refused it. The link ends when its supervision timeout is over, if not before ·
  /// Vol 6, Part B, 5.1.6; some controllers never say so.
  private mutating func disconnectEnded(_ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, at now: Instant) {
    // With the same handle there may be another link by now.
    guard let index = anyIndex(of: handle), allLinks[index].isDisconnecting else { return }
    if status == .unknownConnectionIdentifier {
      disconnected(handle, .connectionTimeout, at: now)
    } else {
      allLinks[index].endsBy = now + allLinks[index].supervisionTimeout + Self.shutdownTime
    }
  }

  /// Forgets links whose end is overdue.
  mutating func endOverdueLinks(_ now: Instant) {
    var index = 0
    while index < allLinks.count {
      if let endsBy = allLinks[index].endsBy, endsBy <= now {
        let handle = allLinks[index].link.handle
        events.append(.trouble(.linkNotEnded(handle)))
        disconnected(handle, .connectionTimeout, at: now)
      } else {
        index += 1
      }
    }
  }

  /// As central: changes the parameters of a link.
  mutating func update(_ index: Int, _ parameters: ConnectionParameters) {
    allLinks[index].isUpdating = true
    let handle = allLinks[index].link.handle
    commands.append(
      .leConnectionUpdate(handle, parameters, HCI.ConnectionEventLength()), for: .updateConnection(handle))
  }
}
