import BluetoothWire

/// Brings the controller's scanning to what is wanted, one command at a time · Vol 4, Part E, 7.8.10, 7.8.11.
struct Scanner {
  private enum Step {
    case disable
    case parameters(isActive: Bool)
    case enable(ScanParameters)
  }

  private var wanted: ScanParameters?
  private var isActive: Bool?
  private var enabled: ScanParameters?
  private var inFlight: Step?
  /// The controller refused what is wanted; it is not asked again before something else is.
  private var isRefused = false

  var isEnabled: Bool { enabled != nil }

  /// Begins anew even if the same is wanted: devices that were reported before are to be reported again.
  private var restarts = false

  mutating func set(_ parameters: ScanParameters?) {
    wanted = parameters
    restarts = parameters != nil
    isRefused = false
  }

  mutating func next(_ configuration: HostConfiguration, ownAddressType: HCI.OwnAddressType) -> HCI.Command? {
    guard inFlight == nil, !isRefused else { return nil }
    if let enabled {
      guard enabled != wanted || restarts else { return nil }
      inFlight = .disable
      return .leSetScanEnable(false, filterDuplicates: false)
    }
    guard let wanted else { return nil }
    if isActive != wanted.isActive {
      inFlight = .parameters(isActive: wanted.isActive)
      return .leSetScanParameters(
        HCI.ScanParameters(
          isActive: wanted.isActive, interval: configuration.scanInterval, window: configuration.scanInterval,
          ownAddressType: ownAddressType))
    }
    restarts = false
    inFlight = .enable(wanted)
    return .leSetScanEnable(true, filterDuplicates: wanted.filterDuplicates)
  }

  mutating func ended(_ status: HCI.ErrorCode) {
    let isSuccess = status == .success
    switch inFlight {
    // A refusal means that it was off already.
    case .disable: enabled = nil
    case .parameters(let isActive):
      self.isActive = isSuccess ? isActive : nil
      isRefused = !isSuccess
    case .enable(let parameters):
      if isSuccess { enabled = parameters } else { isRefused = wanted == parameters }
    case nil: break
    }
    inFlight = nil
  }
}
