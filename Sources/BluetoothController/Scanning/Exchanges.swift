import BluetoothWire

/// A scan exchange: SCAN_REQ and SCAN_RSP on a primary channel.
struct ScanExchange {
  let channel: RadioChannel
  let advertiser: DeviceAddress
  /// True if the scanner received ADV_IND, false for ADV_SCAN_IND.
  let isConnectable: Bool
}

/// The content of CONNECT_IND or AUX_CONNECT_REQ, and the details of the resulting connection.
struct ConnectExchange {
  let channel: RadioChannel
  let phy: RadioPHY
  /// True on a secondary channel.
  let isAuxiliary: Bool
  let own: DeviceAddress
  let peer: DeviceAddress
  let data: LL.ConnectionData
  let usesAlgorithm2: Bool
  /// The end of the request.
  let requestEnd: Instant
  /// The time of the first packet after the start of the transmit window.
  let delay: TimeSpan
}
