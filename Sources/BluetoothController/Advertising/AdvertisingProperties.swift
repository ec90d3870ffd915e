import BluetoothWire

/// How an advertising set advertises: what the legacy and the extended commands have in common · Vol 4, Part E, 7.8.5, 7.8.53.
struct AdvertisingProperties {
  /// Units of Primary_Advertising_Interval.
  private static let intervalUnit = HCI.AdvertisingParameters.intervalUnit

  var isConnectable = true
  var isScannable = true
  var isDirected = false
  var isHighDutyCycle = false
  /// ADV_IND and its kin instead of ADV_EXT_IND.
  var usesLegacyPDUs = true
  /// ChSel: the device knows Channel Selection Algorithm #2.
  var knowsAlgorithm2 = true
  /// No address in any packet.
  var isAnonymous = false
  var includesTransmitPower = false
  /// The interval that the set advertises at: the shortest or the longest of `intervals`.
  var interval: TimeSpan
  /// From Primary_Advertising_Interval_Min to Primary_Advertising_Interval_Max, in units of 0.625 ms.
  var intervals: ClosedRange<UInt32>
  /// Bits 0 to 2: channels 37 to 39.
  var channelMap: UInt8 = 0b111
  var ownAddressType: HCI.OwnAddressType
  /// The target of directed advertising.
  var peer = HCI.PeerAddress(type: 0, value: 0)
  /// Bit 0: scan requests, bit 1: connection requests, only of devices on the accept list.
  var filterPolicy: UInt8 = 0
  var power: Decibel
  /// Of ADV_EXT_IND.
  var primary = Modulation.le1M
  /// Of the auxiliary packets.
  var secondary = Modulation.le1M
  /// Advertising_SID, 0 to 15.
  var sid: UInt8 = 0
  var notifiesScanRequests = false

  var usesAcceptList: Bool { filterPolicy != 0 }
  var isAnswerable: Bool { isConnectable || isScannable }
  /// How many primary channels are used.
  var channelCount: Int { (channelMap & 0b111).nonzeroBitCount }

  /// Whether the type has AdvData of its own · 7.8.54: a directed legacy advertiser has none, nor has an extended one that
  /// is scanned.
  var hasData: Bool { usesLegacyPDUs ? !isDirected : !isScannable }
  /// Whether periodic advertising goes with the type · 7.8.61.
  var canHaveTrain: Bool { !usesLegacyPDUs && !isAnswerable && !isAnonymous }

  mutating func takeInterval(_ units: UInt32) { interval = Self.intervalUnit * Int64(units) }

  /// Those of the extended commands · 7.8.53.
  ///
  /// - Throws: the error for the host.
  init(_ parameters: HCI.ExtendedAdvertisingParameters, defaultPower: Decibel) throws(HCI.ErrorCode) {
    let properties = parameters.properties
    isConnectable = properties.contains(.connectable)
    isScannable = properties.contains(.scannable)
    isDirected = properties.contains(.directed)
    isHighDutyCycle = properties.contains(.highDutyCycle)
    usesLegacyPDUs = properties.contains(.legacy)
    isAnonymous = properties.contains(.anonymous)
    includesTransmitPower = properties.contains(.includesTransmitPower)
    interval = Self.intervalUnit * Int64(parameters.minimumInterval)
    intervals = parameters.minimumInterval...max(parameters.minimumInterval, parameters.maximumInterval)
    channelMap = parameters.channelMap
    ownAddressType = parameters.ownAddressType
    peer = parameters.peer
    // Directed advertising ignores the filter policy.
    filterPolicy = isDirected ? 0 : parameters.filterPolicy
    power =
      parameters.transmitPower == HCI.ExtendedAdvertisingParameters.anyTransmitPower
      ? defaultPower : Self.possiblePower(Decibel(Int(parameters.transmitPower)))
    primary = Modulation(parameters.primaryPHY, parameters.primaryCoding)
    secondary = usesLegacyPDUs ? .le1M : Modulation(parameters.secondaryPHY, parameters.secondaryCoding)
    sid = parameters.advertisingSID
    notifiesScanRequests = parameters.notifiesOfScanRequests

    let hasType = usesLegacyPDUs ? Self.legacyTypes.contains(properties) : isValidExtendedType
    let hasIntervals =
      isHighDutyCycle
      || parameters.minimumInterval >= 0x20 && parameters.minimumInterval <= parameters.maximumInterval
    let hasPower = parameters.transmitPower <= 20 || parameters.transmitPower == 127
    guard hasType, properties.subtracting(.known).isEmpty, hasIntervals, channelMap & 0b111 != 0,
      channelMap & ~0b111 == 0, filterPolicy <= 3, !isDirected || peer.type <= 1, hasPower,
      parameters.transmitPower >= -127,
      !usesLegacyPDUs || primary == .le1M
    else { throw .invalidHCICommandParameters }
    // LE 2M is no PHY of the primary channels.
    guard primary != .le2M else { throw .unsupportedFeatureOrParameterValue }
  }

  /// What a set can be sent with, dBm.
  static let minimumPower = Decibel(-20)
  static let maximumPower = Decibel(20)

  /// The power of those that is nearest to `power`.
  static func possiblePower(_ power: Decibel) -> Decibel { min(maximumPower, max(minimumPower, power)) }

  /// ADV_IND, ADV_DIRECT_IND at low and at high duty cycle, ADV_SCAN_IND, ADV_NONCONN_IND.
  private static let legacyTypes: [HCI.ExtendedAdvertisingParameters.Properties] = [
    [.legacy, .connectable, .scannable], [.legacy, .connectable, .directed],
    [.legacy, .connectable, .directed, .highDutyCycle], [.legacy, .scannable], [.legacy],
  ]

  private var isValidExtendedType: Bool {
    !(isConnectable && isScannable) && !isHighDutyCycle && !(isAnonymous && isAnswerable)
  }

  /// Those of the legacy commands.
  init(_ parameters: HCI.AdvertisingParameters, power: Decibel) {
    let type = parameters.type
    isHighDutyCycle = type == .connectableDirectedHighDutyCycle
    isDirected = isHighDutyCycle || type == .connectableDirectedLowDutyCycle
    isConnectable = isDirected || type == .connectableScannableUndirected
    isScannable = type == .connectableScannableUndirected || type == .scannableUndirected
    interval = Self.intervalUnit * Int64(parameters.minimumInterval)
    intervals = UInt32(parameters.minimumInterval)...UInt32(parameters.minimumInterval)
    channelMap = parameters.channelMap
    ownAddressType = parameters.ownAddressType
    peer = parameters.peer
    filterPolicy = isDirected ? 0 : parameters.filterPolicy
    self.power = power
  }
}

extension HCI.ExtendedAdvertisingParameters.Properties {
  fileprivate static let known: Self = [
    .connectable, .scannable, .directed, .highDutyCycle, .legacy, .anonymous, .includesTransmitPower,
  ]
}

extension Modulation {
  /// A PHY, and on LE Coded the coding that the host would like or insists on; S=8 where it leaves the choice.
  init(_ phy: PHY, _ coding: HCI.ExtendedAdvertisingParameters.Coding) {
    switch phy {
    case .le1M: self = .le1M
    case .le2M: self = .le2M
    case .leCoded: self = coding == .prefersS2 || coding == .requiresS2 ? .codedS2 : .codedS8
    }
  }
}
