import BluetoothWire

/// SCAN_REQ and SCAN_RSP on a primary channel.
struct ScanExchange {
  enum Phase { case beforeRequest, requesting, listening }
  var phase = Phase.beforeRequest
  let channel: RadioChannel
  let advertiser: DeviceAddress
  /// What was heard was ADV_IND, not ADV_SCAN_IND.
  let isConnectable: Bool
}

/// What a CONNECT_IND or AUX_CONNECT_REQ says, and what comes of it.
struct ConnectExchange {
  let channel: RadioChannel
  let phy: PHY
  /// On a secondary channel.
  let isAuxiliary: Bool
  let own: DeviceAddress
  let peer: DeviceAddress
  let data: LL.ConnectionData
  let usesAlgorithm2: Bool
  /// When it ends.
  let requestEnd: Instant
  /// Where in the transmit window the first packet is sent.
  let delay: TimeSpan
}
