import BluetoothWire

/// What the host has set and a reset forgets.
struct HostSettings {
  var randomAddress: DeviceAddress?
  var advertisingParameters = HCI.AdvertisingParameters(
    minimumInterval: 0x0800, maximumInterval: 0x0800, type: .connectableScannableUndirected, ownAddressType: .public)
  var advertisingData = ByteSlice()
  var scanResponse = ByteSlice()
  /// Change_Reasons of legacy advertising, which has no handle · Vol 4, Part E, 7.8.122.
  var addressChanges: HCI.AddressChangeReasons = []
  var scanParameters = HCI.ExtendedScanParameters(
    ownAddressType: .public, le1M: HCI.ExtendedScanParameters.Scan(isActive: false, interval: 0x0010, window: 0x0010))
  var acceptList = AcceptList()
  /// The channels that new connections use, and that a central changes to.
  var channelMap = ChannelMap.all
  /// Of LE Set Default PHY.
  var preferredPHYs = LL.PHYPreferences(transmit: .all, receive: .all)
  var suggestedLength = DataLengthState.minimum
  /// Of the LE features, those that the host has.
  var features: HCI.LEFeatures = []
  /// The last one that LE Read Local P-256 Public Key has made.
  var keyPair: KeyPairBox?
  /// The clock that LE Modify Sleep Clock Accuracy has chosen; nil: the device's own.
  var sleepClock: LL.SleepClockAccuracy?
  /// nil: none of either kind has been used.
  var commandGeneration: CommandGeneration?

  init() {}

  init(address: DeviceAddress) {
    if address.kind == .random { randomAddress = address }
  }
}
