import BluetoothWire

/// Periodic advertising sync transfer, as sender and as recipient · Vol 6, Part B, 5.1.13; Vol 4, Part E, 7.8.89,
/// 7.8.91, 7.8.92.
extension Controller {
  /// Executes LE Set Periodic Advertising Sync Transfer Parameters.
  mutating func setSyncTransfer(
    _ parameters: HCI.SyncTransferParameters, on connection: HCI.ConnectionHandle
  ) -> HCI.ErrorCode {
    guard index(of: connection) != nil else { return .unknownConnectionIdentifier }
    let status = check(parameters)
    if status == .success { syncs.setTransfer(parameters, of: connection) }
    return status
  }

  /// Executes LE Set Default Periodic Advertising Sync Transfer Parameters.
  mutating func setDefaultSyncTransfer(_ parameters: HCI.SyncTransferParameters) -> HCI.ErrorCode {
    let status = check(parameters)
    if status == .success { syncs.defaultTransfer = parameters }
    return status
  }

  private mutating func check(_ parameters: HCI.SyncTransferParameters) -> HCI.ErrorCode {
    guard parameters.mode == .ignored || parameters.keeping.isValid else { return .invalidHCICommandParameters }
    guard parameters.mode != .reportingWithoutDuplicates || features.contains(.periodicAdvertisingADI) else {
      return .unsupportedFeatureOrParameterValue
    }
    return parameters.keeping.requiresCTE ? .unsupportedFeatureOrParameterValue : .success
  }

  // MARK: Sender

  /// Executes LE Periodic Advertising Sync Transfer: transfers a train that this device receives.
  mutating func transfer(
    _ handle: HCI.SyncHandle, serviceData: UInt16, to connection: HCI.ConnectionHandle, at now: Instant
  ) -> HCI.ErrorCode {
    guard let index = index(of: connection) else { return .unknownConnectionIdentifier }
    guard let syncIndex = syncs.index(of: handle), let sync = syncs[syncIndex], let heard = sync.lastHeard else {
      return .unknownAdvertisingIdentifier
    }
    guard !connections[index].peerLacks(.periodicAdvertisingSyncTransferRecipient) else {
      return .unsupportedRemoteFeature
    }
    guard !connections[index].procedures.isFull else { return .controllerBusy }
    let schedule = connections[index].schedule
    let event = sync.event(after: schedule.anchor(of: schedule.next))
    let reference = schedule.reference(for: sync.schedule.anchor(of: event))
    let transfer = LL.PeriodicSyncTransfer(
      serviceData: serviceData, syncInfo: sync.syncInfo(of: event, from: schedule.anchor(of: reference)),
      connectionEventCount: UInt16(truncatingIfNeeded: reference), lastPeriodicEventCounter: heard.counter,
      advertisingSID: sync.advertisingSID, advertiser: sync.advertiser.address,
      sleepClockAccuracy: sleepClockAccuracy,
      phy: HCI.PHYs(sync.phy), syncConnectionEventCount: UInt16(truncatingIfNeeded: schedule.event(at: heard.start)))
    connections[index].begin(.syncTransfer(transfer), at: now, into: &output)
    return .success
  }

  // MARK: Recipient

  /// Starts to receive the trains that the peer has transferred, if the host has enabled that.
  mutating func takeSyncTransfers(from index: Int, at now: Instant) {
    guard !connections[index].procedures.syncTransfers.isEmpty else { return }
    let transfers = connections[index].procedures.syncTransfers
    connections[index].procedures.syncTransfers = []
    for transfer in transfers { take(transfer, from: index, at: now) }
  }

  private mutating func take(_ transfer: LL.PeriodicSyncTransfer, from index: Int, at now: Instant) {
    let handle = connections[index].handle
    let info = transfer.syncInfo
    resolvingList.learn(transfer.advertiser)
    let advertiser = resolvingList.identify(transfer.advertiser)
    guard let parameters = syncs.transfer(of: handle), parameters.mode != .ignored,
      info.isValid, let phy = transfer.phy.only, transfer.phy.isSubset(of: features.phys),
      !syncs.contains(advertiser.identity, transfer.advertisingSID)
    else { return }
    let schedule = connections[index].schedule
    // The event with this count that is nearest to the current event.
    let distance = Int16(bitPattern: transfer.connectionEventCount &- UInt16(truncatingIfNeeded: schedule.next))
    let anchor = schedule.anchor(of: schedule.next + Int(distance))
    let windowStart = clock.instant(info.span, after: anchor)
    let interval = LL.SyncInfo.intervalUnit * Int64(info.interval)
    // The last synchronization with the train; since then the clocks of the advertiser and the sender have drifted.
    let knownAt = windowStart - interval * Int64(info.eventCounter &- transfer.lastPeriodicEventCounter)
    let accuracy = info.sleepClockAccuracy.partsPerMillion + transfer.sleepClockAccuracy.partsPerMillion
    let origin = PeriodicSync.Origin.transferred(handle, serviceData: transfer.serviceData)
    let sync = addSync(
      origin, advertiser, transfer.advertisingSID, phy, info,
      syncSchedule(info, windowStart: windowStart, peerAccuracy: accuracy, knownAt: knownAt),
      keeping: parameters.keeping, enable: parameters.mode.enable, at: now)
    guard sync == nil else { return }
    // The controller already receives the maximum number of trains, which the host learns from the status · Vol 4,
    // Part E, 7.7.65.24.
    output.send(
      .lePeriodicAdvertisingSyncTransferReceived(
        .memoryCapacityExceeded, handle, serviceData: transfer.serviceData, .none))
  }
}

extension HCI.SyncTransferParameters.Mode {
  fileprivate var enable: HCI.PeriodicAdvertisingReceiveEnable {
    switch self {
    case .ignored, .reportingDisabled: []
    case .reporting: .reporting
    case .reportingWithoutDuplicates: [.reporting, .filtersDuplicates]
    }
  }
}

extension HCI.PHYs {
  /// The PHY if there is exactly one.
  fileprivate var only: PHY? {
    switch self {
    case .le1M: .le1M
    case .le2M: .le2M
    case .leCoded: .leCoded
    default: nil
    }
  }
}
