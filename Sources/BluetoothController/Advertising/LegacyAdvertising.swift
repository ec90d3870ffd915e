import BluetoothWire

/// The settings of legacy advertising, which stay while it is disabled · Vol 4, Part E, 7.8.5 to 7.8.8.
struct LegacyAdvertising {
  private(set) var parameters = HCI.AdvertisingParameters(
    minimumInterval: 0x0800, maximumInterval: 0x0800, type: .connectableScannableUndirected, ownAddressType: .public)
  private(set) var data = ByteSlice()
  private(set) var response = ByteSlice()
  /// Change_Reasons, which have no handle in legacy advertising · 7.8.122.
  var addressChanges: HCI.AddressChangeReasons = []

  /// Executes LE Set Advertising Parameters.
  mutating func setParameters(_ parameters: HCI.AdvertisingParameters) -> HCI.ErrorCode {
    let isHighDuty = parameters.type == .connectableDirectedHighDutyCycle
    let isDirected = isHighDuty || parameters.type == .connectableDirectedLowDutyCycle
    let hasIntervals =
      0x0020...0x4000 ~= parameters.minimumInterval && 0x0020...0x4000 ~= parameters.maximumInterval
      && parameters.minimumInterval <= parameters.maximumInterval
    let hasPeer = !isDirected || parameters.peer.type <= 1
    guard isHighDuty || hasIntervals, hasPeer, parameters.channelMap & 0b111 != 0,
      parameters.channelMap & ~0b111 == 0, isDirected || parameters.filterPolicy <= 3
    else { return .invalidHCICommandParameters }
    self.parameters = parameters
    return .success
  }

  /// Sets AdvData of the next packets.
  mutating func setData(_ data: ByteSlice) { self.data = Self.kept(data) }

  /// Sets ScanRspData of the next packets.
  mutating func setResponse(_ response: ByteSlice) { self.response = Self.kept(response) }

  /// Returns a copy, so that the buffer of the whole command can be reused.
  private static func kept(_ data: ByteSlice) -> ByteSlice { data.withUnsafeBytes { ByteSlice($0) } }
}
