import BluetoothWire

/// Commands for scanning · Vol 4, Part E, 7.8.10, 7.8.11, 7.8.64, 7.8.65.
extension Controller {
  /// Executes LE Set Scan Parameters.
  mutating func setScanParameters(_ parameters: HCI.ScanParameters) -> HCI.ErrorCode {
    guard scanner == nil else { return .commandDisallowed }
    guard 4...0x4000 ~= parameters.interval, 4...0x4000 ~= parameters.window, parameters.window <= parameters.interval,
      parameters.filterPolicy <= 3
    else { return .invalidHCICommandParameters }
    host.scanParameters = HCI.ExtendedScanParameters(parameters)
    return .success
  }

  /// Executes LE Set Extended Scan Parameters.
  mutating func setScanParameters(_ parameters: HCI.ExtendedScanParameters) -> HCI.ErrorCode {
    guard scanner == nil else { return .commandDisallowed }
    guard parameters.le1M?.isValid ?? true, parameters.leCoded?.isValid ?? true, parameters.filterPolicy <= 3 else {
      return .invalidHCICommandParameters
    }
    guard parameters.leCoded == nil || features.contains(.leCodedPHY) else {
      return .unsupportedFeatureOrParameterValue
    }
    host.scanParameters = parameters
    return .success
  }

  /// Executes LE Set Extended Scan Enable.
  mutating func setExtendedScanEnable(_ enable: HCI.ExtendedScanEnable, at now: Instant) -> HCI.ErrorCode {
    guard enable.isEnabled else { return setScanEnable(enable, isExtended: true, at: now) }
    guard enable.duplicates != .resetEachPeriod || enable.duration > 0 && enable.period > 0,
      enable.duration == 0 || enable.period == 0 || enable.durationIsShorterThanPeriod
    else { return .invalidHCICommandParameters }
    return setScanEnable(enable, isExtended: true, at: now)
  }

  /// Enables or disables scanning with legacy or extended reports.
  mutating func setScanEnable(
    _ enable: HCI.ExtendedScanEnable, isExtended: Bool, at now: Instant
  ) -> HCI.ErrorCode {
    guard enable.isEnabled else {
      guard scanner != nil else { return .success }
      scanner = nil
      listeningChanged()
      return .success
    }
    guard let own = ownAddress(host.scanParameters.ownAddressType) else { return .invalidHCICommandParameters }
    // Repeated enabling resets the duplicate filter · 7.8.11, 7.8.65.
    scanner = Scanner(host.scanParameters, own: own, isExtended: isExtended, enable: enable, at: now)
    listeningChanged()
    return .success
  }
}

extension HCI.ExtendedScanParameters {
  /// Creates the same parameters in the form of LE Set Extended Scan Parameters.
  init(_ parameters: HCI.ScanParameters) {
    self.init(
      ownAddressType: parameters.ownAddressType, filterPolicy: parameters.filterPolicy,
      le1M: Scan(isActive: parameters.isActive, interval: parameters.interval, window: parameters.window))
  }
}

extension HCI.ExtendedScanParameters.Scan {
  fileprivate var isValid: Bool { window >= 4 && window <= interval }
}

extension HCI.ExtendedScanEnable {
  /// True if the duration, in units of 10 ms, is shorter than the period, in units of 1.28 s.
  fileprivate var durationIsShorterThanPeriod: Bool { Int(duration) < Int(period) * 128 }
}
