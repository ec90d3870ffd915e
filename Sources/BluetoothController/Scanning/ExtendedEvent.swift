import BluetoothWire

/// The state of an extended advertising event that is being received · Vol 6, Part B, 4.4.2.2.2.
struct ExtendedEvent {
  /// The longest data of a set, octets; further data in a chain are ignored.
  static let maximumDataLength = 1_650
  /// The maximum number of packets in a chain; without this limit, a chain of empty packets would never end.
  private static let maximumPackets = 64

  /// The modulation of the packet that began the event.
  let primary: Modulation
  var primaryPHY: RadioPHY { primary.phy }
  let mode: LL.ExtendedAdvertisingPayload.Mode
  /// The modulation of AUX_ADV_IND; nil: none was received.
  private(set) var secondary: Modulation?
  var secondaryPHY: RadioPHY? { secondary?.phy }
  /// The advertiser's address; nil: unknown, or anonymous.
  private(set) var advertiser: DeviceAddress?
  private(set) var target: DeviceAddress?
  private(set) var dataInfo: LL.AdvertisingDataInfo?
  private(set) var transmitPower: Int8?
  /// The interval of periodic advertising, in units of 1.25 ms; 0: none.
  private(set) var periodicInterval: UInt16 = 0
  /// True if the packets received now are the response to AUX_SCAN_REQ.
  private(set) var isScanResponse = false
  /// The number of octets reported to the host; `isReporting` is true if the host waits for more.
  private(set) var reportedLength = 0
  private(set) var isReporting = false
  private var packets = 0

  /// Creates the event that begins with an ADV_EXT_IND.
  init(_ payload: LL.ExtendedAdvertisingPayload, _ modulation: Modulation) {
    primary = modulation
    mode = payload.mode
    advertiser = payload.advertiser
    target = payload.target
    dataInfo = payload.dataInfo
    transmitPower = payload.transmitPower
  }

  /// Processes AUX_ADV_IND; returns false if it belongs to another event.
  mutating func take(_ payload: LL.ExtendedAdvertisingPayload, _ modulation: Modulation) -> Bool {
    guard payload.mode == mode, take(dataInfo: payload.dataInfo), Self.take(&advertiser, payload.advertiser),
      Self.take(&target, payload.target)
    else { return false }
    secondary = modulation
    transmitPower = payload.transmitPower ?? transmitPower
    if let info = payload.syncInfo, info.isValid { periodicInterval = info.interval }
    return true
  }

  /// Processes AUX_CHAIN_IND; returns false if it belongs to another event.
  mutating func takeChained(_ payload: LL.ExtendedAdvertisingPayload) -> Bool {
    guard payload.mode == .nonConnectable, take(dataInfo: payload.dataInfo) else { return false }
    transmitPower = payload.transmitPower ?? transmitPower
    return true
  }

  /// Processes AUX_SCAN_RSP, the response to this device's request; returns false if the packet is another one.
  mutating func takeResponse(_ payload: LL.ExtendedAdvertisingPayload) -> Bool {
    guard payload.mode == .nonConnectable, let responder = payload.advertiser, responder == advertiser,
      take(dataInfo: payload.dataInfo)
    else { return false }
    isScanResponse = true
    reportedLength = 0
    transmitPower = payload.transmitPower ?? transmitPower
    return true
  }

  private mutating func take(dataInfo new: LL.AdvertisingDataInfo?) -> Bool {
    guard let new else { return true }
    guard dataInfo == nil || dataInfo == new else { return false }
    dataInfo = new
    return true
  }

  private static func take(_ known: inout DeviceAddress?, _ new: DeviceAddress?) -> Bool {
    guard let new else { return true }
    guard known == nil || known == new else { return false }
    known = new
    return true
  }

  /// Records that `count` octets were reported to the host, and whether the report was the last one.
  mutating func reported(_ count: Int, isComplete: Bool) {
    reportedLength += count
    packets += 1
    isReporting = !isComplete
  }

  /// The number of octets that may still be reported to the host.
  var room: Int { Self.maximumDataLength - reportedLength }
  /// True if another packet may follow.
  var mayGoOn: Bool { packets < Self.maximumPackets }

  /// Returns the key of a report of the event, or of its scan response; `identity` is the advertiser's identity.
  func key(_ identity: DeviceAddress?, isScanResponse: Bool) -> DuplicateFilter.Key {
    DuplicateFilter.Key(identity, dataInfo, isScanResponse: isScanResponse)
  }

  /// The event type without the data status.
  var type: HCI.ExtendedAdvertisingReport.EventType {
    var type: HCI.ExtendedAdvertisingReport.EventType = []
    switch mode {
    case .nonConnectable: break
    case .connectable: type.insert(.connectable)
    case .scannable: type.insert(.scannable)
    }
    if target != nil { type.insert(.directed) }
    if isScanResponse { type.insert(.scanResponse) }
    return type
  }
}
