import BluetoothWire

/// The initiating state · Vol 6, Part B, 4.4.4.
struct Initiator {
  let request: HCI.ExtendedCreateConnection
  /// Begun by LE Extended Create Connection: extended advertising is answered, too.
  let isExtended: Bool
  var own: DeviceAddress
  let windows: PerPrimaryPHY<ScanWindows>
  /// How often the peer was heard when the radio had something else to do.
  var lostChances = 0
  /// The host does not want the connection any more, but AUX_CONNECT_REQ is on its way.
  var isCancelled = false

  /// Begins on a channel by chance: two that begin at one instant and heard the same advertisement each time would each
  /// time destroy each other's CONNECT_IND, which real clocks and ears never do for long.
  init(
    _ request: HCI.ExtendedCreateConnection, isExtended: Bool, own: DeviceAddress, at now: Instant,
    random: inout SplitGenerator
  ) {
    self.request = request
    self.isExtended = isExtended
    self.own = own
    let firstChannel = UInt8(random.next() % 3)
    func windows(_ initiating: HCI.ExtendedCreateConnection.Initiating) -> ScanWindows {
      ScanWindows(
        interval: initiating.scanInterval, window: initiating.scanWindow, start: now, firstChannel: firstChannel)
    }
    self.windows = PerPrimaryPHY(le1M: request.le1M.map(windows), leCoded: request.leCoded.map(windows))
  }

  /// What a connection on this PHY is made with: what the host gave for it, else what it gave for another one · Vol 4,
  /// Part E, 7.8.66.
  func parameters(for phy: PHY) -> ConnectionParameters? {
    let own: HCI.ExtendedCreateConnection.Initiating?
    switch phy {
    case .le1M: own = request.le1M
    case .le2M: own = request.le2M
    case .leCoded: own = request.leCoded
    }
    return (own ?? request.le1M ?? request.leCoded)?.parameters
  }

  /// The device that sent `pdu` and how it chooses channels, if this initiator may connect to it now.
  func peer(
    of pdu: LL.AdvertisingPDU, acceptList: AcceptList, resolvingList: ResolvingList
  ) -> (address: DeviceAddress, usesAlgorithm2: Bool)? {
    guard request.le1M != nil else { return nil }
    switch pdu {
    case .advInd(let advertiser, _, let usesAlgorithm2):
      return accepts(advertiser, acceptList, resolvingList) ? (advertiser, usesAlgorithm2) : nil
    case .advDirectInd(let advertiser, let target, let usesAlgorithm2):
      return isMeant(target, by: advertiser, resolvingList) && accepts(advertiser, acceptList, resolvingList)
        ? (advertiser, usesAlgorithm2) : nil
    default: return nil
    }
  }

  /// Whether this initiator may connect to the advertiser of this event, as far as it is known yet.
  func wants(_ event: ExtendedEvent, acceptList: AcceptList, resolvingList: ResolvingList) -> Bool {
    guard isExtended, event.mode == .connectable, windows[event.primaryPHY] != nil,
      event.target.map({ isMeant($0, by: event.advertiser, resolvingList) }) ?? true
    else { return false }
    return event.advertiser.map { accepts($0, acceptList, resolvingList) } ?? true
  }

  /// Whether directed advertising of `advertiser`, nil where that is not known yet, to `target` is for this initiator. One
  /// that has a private address to a peer is to be called by a private one; its identity is not worth an answer · 6.4.
  private func isMeant(
    _ target: DeviceAddress, by advertiser: DeviceAddress?, _ resolvingList: ResolvingList
  ) -> Bool {
    // AUX_ADV_IND tells the advertiser, whose entry resolves the target.
    guard let advertiser else { return target == own || target.randomKind == .resolvablePrivate }
    if resolvingList.isOwn(target, calledBy: advertiser) { return true }
    guard target == own, request.ownAddressType.isPrivate else { return target == own }
    return !resolvingList.hidesIdentity(from: resolvingList.identify(advertiser).identity)
  }

  private func accepts(
    _ address: DeviceAddress, _ acceptList: AcceptList, _ resolvingList: ResolvingList
  ) -> Bool {
    let peer = resolvingList.identify(address)
    guard !peer.isIgnored else { return false }
    return request.usesAcceptList ? acceptList.contains(peer.identity) : request.peer.deviceAddress == peer.identity
  }
}

extension HCI.ExtendedCreateConnection {
  /// The same request in the form that knows of all PHYs.
  init(_ request: HCI.CreateConnection) {
    self.init(
      usesAcceptList: request.usesAcceptList, ownAddressType: request.ownAddressType, peer: request.peer,
      le1M: Initiating(
        scanInterval: request.scanInterval, scanWindow: request.scanWindow, parameters: request.parameters))
  }
}
