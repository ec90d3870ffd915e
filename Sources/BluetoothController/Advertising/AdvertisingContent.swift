import BluetoothWire

/// The data of a set: AdvData, ScanRspData and their version.
struct AdvertisingContent {
  /// Maximum_Advertising_Data_Length: the limit for all packets of an event together · Vol 4, Part E, 7.8.57.
  static let maximumLength = 1_650

  var data = ByteSlice()
  var response = ByteSlice()
  /// Advertising DID, 12 bits: a new value indicates new data · Vol 6, Part B, 4.4.2.10.
  private(set) var dataID: UInt16 = 0
  /// True until the last fragment arrives.
  var isDataPartial = false
  var isResponsePartial = false

  /// True if an advertising event can carry the data and the response · Vol 4, Part E, 7.8.54: a connectable set has
  /// one packet for them, and all packets of an event must end before the next event.
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

  /// Changes the data ID, for new data or data that receivers treat as new.
  mutating func renewDataID(random: inout RandomStream) {
    // The new ID is any number except the present one.
    dataID = (dataID + 1 + UInt16(random.next() % 0xFFF)) & 0xFFF
  }
}

extension ByteSlice {
  /// Adds a fragment from the host · Vol 4, Part E, 7.8.54. Data that are too long are discarded.
  mutating func take(
    _ fragment: HCI.AdvertisingDataFragment, isPartial: inout Bool, isLegacy: Bool, isInUse: Bool
  ) -> HCI.ErrorCode {
    switch fragment.operation {
    case .complete:
      guard !isLegacy || fragment.data.count <= LL.maximumAdvertisingDataLength else {
        return .invalidHCICommandParameters
      }
      // A copy, so that the buffer of the whole command can be reused.
      self = fragment.data.withUnsafeBytes { ByteSlice($0) }
      isPartial = false
      return .success
    case .first, .intermediate, .last:
      guard !isLegacy, !fragment.data.isEmpty else { return .invalidHCICommandParameters }
      guard !isInUse else { return .commandDisallowed }
      guard isPartial || fragment.operation == .first else { return .invalidHCICommandParameters }
      let before = fragment.operation == .first ? [] : bytes
      guard before.count + fragment.data.count <= AdvertisingContent.maximumLength else {
        self = ByteSlice()
        isPartial = false
        return .memoryCapacityExceeded
      }
      self = ByteSlice(before + fragment.data.bytes)
      isPartial = fragment.operation != .last
      return .success
    case .unchanged: return .invalidHCICommandParameters
    }
  }
}
