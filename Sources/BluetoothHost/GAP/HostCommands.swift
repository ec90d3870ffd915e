import BluetoothWire

/// The sending of commands and the handling of their results.
extension Host {
  /// Starts the work that has become possible. Called at the end of every input.
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

  /// Handles the end of a command. Commands whose completion comes as a separate event end when the controller
  /// accepts them.
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
      // No more fragments of reports will come.
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
      // Success only means that the procedure has begun; a separate event reports its end.
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

  /// Disconnects a link, at most once.
  mutating func disconnect(_ index: Int, reason: HCI.ErrorCode) {
    guard !allLinks[index].isDisconnecting else { return }
    allLinks[index].isDisconnecting = true
    let handle = allLinks[index].link.handle
    commands.append(.disconnect(handle, reason: reason), for: .disconnect(handle))
  }

  /// Handles the status of Disconnect. Once the controller has accepted it, the link ends no later than its
  /// supervision timeout · Vol 6, Part B, 5.1.6. Some controllers never report that, so the host sets a time limit of
  /// its own.
  private mutating func disconnectEnded(_ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, at now: Instant) {
    // Another link may have the same handle by now.
    guard let index = anyIndex(of: handle), allLinks[index].isDisconnecting else { return }
    if status == .unknownConnectionIdentifier {
      disconnected(handle, .connectionTimeout, at: now)
    } else {
      allLinks[index].endsBy = now + allLinks[index].supervisionTimeout + Self.shutdownTime
    }
  }

  /// Removes links whose end is overdue.
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

  /// Updates the parameters of a link as central.
  mutating func update(_ index: Int, _ parameters: ConnectionParameters) {
    allLinks[index].isUpdating = true
    let handle = allLinks[index].link.handle
    commands.append(
      .leConnectionUpdate(handle, parameters, HCI.ConnectionEventLength()), for: .updateConnection(handle))
  }
}
