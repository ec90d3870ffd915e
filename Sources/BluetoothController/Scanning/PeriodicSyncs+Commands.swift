import BluetoothWire

/// Commands for receiving periodic advertising · Vol 4, Part E, 7.8.67 to 7.8.73, 7.8.88.
extension PeriodicSyncs {
  /// Returns the status of LE Periodic Advertising Create Sync.
  mutating func check(_ request: HCI.PeriodicAdvertisingCreateSync, device: inout LocalDevice) -> HCI.ErrorCode {
    guard self.request == nil else { return .commandDisallowed }
    guard request.keeping.isValid,
      request.options.contains(.usesAdvertiserList) || request.advertiser.address.type <= 1
    else { return .invalidHCICommandParameters }
    // The options exclude every train.
    guard !request.keeping.excludesAll else { return .commandDisallowed }
    // Constant Tone Extensions are not supported, so the host can't require one.
    guard !request.keeping.requiresCTE else { return .unsupportedFeatureOrParameterValue }
    if let refusal = refusal(of: request.options, device: &device) { return refusal }
    guard vacantIndex != nil else { return .memoryCapacityExceeded }
    if !request.options.contains(.usesAdvertiserList), let advertiser = request.advertiser.address.deviceAddress,
      contains(advertiser, request.advertiser.advertisingSID)
    {
      return .connectionAlreadyExists
    }
    return .success
  }

  /// Returns the error for options that need a feature that this controller lacks; nil: it has the features.
  private mutating func refusal(
    of options: HCI.PeriodicAdvertisingCreateSync.Options, device: inout LocalDevice
  ) -> HCI.ErrorCode? {
    if options.contains(.reportingDisabled) {
      return device.supports(.leSetPeriodicAdvertisingReceiveEnable) ? nil : .connectionFailedToBeEstablished
    }
    guard options.contains(.filtersDuplicates), !device.features.contains(.periodicAdvertisingADI) else { return nil }
    return .unsupportedFeatureOrParameterValue
  }

  /// Stores the request after the command's Command Status.
  mutating func begin(_ request: HCI.PeriodicAdvertisingCreateSync) { self.request = Request(command: request) }

  /// Executes LE Periodic Advertising Terminate Sync.
  mutating func terminate(_ handle: HCI.SyncHandle, radio: inout RadioControl) -> HCI.ErrorCode {
    guard let index = index(of: handle), self[index]?.isEstablished == true else {
      return .unknownAdvertisingIdentifier
    }
    end(synchronizationAt: index, radio: &radio)
    return .success
  }

  /// Executes LE Set Periodic Advertising Receive Enable.
  mutating func setReceiving(
    _ enable: HCI.PeriodicAdvertisingReceiveEnable, of handle: HCI.SyncHandle, features: HCI.LEFeatures
  ) -> HCI.ErrorCode {
    guard let index = index(of: handle), self[index]?.isEstablished == true else {
      return .unknownAdvertisingIdentifier
    }
    guard !enable.isSuperset(of: [.reporting, .filtersDuplicates]) || features.contains(.periodicAdvertisingADI)
    else { return .unsupportedFeatureOrParameterValue }
    self[index]?.isReporting = enable.contains(.reporting)
    self[index]?.filtersDuplicates = enable.contains(.filtersDuplicates)
    return .success
  }

  /// Cancels the request after the Command Complete · 7.8.68.
  mutating func cancel(radio: inout RadioControl, into output: inout HCIEventQueue) {
    guard let request else { return }
    if let handle = request.handle, let index = index(of: handle) {
      end(synchronizationAt: index, radio: &radio)
    }
    self.request = nil
    output.send(.lePeriodicAdvertisingSyncEstablished(.operationCancelledByHost, .none))
  }
}

extension HCI.SyncKeeping {
  /// True if the values are in range · 7.8.67.
  var isValid: Bool { skip <= 0x01F3 && 0x000A...0x4000 ~= timeout }
  /// True if all bits of Sync_CTE_Type that are not reserved are set: no train is accepted.
  var excludesAll: Bool { cteType & 0x1F == 0x1F }
  /// Bit 4 of Sync_CTE_Type: true if a Constant Tone Extension is required.
  var requiresCTE: Bool { cteType & 1 << 4 != 0 }
}
