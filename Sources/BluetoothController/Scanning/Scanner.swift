import BluetoothWire

/// The scanning state · Vol 6, Part B, 4.4.3.
struct Scanner {
  /// The classification of an advertising event's target by the scanner · 4.3.3.
  enum Target: Equatable {
    /// No target, or this device.
    case acceptable
    /// A resolvable private address that is not known to be this device's; filter policies 2 and 3 accept it.
    case unresolved
    /// Another device.
    case foreign
  }

  /// The change of the scan at its deadline.
  enum Change {
    case none
    /// Scanning pauses or resumes.
    case windows
    /// The duration has elapsed.
    case ended
  }

  private static let durationUnit = TimeSpan.milliseconds(10)
  private static let periodUnit = TimeSpan.milliseconds(1_280)

  /// True if the commands for extended advertising started the scanner: it reports in the extended form, and receives
  /// extended advertising.
  let isExtended: Bool
  let parameters: HCI.ExtendedScanParameters
  var own: DeviceAddress

  private var filter: DuplicateFilter?
  private var resetsFilterEachPeriod = false
  private var backOff = BackOff()

  /// The time at which scanning pauses, resumes or ends; `distantFuture`: never.
  private(set) var deadline = Instant.distantFuture
  private var periodStart: Instant
  private var duration: TimeSpan?
  private var period: TimeSpan?
  private(set) var isPausing = false

  init(
    _ parameters: HCI.ExtendedScanParameters, own: DeviceAddress, isExtended: Bool, enable: HCI.ExtendedScanEnable,
    at now: Instant
  ) {
    self.isExtended = isExtended
    self.parameters = parameters
    self.own = own
    periodStart = now
    filter = enable.duplicates == .off ? nil : DuplicateFilter()
    resetsFilterEachPeriod = enable.duplicates == .resetEachPeriod
    guard enable.duration > 0 else { return }
    duration = Self.durationUnit * Int64(enable.duration)
    if enable.period > 0 { period = Self.periodUnit * Int64(enable.period) }
    deadline = now + Self.durationUnit * Int64(enable.duration)
  }

  /// The windows in which this scanner listens; none while it pauses.
  var windows: ByPrimaryPHY<ScanWindows> {
    var result = ByPrimaryPHY<ScanWindows>()
    guard !isPausing else { return result }
    result.le1M = parameters.le1M.map { ScanWindows(interval: $0.interval, window: $0.window, start: periodStart) }
    result.leCoded = parameters.leCoded.map {
      ScanWindows(interval: $0.interval, window: $0.window, start: periodStart)
    }
    return result
  }

  func isActive(on phy: RadioPHY) -> Bool {
    (phy == .leCoded ? parameters.leCoded?.isActive : parameters.le1M?.isActive) ?? false
  }

  /// True if the scanner reports advertising that begins on this PHY.
  func isScanning(_ phy: RadioPHY) -> Bool {
    guard !isPausing else { return false }
    return phy == .leCoded ? parameters.leCoded != nil : parameters.le1M != nil
  }

  var usesAcceptList: Bool { parameters.filterPolicy & 1 == 1 }
  private var takesUnresolvedTargets: Bool { parameters.filterPolicy & 2 == 2 }

  /// Classifies the target of advertising; nil stands for undirected advertising.
  func judge(_ target: DeviceAddress?) -> Target {
    guard let target, target != own else { return .acceptable }
    return takesUnresolvedTargets && target.randomKind == .resolvablePrivate ? .unresolved : .foreign
  }

  /// Pauses, resumes or ends scanning if the time has come.
  mutating func checkDeadline(at now: Instant) -> Change {
    guard deadline <= now, let duration else { return .none }
    guard let period else { return .ended }
    if isPausing {
      periodStart += period
      deadline = periodStart + duration
      if resetsFilterEachPeriod { filter?.removeAll() }
    } else {
      deadline = periodStart + period
    }
    isPausing.toggle()
    return .windows
  }

  // MARK: Duplicates · 4.4.3.5

  /// True if the host has received this report and filters duplicates.
  func isDuplicate(_ key: DuplicateFilter.Key) -> Bool { filter?.contains(key) ?? false }

  /// Remembers that the host has this report; returns false if the report is a duplicate.
  mutating func remember(_ key: DuplicateFilter.Key) -> Bool {
    guard filter != nil else { return true }
    return filter?.insert(key) ?? true
  }

  // MARK: Scan requests · 4.4.3.2

  /// True if the scanner answers a scannable packet with SCAN_REQ now. It sends none if the response would be a
  /// duplicate.
  mutating func shouldRequest(_ response: DuplicateFilter.Key, on phy: RadioPHY) -> Bool {
    guard isActive(on: phy), !isDuplicate(response) else { return false }
    return backOff.count()
  }

  /// Updates the backoff after a SCAN_REQ with or without response.
  mutating func requestEnded(isSuccess: Bool, random: inout RandomStream) {
    backOff.requestEnded(isSuccess: isSuccess, random: &random)
  }
}
