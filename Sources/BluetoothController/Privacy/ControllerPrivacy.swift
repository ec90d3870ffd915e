import BluetoothWire

/// Private addresses in what the controller does · Vol 6, Part B, 6.
extension Controller {
  /// What this device calls itself to `peer`, an identity address: a private address if it has one there and the host wants
  /// it, else `identity`.
  mutating func ownAddress(
    to peer: DeviceAddress?, _ type: HCI.OwnAddressType, identity: DeviceAddress, at now: Instant
  ) -> DeviceAddress {
    guard type.isPrivate, !resolvingList.isEmpty else { return identity }
    return resolvingList.localAddress(for: peer, at: now, random: &random) ?? identity
  }

  // MARK: Advertising · 6.2

  /// Who a set is on the air, and who its target is.
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

  /// Before an advertising event: the set's private addresses may have to change.
  mutating func renewAddresses(_ index: Int, at now: Instant) {
    guard !resolvingList.isEmpty, let set = sets[index], set.properties.ownAddressType.isPrivate,
      let present = set.advertiser?.identity
    else { return }
    let own = set.handle == nil ? ownAddress(set.properties.ownAddressType) : ownAddress(of: set)
    let identity = advertiserIdentity(set.properties, own: own ?? present.own, at: now)
    guard identity.own != present.own || identity.target != present.target else { return }
    sets[index]?.advertiser?.setIdentity(identity, content: set.content, in: pool)
  }

  /// The set's data have changed, and with them its private address, if the host wants that · Vol 4, Part E, 7.8.122.
  mutating func dataChanged(_ reason: HCI.AddressChangeReasons, of index: Int) {
    guard let set = sets[index], set.addressChanges.contains(reason) else { return }
    resolvingList.changeLocalAddress(for: set.properties.peer.deviceAddress)
  }

  // MARK: Scanning and initiating · 6.3, 6.4

  /// Takes in the addresses of an advertising event.
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

  /// Resolves the target of an event whose packets have told the addresses one by one.
  mutating func learnTarget(of event: ExtendedEvent) {
    guard let advertiser = event.advertiser, let target = event.target else { return }
    resolvingList.learn(target: target, of: advertiser)
  }

  /// Returns what advertising of `advertiser` (nil: anonymous) to `target` (nil: undirected) is to the scanner.
  mutating func judge(_ target: DeviceAddress?, of advertiser: DeviceAddress?) -> Scanner.Target {
    guard let scanner else { return .foreign }
    if let target, let advertiser, resolvingList.isOwn(target, calledBy: advertiser) { return .acceptable }
    return scanner.judge(target)
  }

  /// Returns false if the event is surely not for the scanner, as far as ADV_EXT_IND tells.
  mutating func mayBeForScanner(_ event: ExtendedEvent) -> Bool {
    // AUX_ADV_IND may tell the advertiser, whose entry resolves the target.
    if event.advertiser == nil, resolvingList.isEnabled, event.target?.randomKind == .resolvablePrivate { return true }
    return judge(event.target, of: event.advertiser) != .foreign
  }

  /// What the scanner calls itself when it asks `advertiser`.
  mutating func scannerAddress(to advertiser: DeviceAddress, at now: Instant) -> DeviceAddress? {
    guard let scanner else { return nil }
    return ownAddress(
      to: resolvingList.identify(advertiser).identity, scanner.parameters.ownAddressType, identity: scanner.own, at: now
    )
  }
}

extension HCI.OwnAddressType {
  /// Whether the controller is to make private addresses.
  var isPrivate: Bool {
    switch self {
    case .public, .random: false
    case .resolvableOrPublic, .resolvableOrRandom: true
    }
  }
}
