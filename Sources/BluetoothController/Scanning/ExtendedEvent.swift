import BluetoothWire

/// What is known of an extended advertising event while its packets come in · Vol 6, Part B, 4.4.2.2.2.
struct ExtendedEvent {
  /// The longest data of a set, octets; what a chain has beyond it is not looked at.
  static let maximumDataLength = 1_650
  /// A chain of more packets is broken off: nothing else would ever end one of empty packets.
  private static let maximumPackets = 64

  /// How the packet was sent that began the event.
  let primary: Modulation
  var primaryPHY: PHY { primary.phy }
  let mode: LL.ExtendedAdvertisingPayload.Mode
  /// How AUX_ADV_IND was sent; nil: there was none.
  private(set) var secondary: Modulation?
  var secondaryPHY: PHY? { secondary?.phy }
  /// nil: not known, or anonymous.
  private(set) var advertiser: DeviceAddress?
  private(set) var target: DeviceAddress?
  private(set) var dataInfo: LL.AdvertisingDataInfo?
  private(set) var transmitPower: Int8?
  /// Units of 1.25 ms; 0: no periodic advertising.
  private(set) var periodicInterval: UInt16 = 0
  /// What comes now is the answer to AUX_SCAN_REQ.
  private(set) var isScanResponse = false
  /// How many octets of the data the host has, and whether it waits for more.
  private(set) var reportedLength = 0
  private(set) var isReporting = false
  private var packets = 0

  /// The event that an ADV_EXT_IND begins.
  init(_ payload: LL.ExtendedAdvertisingPayload, _ modulation: Modulation) {
    primary = modulation
    mode = payload.mode
    advertiser = payload.advertiser
    target = payload.target
    dataInfo = payload.dataInfo
    transmitPower = payload.transmitPower
  }

  /// Takes in what AUX_ADV_IND says; false: it belongs to another event.
  mutating func take(_ payload: LL.ExtendedAdvertisingPayload, _ modulation: Modulation) -> Bool {
    guard payload.mode == mode, take(dataInfo: payload.dataInfo), Self.take(&advertiser, payload.advertiser),
      Self.take(&target, payload.target)
    else { return false }
    secondary = modulation
    transmitPower = payload.transmitPower ?? transmitPower
    if let info = payload.syncInfo, info.isValid { periodicInterval = info.interval }
    return true
  }

  /// Takes in what AUX_CHAIN_IND says; false: it belongs to another event.
  mutating func takeChained(_ payload: LL.ExtendedAdvertisingPayload) -> Bool {
    guard payload.mode == .nonConnectable, take(dataInfo: payload.dataInfo) else { return false }
    transmitPower = payload.transmitPower ?? transmitPower
    return true
  }

  /// Takes in what AUX_SCAN_RSP says, the answer to this device's request; false: it is none.
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

  /// The host has `count` octets more, and is told whether there are more to come.
  mutating func reported(_ count: Int, isComplete: Bool) {
    reportedLength += count
    packets += 1
    isReporting = !isComplete
  }

  /// How many octets more the host can be told.
  var room: Int { Self.maximumDataLength - reportedLength }
  /// Whether another packet may follow.
  var mayGoOn: Bool { packets < Self.maximumPackets }

  /// What a report of it, or of the response to it, is known by: `identity` is that of the advertiser.
  func key(_ identity: DeviceAddress?, isScanResponse: Bool) -> DuplicateFilter.Key {
    DuplicateFilter.Key(identity, dataInfo, isScanResponse: isScanResponse)
  }

  /// Without the data status.
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
