import BluetoothWire

/// The use of private addresses by the controller · Vol 6, Part B, 6.
extension Controller {
  /// Returns the address that this device uses towards `peer`, an identity address: a private address if the
  /// resolving list has one for the peer and the host requests it, else `identity`.
  mutating func ownAddress(
    to peer: DeviceAddress?, _ type: HCI.OwnAddressType, identity: DeviceAddress, at now: Instant
  ) -> DeviceAddress {
    guard type.isPrivate, !resolvingList.isEmpty else { return identity }
    return resolvingList.localAddress(for: peer, at: now, random: &random) ?? identity
  }

  // MARK: Advertising · 6.2

  /// Returns the address of an advertising set on the air, and the address of its target.
  mutating func advertiserIdentity(
    _ properties: AdvertisingProperties, own: DeviceAddress, at now: Instant
  ) -> AdvertiserIdentity {
    guard properties.ownAddressType.isPrivate, !resolvingList.isEmpty else {
      return AdvertiserIdentity(properties, own: own)
    }
    let peer = properties.peer.deviceAddress
    return AdvertiserIdentity(
      properties, own: ownAddress(to: peer, properties.ownAddressType, identity: own, at: now),
      target: resolvingList.targetAddress(for: peer, at: now, random: &random))
  }

  /// Renews the private addresses of a set before an advertising event if they are due.
  mutating func renewAddresses(_ index: Int, at now: Instant) {
    guard !resolvingList.isEmpty, let set = sets[index], set.properties.ownAddressType.isPrivate,
      let present = set.advertiser?.identity
    else { return }
    let own = set.handle == nil ? ownAddress(set.properties.ownAddressType) : ownAddress(of: set)
    let identity = advertiserIdentity(set.properties, own: own ?? present.own, at: now)
    guard identity.own != present.own || identity.target != present.target else { return }
    sets[index]?.advertiser?.setIdentity(identity, content: set.content, in: pool)
  }

  /// Changes the private address of a set whose data have changed, if the host has requested that · Vol 4, Part E,
  /// 7.8.122.
  mutating func dataChanged(_ reason: HCI.AddressChangeReasons, of index: Int) {
    guard let set = sets[index], set.addressChanges.contains(reason) else { return }
    resolvingList.changeLocalAddress(for: set.properties.peer.deviceAddress)
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

  /// Resolves the target of an event whose packets carry the advertiser and the target separately.
  mutating func learnTarget(of event: ExtendedEvent) {
    guard let advertiser = event.advertiser, let target = event.target else { return }
    resolvingList.learn(target: target, of: advertiser)
  }

  /// Returns how the scanner treats advertising of `advertiser` (nil: anonymous) to `target` (nil: undirected).
  mutating func judge(_ target: DeviceAddress?, of advertiser: DeviceAddress?) -> Scanner.Target {
    guard let scanner else { return .foreign }
    if let target, let advertiser, resolvingList.isOwn(target, calledBy: advertiser) { return .acceptable }
    return scanner.judge(target)
  }

  /// Returns false if ADV_EXT_IND already shows that the event is not for the scanner.
  mutating func mayBeForScanner(_ event: ExtendedEvent) -> Bool {
    // AUX_ADV_IND may carry the advertiser's address, whose entry resolves the target.
    if event.advertiser == nil, resolvingList.isEnabled, event.target?.randomKind == .resolvablePrivate { return true }
    return judge(event.target, of: event.advertiser) != .foreign
  }

  /// Returns the address that the scanner uses in its request to `advertiser`.
  mutating func scannerAddress(to advertiser: DeviceAddress, at now: Instant) -> DeviceAddress? {
    guard let scanner else { return nil }
    return ownAddress(
      to: resolvingList.identify(advertiser).identity, scanner.parameters.ownAddressType, identity: scanner.own, at: now
    )
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
