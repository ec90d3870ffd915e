import BluetoothWire

/// The host's scanning state machine. It compares the requested scanning with the controller's state and issues one
/// command at a time · Vol 4, Part E, 7.8.10, 7.8.11, 7.8.64, 7.8.65.
struct HostScanner {
  private enum Step {
    case disable
    case parameters(Shape)
    case enable(ScanParameters)
  }

  /// The parameters that the controller accepts only while it does not scan.
  struct Shape: Equatable {
    var isActive: Bool
    var includesLECoded: Bool
    var ownAddressType: HCI.OwnAddressType
  }

  /// The scanning that the upper layer has requested.
  private var requested: ScanParameters?
  /// The scanning that the host needs for itself; nil: none.
  private var listening: ScanParameters?
  private var shape: Shape?
  private var enabled: ScanParameters?
  private var inFlight: Step?
  /// True if the controller has refused the requested scanning; the host does not retry until the request changes.
  private var isRefused = false
  private var isPaused = false

  var isEnabled: Bool { enabled != nil }

  /// True if scanning must restart even with unchanged parameters, so that the controller reports known devices again.
  private var restarts = false

  mutating func set(_ parameters: ScanParameters?) {
    requested = parameters
    restarts = parameters != nil
    isRefused = false
  }

  /// Starts or stops scanning for the host itself. The host then receives every advertising packet, whether or not
  /// the upper layer scans.
  mutating func listen(_ new: ScanParameters?) {
    guard new != listening else { return }
    listening = new
    isRefused = false
  }

  /// True if only the host itself scans, so that reports are not passed to the upper layer.
  var listensForHostAlone: Bool { listening != nil && requested == nil }

  /// The combined parameters for the upper layer and the host.
  private var effective: ScanParameters? {
    guard let listening, var requested else { return requested ?? listening }
    requested.filterDuplicates = false
    requested.includesLECoded = requested.includesLECoded || listening.includesLECoded
    return requested
  }

  /// Suspends or resumes scanning.
  mutating func pause(_ isPaused: Bool) { self.isPaused = isPaused }

  /// True if the controller neither scans nor executes a scanning command.
  var isQuiet: Bool { enabled == nil && inFlight == nil }

  /// Forgets the controller's state after a reset, or because the controller has not accepted any command; the
  /// requested scanning stays.
  mutating func forgetController() {
    let (requested, listening, isPaused) = (requested, listening, isPaused)
    self = HostScanner()
    (self.listening, self.isPaused) = (listening, isPaused)
    set(requested)
  }

  /// True if a next command may be due.
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
    guard let requested = effective else { return nil }
    let shape = commands.shape(requested)
    if self.shape != shape {
      inFlight = .parameters(shape)
      return commands.parameters(shape)
    }
    restarts = false
    inFlight = .enable(requested)
    return commands.enable(requested)
  }

  mutating func ended(_ status: HCI.ErrorCode) {
    let isSuccess = status == .success
    switch inFlight {
    // A refusal means that scanning was already disabled.
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

/// The builder of the commands for scanning, in their legacy or their extended form.
struct ScanCommands {
  let isExtended: Bool
  /// True if the controller has LE Coded.
  let hasLECoded: Bool
  let ownAddressType: HCI.OwnAddressType
  /// The scan interval and the scan window, in units of 0.625 ms.
  let interval: UInt16

  func shape(_ requested: ScanParameters) -> HostScanner.Shape {
    HostScanner.Shape(
      isActive: requested.isActive, includesLECoded: isExtended && hasLECoded && requested.includesLECoded,
      ownAddressType: ownAddressType)
  }

  func parameters(_ shape: HostScanner.Shape) -> HCI.Command {
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

  func enable(_ requested: ScanParameters) -> HCI.Command {
    isExtended
      ? .leSetExtendedScanEnable(HCI.ExtendedScanEnable(true, duplicates: requested.filterDuplicates ? .on : .off))
      : .leSetScanEnable(true, filterDuplicates: requested.filterDuplicates)
  }

  var disable: HCI.Command {
    isExtended
      ? .leSetExtendedScanEnable(HCI.ExtendedScanEnable(false)) : .leSetScanEnable(false, filterDuplicates: false)
  }
}
