import BluetoothWire

/// Brings the controller's scanning to what is wanted, one command at a time · Vol 4, Part E, 7.8.10, 7.8.11, 7.8.64, 7.8.65.
struct Scanner {
  private enum Step {
    case disable
    case parameters(Shape)
    case enable(ScanParameters)
  }

  /// What the controller takes only while it does not scan.
  struct Shape: Equatable {
    var isActive: Bool
    var includesLECoded: Bool
    var ownAddressType: HCI.OwnAddressType
  }

  /// What those above want.
  private var wanted: ScanParameters?
  /// What this host wants to hear by itself; nil: nothing.
  private var listening: ScanParameters?
  private var shape: Shape?
  private var enabled: ScanParameters?
  private var inFlight: Step?
  /// The controller refused what is wanted; it is not asked again before something else is.
  private var isRefused = false
  private var isPaused = false

  var isEnabled: Bool { enabled != nil }

  /// Begins anew even if the same is wanted: devices that were reported before are to be reported again.
  private var restarts = false

  mutating func set(_ parameters: ScanParameters?) {
    wanted = parameters
    restarts = parameters != nil
    isRefused = false
  }

  /// This host wants to hear who advertises, every packet of it, whether those above scan or not.
  mutating func listen(_ isOn: Bool, includesLECoded: Bool) {
    let new =
      isOn ? ScanParameters(isActive: false, filterDuplicates: false, includesLECoded: includesLECoded) : nil
    guard new != listening else { return }
    listening = new
    isRefused = false
  }

  /// What is heard is nothing to those above.
  var listensForHostAlone: Bool { listening != nil && wanted == nil }

  /// What the controller is to do for all.
  private var effective: ScanParameters? {
    guard let listening, var wanted else { return wanted ?? listening }
    wanted.filterDuplicates = false
    wanted.includesLECoded = wanted.includesLECoded || listening.includesLECoded
    return wanted
  }

  /// Off, or about to go on again.
  mutating func pause(_ isPaused: Bool) { self.isPaused = isPaused }

  /// The controller does nothing for it.
  var isQuiet: Bool { enabled == nil && inFlight == nil }

  /// The controller has forgotten all, or never taken anything; what is wanted stays.
  mutating func forgetController() {
    let (wanted, listening, isPaused) = (wanted, listening, isPaused)
    self = Scanner()
    (self.listening, self.isPaused) = (listening, isPaused)
    set(wanted)
  }

  /// There may be a next command.
  var hasWork: Bool {
    guard inFlight == nil, !isRefused else { return false }
    let effective = effective
    return enabled == nil ? effective != nil && !isPaused : enabled != effective || restarts || isPaused
  }

  mutating func next(_ commands: ScanCommands) -> HCI.Command? {
    guard hasWork else { return nil }
    if enabled != nil {
      inFlight = .disable
      return commands.disable
    }
    guard let wanted = effective else { return nil }
    let shape = commands.shape(wanted)
    if self.shape != shape {
      inFlight = .parameters(shape)
      return commands.parameters(shape)
    }
    restarts = false
    inFlight = .enable(wanted)
    return commands.enable(wanted)
  }

  mutating func ended(_ status: HCI.ErrorCode) {
    let isSuccess = status == .success
    switch inFlight {
    // A refusal means that it was off already.
    case .disable: enabled = nil
    case .parameters(let shape):
      self.shape = isSuccess ? shape : nil
      isRefused = !isSuccess
    case .enable(let parameters):
      if isSuccess { enabled = parameters } else { isRefused = effective == parameters }
    case nil: break
    }
    inFlight = nil
  }
}

/// The commands that have a controller scan, as the older or the newer ones have them.
struct ScanCommands {
  let isExtended: Bool
  /// The controller has LE Coded.
  let hasLECoded: Bool
  let ownAddressType: HCI.OwnAddressType
  /// Of interval and window, in units of 0.625 ms.
  let interval: UInt16

  func shape(_ wanted: ScanParameters) -> Scanner.Shape {
    Scanner.Shape(
      isActive: wanted.isActive, includesLECoded: isExtended && hasLECoded && wanted.includesLECoded,
      ownAddressType: ownAddressType)
  }

  func parameters(_ shape: Scanner.Shape) -> HCI.Command {
    guard isExtended else {
      return .leSetScanParameters(
        HCI.ScanParameters(
          isActive: shape.isActive, interval: interval, window: interval, ownAddressType: shape.ownAddressType))
    }
    let scan = HCI.ExtendedScanParameters.Scan(isActive: shape.isActive, interval: interval, window: interval)
    return .leSetExtendedScanParameters(
      HCI.ExtendedScanParameters(
        ownAddressType: shape.ownAddressType, le1M: scan, leCoded: shape.includesLECoded ? scan : nil))
  }

  func enable(_ wanted: ScanParameters) -> HCI.Command {
    isExtended
      ? .leSetExtendedScanEnable(HCI.ExtendedScanEnable(true, duplicates: wanted.filterDuplicates ? .on : .off))
      : .leSetScanEnable(true, filterDuplicates: wanted.filterDuplicates)
  }

  var disable: HCI.Command {
    isExtended
      ? .leSetExtendedScanEnable(HCI.ExtendedScanEnable(false)) : .leSetScanEnable(false, filterDuplicates: false)
  }
}
