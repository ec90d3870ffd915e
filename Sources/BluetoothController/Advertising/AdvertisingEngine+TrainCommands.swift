import BluetoothWire

/// The commands for periodic advertising · Vol 4, Part E, 7.8.61 to 7.8.63.
extension AdvertisingEngine {
  /// Executes LE Set Periodic Advertising Parameters.
  mutating func setPeriodicParameters(_ parameters: HCI.PeriodicAdvertisingParameters) -> HCI.ErrorCode {
    guard let index = sets.index(of: parameters.handle), let set = sets[index] else {
      return .unknownAdvertisingIdentifier
    }
    guard set.periodic?.isEnabled != true else { return .commandDisallowed }
    guard set.properties.canHaveTrain, parameters.minimumInterval >= 6,
      parameters.minimumInterval <= parameters.maximumInterval,
      parameters.properties.subtracting(.includesTransmitPower).isEmpty
    else { return .invalidHCICommandParameters }
    let properties = PeriodicAdvertisingProperties(
      interval: parameters.minimumInterval, intervals: parameters.minimumInterval...parameters.maximumInterval,
      includesTransmitPower: parameters.properties.contains(.includesTransmitPower))
    var periodic = set.periodic ?? ControllerAdvertisingSet.Periodic(properties: properties)
    periodic.properties = properties
    periodic.chooseInterval(modulation: set.properties.secondary)
    guard periodic.canCarryData(modulation: set.properties.secondary) else { return .packetTooLong }
    sets[index]?.periodic = periodic
    return .success
  }

  /// Executes LE Set Periodic Advertising Data.
  mutating func setPeriodicData(
    _ fragment: HCI.AdvertisingDataFragment, of handle: HCI.AdvertisingHandle, device: inout LocalDevice,
    radio: inout RadioControl
  ) -> HCI.ErrorCode {
    guard let index = sets.index(of: handle) else { return .unknownAdvertisingIdentifier }
    guard let set = sets[index], var periodic = set.periodic else { return .commandDisallowed }
    if case .unchanged = fragment.operation {
      guard fragment.data.isEmpty, periodic.isEnabled, !periodic.data.isEmpty else {
        return .invalidHCICommandParameters
      }
      renewTrainData(index, device: &device, radio: &radio)
      return .success
    }
    let status = periodic.data.take(
      fragment, isPartial: &periodic.isDataPartial, isLegacy: false, isInUse: periodic.isEnabled)
    guard status == .success || status == .memoryCapacityExceeded else { return status }
    if !periodic.isEnabled { periodic.chooseInterval(modulation: set.properties.secondary) }
    let isTooLong = !periodic.canCarryData(modulation: set.properties.secondary)
    if isTooLong { periodic.discardData() }
    sets[index]?.periodic = periodic
    renewTrainData(index, device: &device, radio: &radio)
    return isTooLong ? .packetTooLong : status
  }

  /// Executes LE Set Periodic Advertising Enable.
  mutating func setPeriodicEnable(
    _ enable: HCI.PeriodicAdvertisingEnable, of handle: HCI.AdvertisingHandle, device: inout LocalDevice,
    radio: inout RadioControl, at now: Instant
  ) -> HCI.ErrorCode {
    guard let index = sets.index(of: handle) else { return .unknownAdvertisingIdentifier }
    guard let set = sets[index], let periodic = set.periodic else { return .commandDisallowed }
    guard enable.subtracting([.enabled, .includesADI]).isEmpty,
      !enable.contains(.includesADI) || device.features.contains(.periodicAdvertisingADI)
    else { return .unsupportedFeatureOrParameterValue }
    guard enable.contains(.enabled) else {
      sets[index]?.periodic?.isEnabled = false
      stopTrain(index, device: &device, radio: &radio)
      return .success
    }
    guard !periodic.isDataPartial, set.properties.canHaveTrain else { return .commandDisallowed }
    guard periodic.canCarryData(modulation: set.properties.secondary) else { return .packetTooLong }
    sets[index]?.periodic?.isEnabled = true
    sets[index]?.periodic?.includesDataInfo = enable.contains(.includesADI)
    if set.hasTrain {
      renewTrainData(index, device: &device, radio: &radio)
    } else {
      startTrain(index, device: &device, radio: &radio, at: now)
    }
    return .success
  }

  /// Sends LL_PERIODIC_SYNC_IND, which describes the set's train to the peer of a connection · 7.8.90; Vol 6, Part B,
  /// 5.1.13.
  mutating func transferTrain(
    of handle: HCI.AdvertisingHandle, to connection: HCI.ConnectionHandle, serviceData: UInt16,
    connections: inout ConnectionTable, output: inout HCIEventQueue, at now: Instant
  ) -> HCI.ErrorCode {
    guard let place = connections.index(of: connection) else { return .unknownConnectionIdentifier }
    guard let index = sets.index(of: handle) else { return .unknownAdvertisingIdentifier }
    guard let train = sets[index]?.periodic?.advertiser else { return .commandDisallowed }
    guard !connections[place].procedures.peerLacks(.periodicAdvertisingSyncTransferRecipient) else {
      return .unsupportedRemoteFeature
    }
    guard !connections[place].procedures.isFull else { return .controllerBusy }
    let next = connections[place].schedule.next
    let event = train.event(notBefore: connections[place].schedule.anchor(of: next) + RadioTiming.anchorJitter)
    let reference = connections[place].schedule.reference(for: train.start(of: event))
    let transfer = LL.PeriodicSyncTransfer(
      serviceData: serviceData,
      syncInfo: train.syncInfo(of: event, from: connections[place].schedule.anchor(of: reference)),
      connectionEventCount: UInt16(truncatingIfNeeded: reference), lastPeriodicEventCounter: train.lastEvent,
      advertisingSID: train.sid, advertiser: train.advertiser, sleepClockAccuracy: train.sleepClockAccuracy,
      phy: HCI.PHYs(train.modulation.phy), syncConnectionEventCount: UInt16(truncatingIfNeeded: next))
    connections[place].begin(.syncTransfer(transfer), at: now, into: &output)
    return .success
  }
}
