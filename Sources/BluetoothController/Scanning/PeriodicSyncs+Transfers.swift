import BluetoothWire

/// Periodic advertising sync transfer, as sender and as recipient · Vol 6, Part B, 5.1.13; Vol 4, Part E, 7.8.89,
/// 7.8.91, 7.8.92.
extension PeriodicSyncs {
  /// Executes LE Set Periodic Advertising Sync Transfer Parameters.
  mutating func setTransfer(
    _ parameters: HCI.SyncTransferParameters, of connection: HCI.ConnectionHandle,
    connections: inout ConnectionTable, features: HCI.LEFeatures
  ) -> HCI.ErrorCode {
    guard connections.index(of: connection) != nil else { return .unknownConnectionIdentifier }
    let status = check(parameters, features: features)
    if status == .success { setTransfer(parameters, of: connection) }
    return status
  }

  /// Executes LE Set Default Periodic Advertising Sync Transfer Parameters. Existing connections keep their parameters
  /// · Vol 4, Part E, 7.8.92.
  mutating func setDefaultTransfer(
    _ parameters: HCI.SyncTransferParameters, connections: inout ConnectionTable, features: HCI.LEFeatures
  ) -> HCI.ErrorCode {
    let status = check(parameters, features: features)
    guard status == .success else { return status }
    for index in connections.indices where transfer(of: connections[index].handle) == nil {
      setTransfer(defaultTransfer, of: connections[index].handle)
    }
    defaultTransfer = parameters
    return status
  }

  private func check(
    _ parameters: HCI.SyncTransferParameters, features: HCI.LEFeatures
  ) -> HCI.ErrorCode {
    guard parameters.mode == .ignored || parameters.keeping.isValid else { return .invalidHCICommandParameters }
    guard parameters.mode != .reportingWithoutDuplicates || features.contains(.periodicAdvertisingADI) else {
      return .unsupportedFeatureOrParameterValue
    }
    return parameters.keeping.requiresCTE ? .unsupportedFeatureOrParameterValue : .success
  }

  // MARK: Sender

  /// Transfers a train that this device receives.
  mutating func transfer(
    _ handle: HCI.SyncHandle, serviceData: UInt16, to connection: HCI.ConnectionHandle,
    connections: inout ConnectionTable, device: inout LocalDevice, at now: Instant
  ) -> HCI.ErrorCode {
    guard let index = connections.index(of: connection) else { return .unknownConnectionIdentifier }
    guard let syncIndex = self.index(of: handle), let sync = self[syncIndex], let heard = sync.lastHeard else {
      return .unknownAdvertisingIdentifier
    }
    guard !connections[index].procedures.peerLacks(.periodicAdvertisingSyncTransferRecipient) else {
      return .unsupportedRemoteFeature
    }
    guard !connections[index].procedures.isFull else { return .controllerBusy }
    let next = connections[index].schedule.next
    let event = sync.event(after: connections[index].schedule.anchor(of: next))
    let reference = connections[index].schedule.reference(for: sync.schedule.anchor(of: event))
    let syncEvent = connections[index].schedule.event(at: heard.start)
    let transfer = LL.PeriodicSyncTransfer(
      serviceData: serviceData,
      syncInfo: sync.syncInfo(of: event, from: connections[index].schedule.anchor(of: reference)),
      connectionEventCount: UInt16(truncatingIfNeeded: reference), lastPeriodicEventCounter: heard.counter,
      advertisingSID: sync.advertisingSID, advertiser: sync.advertiser.address,
      sleepClockAccuracy: device.sleepClockAccuracy,
      phy: HCI.PHYs(sync.phy), syncConnectionEventCount: UInt16(truncatingIfNeeded: syncEvent))
    connections[index].begin(.syncTransfer(transfer), at: now, into: &device.output)
    return .success
  }

  // MARK: Recipient

  /// Starts to receive the trains that the peer has transferred, if the host has enabled that.
  mutating func takeTransfers(
    from index: Int, of connections: inout ConnectionTable, device: inout LocalDevice, radio: inout RadioControl,
    at now: Instant
  ) {
    guard !connections[index].procedures.syncTransfers.isEmpty else { return }
    let transfers = connections[index].procedures.syncTransfers
    connections[index].procedures.syncTransfers = []
    for transfer in transfers {
      take(transfer, from: index, of: &connections, device: &device, radio: &radio, at: now)
    }
  }

  private mutating func take(
    _ transfer: LL.PeriodicSyncTransfer, from index: Int, of connections: inout ConnectionTable,
    device: inout LocalDevice, radio: inout RadioControl, at now: Instant
  ) {
    let handle = connections[index].handle
    let info = transfer.syncInfo
    device.resolvingList.learn(transfer.advertiser)
    let advertiser = device.resolvingList.identify(transfer.advertiser)
    let parameters = self.transfer(of: handle) ?? defaultTransfer
    guard parameters.mode != .ignored,
      info.isValid, let phy = transfer.phy.only, transfer.phy.isSubset(of: device.features.phys),
      !contains(advertiser.identity, transfer.advertisingSID)
    else { return }
    let next = connections[index].schedule.next
    // The event with this count that is nearest to the current event.
    let distance = Int16(bitPattern: transfer.connectionEventCount &- UInt16(truncatingIfNeeded: next))
    let anchor = connections[index].schedule.anchor(of: next + Int(distance))
    let windowStart = device.clock.instant(info.span, after: anchor)
    let interval = LL.SyncInfo.intervalUnit * Int64(info.interval)
    // The last synchronization with the train; since then the clocks of the advertiser and the sender have drifted.
    let knownAt = windowStart - interval * Int64(info.eventCounter &- transfer.lastPeriodicEventCounter)
    let accuracy = info.sleepClockAccuracy.partsPerMillion + transfer.sleepClockAccuracy.partsPerMillion
    let origin = PeriodicSync.Origin.transferred(handle, serviceData: transfer.serviceData)
    let sync = add(
      origin, advertiser, transfer.advertisingSID, phy, info,
      eventSchedule(
        info, windowStart: windowStart, peerAccuracy: accuracy, knownAt: knownAt, device: &device),
      keeping: parameters.keeping, enable: parameters.mode.enable, radio: &radio, at: now)
    guard sync == nil else { return }
    // The controller already receives the maximum number of trains, and reports this to the host in the status · Vol 4,
    // Part E, 7.7.65.24.
    device.output.send(
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
  fileprivate var only: RadioPHY? {
    switch self {
    case .le1M: .le1M
    case .le2M: .le2M
    case .leCoded: .leCoded
    default: nil
    }
  }
}
