import BluetoothWire

/// The settings of the host, which a reset clears.
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
  /// The channels that new connections use, and that a central's connections change to.
  var channelMap = ChannelMap.all
  /// The preference of LE Set Default PHY.
  var preferredPHYs = LL.PHYPreferences(transmit: .all, receive: .all)
  var suggestedLength = DataLengthState.minimum
  /// The LE features that the host supports.
  var features: HCI.LEFeatures = []
  /// The last key pair of LE Read Local P-256 Public Key.
  var keyPair: KeyPairBox?
  /// The clock chosen by LE Modify Sleep Clock Accuracy; nil: the device's real clock.
  var sleepClock: LL.SleepClockAccuracy?
  /// The generation of commands that the host uses; nil: it has used neither yet.
  var commandGeneration: HCI.CommandGeneration?

  init() {}

  init(address: DeviceAddress) {
    if address.kind == .random { randomAddress = address }
  }
}
