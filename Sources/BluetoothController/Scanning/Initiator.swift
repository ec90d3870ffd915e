import BluetoothWire

/// The initiating state · Vol 6, Part B, 4.4.4.
struct Initiator {
  let request: HCI.CreateConnection
  let own: DeviceAddress
  let windows: ScanWindows
  /// How often the peer was heard when the radio had something else to do.
  var lostChances = 0

  /// Begins on a channel by chance: two that begin at one instant and heard the same advertisement each time would each
  /// time destroy each other's CONNECT_IND, which real clocks and ears never do for long.
  init(_ request: HCI.CreateConnection, own: DeviceAddress, at now: Instant, random: inout SplitGenerator) {
    self.request = request
    self.own = own
    windows = ScanWindows(
      interval: request.scanInterval, window: request.scanWindow, start: now, firstChannel: UInt8(random.next() % 3))
  }

  /// The device that sent `pdu` and how it chooses channels, if this initiator may connect to it now.
  func peer(of pdu: LL.AdvertisingPDU, acceptList: AcceptList) -> (address: DeviceAddress, usesAlgorithm2: Bool)? {
    switch pdu {
    case .advInd(let advertiser, _, let usesAlgorithm2):
      return accepts(advertiser, acceptList) ? (advertiser, usesAlgorithm2) : nil
    case .advDirectInd(let advertiser, let target, let usesAlgorithm2):
      return target == own && accepts(advertiser, acceptList) ? (advertiser, usesAlgorithm2) : nil
    default: return nil
    }
  }

  private func accepts(_ address: DeviceAddress, _ acceptList: AcceptList) -> Bool {
    request.usesAcceptList ? acceptList.contains(address) : request.peer.deviceAddress == address
  }
}
