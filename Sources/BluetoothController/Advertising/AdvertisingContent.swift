import BluetoothWire

/// What a set says: AdvData and ScanRspData, and which version of them it is.
struct AdvertisingContent {
  /// Maximum_Advertising_Data_Length: what any number of packets may hold together · Vol 4, Part E, 7.8.57.
  static let maximumLength = 1_650

  var data = ByteSlice()
  var response = ByteSlice()
  /// Advertising DID, 12 bits: others than before mean other data · Vol 6, Part B, 4.4.2.10.
  private(set) var dataID: UInt16 = 0
  /// Whether the last fragment is still to come.
  var isDataPartial = false
  var isResponsePartial = false

  /// Whether an advertising event can carry the data and the response · Vol 4, Part E, 7.8.54: those of a connectable set
  /// have one packet, and all packets of an event must be over before the next event.
  func canBeCarried(by properties: AdvertisingProperties, hasTrain: Bool) -> Bool {
    let maximum = LL.ExtendedAdvertisingPayload.maximumLength
    let data = properties.isScannable ? response : data
    // AdvA, TargetA, ADI, AuxPtr, SyncInfo, TxPower and the two octets before them.
    let fields = 2 + (properties.isAnonymous ? 0 : 6) + (properties.isDirected ? 6 : 0) + LL.AdvertisingDataInfo.size
    let first =
      maximum - fields - (hasTrain ? LL.SyncInfo.size : 0) - (properties.includesTransmitPower ? 1 : 0)
    if data.count <= first { return true }
    guard !properties.isConnectable else { return false }
    let packets = 2 + data.count / (maximum - 7)
    return (properties.secondary.airTime(payloadOctets: maximum) + LL.minimumAuxiliaryFrameSpace) * Int64(packets)
      < properties.interval
  }

  /// Discards the data, or the scan response.
  mutating func discard(_ reason: HCI.AddressChangeReasons) {
    if reason.contains(.advertisingData) {
      data = ByteSlice()
      isDataPartial = false
    } else {
      response = ByteSlice()
      isResponsePartial = false
    }
  }

  /// The data are new, or are to be taken as new.
  mutating func renewDataID(random: inout SplitGenerator) {
    // Any number but the present one.
    dataID = (dataID + 1 + UInt16(random.next() % 0xFFF)) & 0xFFF
  }
}
