import BluetoothWire

/// The initiating state · Vol 6, Part B, 4.4.4.
struct Initiator {
  let request: HCI.ExtendedCreateConnection
  /// True if LE Extended Create Connection started the initiator: it answers extended advertising, too.
  let isExtended: Bool
  var own: DeviceAddress
  let windows: ByPrimaryPHY<ScanWindows>
  /// The number of the peer's packets that the initiator could not answer because the radio was in use.
  var missedReplies = 0
  /// True if the host has cancelled the connection while AUX_CONNECT_REQ was in progress.
  var isCancelled = false

  /// Creates an initiator that starts on a random channel. Two initiators that start at the same instant and always
  /// receive the same advertisements would destroy each other's CONNECT_IND every time, which does not happen for
  /// long with real clocks and receivers.
  init(
    _ request: HCI.ExtendedCreateConnection, isExtended: Bool, own: DeviceAddress, at now: Instant,
    random: inout RandomStream
  ) {
    self.request = request
    self.isExtended = isExtended
    self.own = own
    let firstChannel = UInt8(random.next() % 3)
    func windows(_ initiating: HCI.ExtendedCreateConnection.Initiating) -> ScanWindows {
      ScanWindows(
        interval: initiating.scanInterval, window: initiating.scanWindow, start: now, firstChannel: firstChannel)
    }
    self.windows = ByPrimaryPHY(le1M: request.le1M.map(windows), leCoded: request.leCoded.map(windows))
  }

  /// Returns the parameters of a connection on this PHY: those that the host gave for the PHY, else those for another
  /// PHY · Vol 4, Part E, 7.8.66.
  func parameters(for phy: RadioPHY) -> LinkParameters? {
    let own: HCI.ExtendedCreateConnection.Initiating?
    switch phy {
    case .le1M: own = request.le1M
    case .le2M: own = request.le2M
    case .leCoded: own = request.leCoded
    }
    return (own ?? request.le1M ?? request.leCoded)?.parameters
  }

  /// Returns the device that sent `pdu` and whether it supports Channel Selection Algorithm #2, if this initiator may
  /// connect to it now.
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

  /// True if this initiator may connect to the advertiser of this event, according to the packets received until now.
  func wants(_ event: ExtendedEvent, acceptList: AcceptList, resolvingList: ResolvingList) -> Bool {
    guard isExtended, event.mode == .connectable, windows[event.primaryPHY] != nil,
      event.target.map({ isMeant($0, by: event.advertiser, resolvingList) }) ?? true
    else { return false }
    return event.advertiser.map { accepts($0, acceptList, resolvingList) } ?? true
  }

  /// True if directed advertising of `advertiser`, nil if that is not known yet, to `target` is for this initiator.
  /// An initiator that uses a private address towards a peer answers only to a private address, not to its identity
  /// address · 6.4.
  private func isMeant(
    _ target: DeviceAddress, by advertiser: DeviceAddress?, _ resolvingList: ResolvingList
  ) -> Bool {
    // AUX_ADV_IND carries the advertiser's address, whose entry resolves the target.
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
  /// Creates the same request in the form of LE Extended Create Connection.
  init(_ request: HCI.CreateConnection) {
    self.init(
      usesAcceptList: request.usesAcceptList, ownAddressType: request.ownAddressType, peer: request.peer,
      le1M: Initiating(
        scanInterval: request.scanInterval, scanWindow: request.scanWindow, parameters: request.parameters))
  }
}
