import BluetoothWire

/// The addresses and the filter of an advertiser, for the primary and the secondary channels.
struct AdvertiserIdentity {
  /// A request of a device that has received a packet of the advertiser.
  enum Request {
    case scan(by: DeviceAddress)
    case connect(ConnectRequest)
  }

  let own: DeviceAddress
  /// The target of directed advertising.
  let target: DeviceAddress?
  let properties: AdvertisingProperties

  /// Creates the identity of an advertiser.
  ///
  /// - Parameter target: the private address of the target, if it has one.
  init(_ properties: AdvertisingProperties, own: DeviceAddress, target: DeviceAddress? = nil) {
    self.properties = properties
    self.own = own
    self.target = properties.isDirected ? target ?? properties.peer.deviceAddress : nil
  }

  /// Returns the request in `packet`; nil: none, or one that isn't answered. Only requests to this advertiser count,
  /// from devices that its filter policy permits · Vol 6, Part B, 4.3.2, 4.4.2, 6.2.
  func request(
    in packet: AirPacket, isIntact: Bool, acceptList: AcceptList, resolvingList: inout ResolvingList, at now: Instant
  ) -> Request? {
    guard isIntact, let pdu = try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload) else { return nil }
    switch pdu {
    case .scanReq(let scanner, let advertiser):
      guard properties.isScannable, advertiser == own,
        mayAsk(scanner, filterBit: 0b01, acceptList, &resolvingList)
      else { return nil }
      return .scan(by: scanner)
    case .connectInd(let initiator, let advertiser, let data, let usesAlgorithm2):
      guard properties.isConnectable, advertiser == own, data.isValid,
        mayAsk(initiator, filterBit: 0b10, acceptList, &resolvingList)
      else { return nil }
      return .connect(
        ConnectRequest(initiator: initiator, data: data, usesAlgorithm2: usesAlgorithm2, end: now))
    default: return nil
    }
  }

  private func mayAsk(
    _ address: DeviceAddress, filterBit: UInt8, _ acceptList: AcceptList, _ resolvingList: inout ResolvingList
  ) -> Bool {
    resolvingList.learn(address)
    let peer = resolvingList.identify(address)
    guard !peer.isIgnored else { return false }
    if properties.isDirected { return peer.identity == properties.peer.deviceAddress }
    return properties.filterPolicy & filterBit == 0 || acceptList.contains(peer.identity)
  }
}

/// The content of CONNECT_IND or AUX_CONNECT_REQ.
struct ConnectRequest {
  let initiator: DeviceAddress
  let data: LL.ConnectionData
  let usesAlgorithm2: Bool
  /// The time of the packet's last bit, from which the transmit window counts.
  let end: Instant
}
