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
  /// No address in any packet.
  var isAnonymous = false
  var includesTransmitPower = false
  var interval: TimeSpan
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

  /// Those of the legacy commands.
  init(_ parameters: HCI.AdvertisingParameters, power: Decibel) {
    let type = parameters.type
    isHighDutyCycle = type == .connectableDirectedHighDutyCycle
    isDirected = isHighDutyCycle || type == .connectableDirectedLowDutyCycle
    isConnectable = isDirected || type == .connectableScannableUndirected
    isScannable = type == .connectableScannableUndirected || type == .scannableUndirected
    interval = Self.intervalUnit * Int64(parameters.minimumInterval)
    channelMap = parameters.channelMap
    ownAddressType = parameters.ownAddressType
    peer = parameters.peer
    filterPolicy = parameters.filterPolicy
    self.power = power
  }
}
