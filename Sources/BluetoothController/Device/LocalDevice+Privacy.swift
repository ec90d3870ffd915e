import BluetoothWire

/// The addresses of this device and of its peers · Vol 6, Part B, 6.
extension LocalDevice {
  /// Returns the identity address for Own_Address_Type; nil: the host has not set one · Vol 4, Part E, 7.8.5.
  mutating func ownAddress(_ type: HCI.OwnAddressType) -> DeviceAddress? {
    switch type {
    case .public, .resolvableOrPublic: configuration.publicAddress
    case .random, .resolvableOrRandom: randomAddress
    }
  }

  /// Returns the address that an activity toward `peer` can use: `identity` or, if the host has not set one, the
  /// private address from the peer's entry in the resolving list; nil: neither · Vol 4, Part E, 7.8.9, 7.8.12,
  /// 7.8.56.
  mutating func usableAddress(
    _ type: HCI.OwnAddressType, to peer: DeviceAddress?, identity: DeviceAddress?, at now: Instant
  ) -> DeviceAddress? {
    guard identity == nil, type.isPrivate else { return identity }
    return resolvingList.localAddress(for: peer, at: now, random: &random)
  }

  /// Returns the address that this device uses towards `peer`, an identity address: a private address if the
  /// resolving list has one for the peer and the host requests it, else `identity`.
  mutating func ownAddress(
    to peer: DeviceAddress?, _ type: HCI.OwnAddressType, identity: DeviceAddress, at now: Instant
  ) -> DeviceAddress {
    guard type.isPrivate, !resolvingList.isEmpty else { return identity }
    return resolvingList.localAddress(for: peer, at: now, random: &random) ?? identity
  }

  // MARK: Scanning and initiating · 6.3, 6.4

  /// Resolves the addresses in an advertising PDU.
  mutating func learnAddresses(of pdu: LL.AdvertisingPDU) {
    guard resolvingList.isEnabled, !resolvingList.isEmpty else { return }
    switch pdu {
    case .advInd(let advertiser, _, _), .advNonconnInd(let advertiser, _), .advScanInd(let advertiser, _):
      resolvingList.learn(advertiser)
    case .advDirectInd(let advertiser, let target, _):
      resolvingList.learn(advertiser)
      resolvingList.learn(target: target, of: advertiser)
    case .extended(let payload):
      guard let advertiser = payload.advertiser else { return }
      resolvingList.learn(advertiser)
      if let target = payload.target { resolvingList.learn(target: target, of: advertiser) }
    case .scanReq, .scanRsp, .connectInd, .auxConnectRsp: break
    }
  }
}

extension HCI.OwnAddressType {
  /// True if the controller generates private addresses.
  var isPrivate: Bool {
    switch self {
    case .public, .random: false
    case .resolvableOrPublic, .resolvableOrRandom: true
    }
  }
}
