import BluetoothWire

/// The scanning state · Vol 6, Part B, 4.4.3.
struct Scanner {
  let parameters: HCI.ScanParameters
  let own: DeviceAddress
  let windows: ScanWindows
  private var filter: DuplicateFilter?
  private var backOff = BackOff()

  init(parameters: HCI.ScanParameters, own: DeviceAddress, filtersDuplicates: Bool, at now: Instant) {
    self.parameters = parameters
    self.own = own
    windows = ScanWindows(interval: parameters.interval, window: parameters.window, start: now)
    filter = filtersDuplicates ? DuplicateFilter() : nil
  }

  var usesAcceptList: Bool { parameters.filterPolicy & 1 == 1 }

  /// Whether the host is told of a report of this type.
  mutating func isNew(_ type: HCI.AdvertisingReport.EventType, of address: DeviceAddress) -> Bool {
    guard filter != nil else { return true }
    return filter?.insert(type, address) ?? true
  }

  /// Whether a scannable packet of `address` is answered by SCAN_REQ · 4.4.3.2. A device whose response the host has had
  /// and does not want again is not asked.
  mutating func shouldRequest(from address: DeviceAddress) -> Bool {
    guard parameters.isActive, filter?.contains(.scanResponse, address) != true else { return false }
    return backOff.count()
  }

  /// The answer to a SCAN_REQ has come, or not.
  mutating func requestEnded(isSuccess: Bool, random: inout SplitGenerator) {
    backOff.requestEnded(isSuccess: isSuccess, random: &random)
  }
}

/// Which reports the host has had · 4.4.3.5: data that has changed does not make a report new.
struct DuplicateFilter {
  /// When so many are remembered, all are forgotten.
  private static let capacity = 4_096

  private var known: Set<UInt64> = []

  /// False when it was known.
  mutating func insert(_ type: HCI.AdvertisingReport.EventType, _ address: DeviceAddress) -> Bool {
    if known.count >= Self.capacity { known.removeAll(keepingCapacity: true) }
    return known.insert(Self.key(type, address)).inserted
  }

  func contains(_ type: HCI.AdvertisingReport.EventType, _ address: DeviceAddress) -> Bool {
    known.contains(Self.key(type, address))
  }

  private static func key(_ type: HCI.AdvertisingReport.EventType, _ address: DeviceAddress) -> UInt64 {
    address.value | UInt64(address.kind.rawValue) << 48 | UInt64(type.rawValue) << 56
  }
}

/// Keeps scanners that hear the same device from always asking at once · 4.4.3.2.
struct BackOff {
  private static let largestLimit = 256

  private var upperLimit = 1
  private var backOffCount = 1
  /// Successes in a row above zero, failures in a row below.
  private var run = 0

  /// A scannable packet has come; true: ask.
  mutating func count() -> Bool {
    backOffCount -= 1
    return backOffCount <= 0
  }

  mutating func requestEnded(isSuccess: Bool, random: inout SplitGenerator) {
    run = isSuccess ? max(run, 0) + 1 : min(run, 0) - 1
    if run == 2 {
      upperLimit = max(1, upperLimit / 2)
      run = 0
    } else if run == -2 {
      upperLimit = min(Self.largestLimit, upperLimit * 2)
      run = 0
    }
    backOffCount = 1 + Int(random.next() % UInt64(upperLimit))
  }
}
