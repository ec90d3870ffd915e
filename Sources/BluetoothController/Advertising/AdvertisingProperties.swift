import BluetoothWire

/// The properties of an advertising set that the legacy and the extended commands share · Vol 4, Part E, 7.8.5,
/// 7.8.53.
struct AdvertisingProperties {
  /// The unit of Primary_Advertising_Interval.
  private static let intervalUnit = HCI.AdvertisingParameters.intervalUnit

  var isConnectable = true
  var isScannable = true
  var isDirected = false
  var isHighDutyCycle = false
  /// True for legacy PDUs such as ADV_IND, false for ADV_EXT_IND.
  var usesLegacyPDUs = true
  /// ChSel: the device supports Channel Selection Algorithm #2.
  var knowsAlgorithm2 = true
  /// True if no packet carries an address.
  var isAnonymous = false
  var includesTransmitPower = false
  /// The interval of the set's events: the shortest or the longest of `intervals`.
  var interval: TimeSpan
  /// The range from Primary_Advertising_Interval_Min to Primary_Advertising_Interval_Max, in units of 0.625 ms.
  var intervals: ClosedRange<UInt32>
  /// Bits 0 to 2: channels 37 to 39.
  var channelMap: UInt8 = 0b111
  var ownAddressType: HCI.OwnAddressType
  /// The target of directed advertising.
  var peer = HCI.PeerAddress(type: 0, value: 0)
  /// Filter policy bits: bit 0 limits scan requests, bit 1 connection requests, to devices on the Filter Accept List.
  var filterPolicy: UInt8 = 0
  var power: Decibel
  /// The modulation of ADV_EXT_IND.
  var primary = Modulation.le1M
  /// The modulation of the auxiliary packets.
  var secondary = Modulation.le1M
  /// Advertising_SID, 0 to 15.
  var sid: UInt8 = 0
  var notifiesScanRequests = false

  var usesAcceptList: Bool { filterPolicy != 0 }
  var isAnswerable: Bool { isConnectable || isScannable }
  /// The number of primary channels that the set uses.
  var channelCount: Int { (channelMap & 0b111).nonzeroBitCount }

  /// True if the advertising type has AdvData · 7.8.54: directed legacy advertising has none, and scannable extended
  /// advertising has none.
  var hasData: Bool { usesLegacyPDUs ? !isDirected : !isScannable }
  /// True if periodic advertising is possible with the advertising type · 7.8.61.
  var canHaveTrain: Bool { !usesLegacyPDUs && !isAnswerable && !isAnonymous }

  mutating func takeInterval(_ units: UInt32) { interval = Self.intervalUnit * Int64(units) }

  /// Creates the properties from the extended commands · 7.8.53.
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
      ? defaultPower : ControllerConfiguration.possiblePower(Decibel(Int(parameters.transmitPower)))
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
    // The primary channels do not use LE 2M.
    guard primary != .le2M else { throw .unsupportedFeatureOrParameterValue }
  }

  /// ADV_IND, ADV_DIRECT_IND at low and at high duty cycle, ADV_SCAN_IND, ADV_NONCONN_IND.
  private static let legacyTypes: [HCI.ExtendedAdvertisingParameters.Properties] = [
    [.legacy, .connectable, .scannable], [.legacy, .connectable, .directed],
    [.legacy, .connectable, .directed, .highDutyCycle], [.legacy, .scannable], [.legacy],
  ]

  private var isValidExtendedType: Bool {
    !(isConnectable && isScannable) && !isHighDutyCycle && !(isAnonymous && isAnswerable)
  }

  /// Creates the properties from the legacy commands.
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
  /// Creates the modulation of a PHY, on LE Coded with the coding that the host prefers or requires; S=8 if the host
  /// leaves the choice.
  init(_ phy: RadioPHY, _ coding: HCI.ExtendedAdvertisingParameters.Coding) {
    switch phy {
    case .le1M: self = .le1M
    case .le2M: self = .le2M
    case .leCoded: self = coding == .prefersS2 || coding == .requiresS2 ? .codedS2 : .codedS8
    }
  }
}
