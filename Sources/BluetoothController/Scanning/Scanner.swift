import BluetoothWire

/// The scanning state · Vol 6, Part B, 4.4.3.
struct Scanner {
  /// What directed advertising is to a scanner · 4.3.3.
  enum Target: Equatable {
    /// It is undirected, or directed to this device.
    case acceptable
    /// A resolvable private address that is not known to be this device's: of interest to policies 2 and 3.
    case unresolved
    /// Somebody else's.
    case foreign
  }

  /// What has become of the scan when its deadline has come.
  enum Change {
    case none
    /// Scanning pauses, or goes on after a pause.
    case windows
    /// The duration is over.
    case ended
  }

  private static let durationUnit = TimeSpan.milliseconds(10)
  private static let periodUnit = TimeSpan.milliseconds(1_280)

  /// Begun by the commands for extended advertising: all reports are extended ones, and extended advertising is heard.
  let isExtended: Bool
  let parameters: HCI.ExtendedScanParameters
  var own: DeviceAddress

  private var filter: DuplicateFilter?
  private var resetsFilterEachPeriod = false
  private var backOff = BackOff()

  /// When scanning pauses, goes on or ends; `distantFuture`: never.
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

  /// When this scanner listens; nothing while it pauses.
  var windows: PerPrimaryPHY<ScanWindows> {
    var result = PerPrimaryPHY<ScanWindows>()
    guard !isPausing else { return result }
    result.le1M = parameters.le1M.map { ScanWindows(interval: $0.interval, window: $0.window, start: periodStart) }
    result.leCoded = parameters.leCoded.map {
      ScanWindows(interval: $0.interval, window: $0.window, start: periodStart)
    }
    return result
  }

  func isActive(on phy: PHY) -> Bool {
    (phy == .leCoded ? parameters.leCoded?.isActive : parameters.le1M?.isActive) ?? false
  }

  /// Whether what begins on this PHY is to be reported.
  func isScanning(_ phy: PHY) -> Bool {
    guard !isPausing else { return false }
    return phy == .leCoded ? parameters.leCoded != nil : parameters.le1M != nil
  }

  var usesAcceptList: Bool { parameters.filterPolicy & 1 == 1 }
  private var takesUnresolvedTargets: Bool { parameters.filterPolicy & 2 == 2 }

  /// What directed advertising to `target` is, nil standing for undirected advertising.
  func judge(_ target: DeviceAddress?) -> Target {
    guard let target, target != own else { return .acceptable }
    return takesUnresolvedTargets && target.randomKind == .resolvablePrivate ? .unresolved : .foreign
  }

  /// Pauses, goes on or ends if the time has come.
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

  /// Whether the host has had this report, and does not want it again.
  func isDuplicate(_ key: DuplicateFilter.Key) -> Bool { filter?.contains(key) ?? false }

  /// Remembers that the host has this report; false: it was known, and is not wanted again.
  mutating func remember(_ key: DuplicateFilter.Key) -> Bool {
    guard filter != nil else { return true }
    return filter?.insert(key) ?? true
  }

  // MARK: Scan requests · 4.4.3.2

  /// Whether a scannable packet is answered by SCAN_REQ now. A device whose response the host has had and does not want
  /// again is not asked.
  mutating func shouldRequest(_ response: DuplicateFilter.Key, on phy: PHY) -> Bool {
    guard isActive(on: phy), !isDuplicate(response) else { return false }
    return backOff.count()
  }

  /// The answer to a SCAN_REQ has come, or not.
  mutating func requestEnded(isSuccess: Bool, random: inout SplitGenerator) {
    backOff.requestEnded(isSuccess: isSuccess, random: &random)
  }
}
