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

  /// The data are new, or are to be taken as new.
  mutating func renewDataID(random: inout SplitGenerator) {
    // Any number but the present one.
    dataID = (dataID + 1 + UInt16(random.next() % 0xFFF)) & 0xFFF
  }
}
