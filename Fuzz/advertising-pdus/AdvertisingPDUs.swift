import BluetoothWire
import FuzzSupport

/// Fuzzes advertising physical channel PDUs for a scanner, an initiator and an advertiser.
///
/// Octet 0 selects the controller's activity; then each packet is an octet of flags, two octets of header and a
/// payload.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAdvertisingPDUs(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var input = FuzzInput(start, count: count)
  let station = FuzzStation()
  begin(input.octet(), station)
  while !input.isEmpty {
    let flags = input.octet()
    let header = input.number()
    let payload = input.slice(Int(header >> 8))
    guard station.runUntilListening() else { break }
    station.hear(header: header, payload: payload, isIntact: flags & 1 == 0)
    // Without this flag the next packet follows at once, like an answer or an auxiliary packet.
    if flags & 2 != 0 { station.run(for: .milliseconds(Int64(flags >> 2))) }
  }
  station.run(for: .seconds(1))
  return 0
}

private func begin(_ mode: UInt8, _ station: FuzzStation) {
  let peer = HCI.PeerAddress(DeviceAddress(0x2222_2222_2222, .public))
  let parameters = LinkParameters(minimumInterval: 24, maximumInterval: 24, latency: 0, supervisionTimeout: 100)
  let scan = HCI.ExtendedScanParameters.Scan(isActive: mode & 0x10 != 0, interval: 48, window: 48)
  let initiating = HCI.ExtendedCreateConnection.Initiating(scanInterval: 48, scanWindow: 48, parameters: parameters)
  let set = HCI.AdvertisingHandle(rawValue: 0)
  let isSecond = mode & 0x20 != 0
  switch mode & 7 {
  case 0:
    station.send(
      .leSetScanParameters(
        HCI.ScanParameters(isActive: mode & 0x10 != 0, interval: 48, window: 48, ownAddressType: .public)))
    station.send(.leSetScanEnable(true, filterDuplicates: isSecond))
  case 1:
    station.send(
      .leSetExtendedScanParameters(
        HCI.ExtendedScanParameters(ownAddressType: .public, le1M: scan, leCoded: isSecond ? scan : nil)))
    station.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(true, duplicates: .off)))
  case 2:
    station.send(
      .leCreateConnection(
        HCI.CreateConnection(
          scanInterval: 48, scanWindow: 48, usesAcceptList: false, peer: peer, ownAddressType: .public,
          parameters: parameters)))
  case 3:
    station.send(
      .leExtendedCreateConnection(
        HCI.ExtendedCreateConnection(
          usesAcceptList: false, ownAddressType: .public, peer: peer, le1M: initiating, leCoded: initiating)))
  case 4:
    station.send(
      .leSetAdvertisingParameters(
        HCI.AdvertisingParameters(
          minimumInterval: 32, maximumInterval: 32,
          type: isSecond ? .scannableUndirected : .connectableScannableUndirected,
          ownAddressType: .public)))
    station.send(.leSetAdvertisingEnable(true))
  case 5:
    station.send(
      .leSetExtendedAdvertisingParameters(
        HCI.ExtendedAdvertisingParameters(
          handle: set, properties: isSecond ? .scannable : .connectable, minimumInterval: 32, maximumInterval: 32,
          ownAddressType: .public)))
    station.send(
      isSecond
        ? .leSetExtendedScanResponseData(set, HCI.AdvertisingDataFragment(.complete, [2, 1, 6]))
        : .leSetExtendedAdvertisingData(set, HCI.AdvertisingDataFragment(.complete, [2, 1, 6])))
    station.send(.leSetExtendedAdvertisingEnable(true, HCI.AdvertisingSetEnables([.init(set)], in: station.pool)))
  default:
    station.send(
      .lePeriodicAdvertisingCreateSync(
        HCI.PeriodicAdvertisingCreateSync(
          advertiser: HCI.PeriodicAdvertiser(peer, advertisingSID: 1), keeping: HCI.SyncKeeping(timeout: 100))))
    station.send(
      .leSetExtendedScanParameters(HCI.ExtendedScanParameters(ownAddressType: .public, le1M: scan)))
    station.send(.leSetExtendedScanEnable(HCI.ExtendedScanEnable(true)))
  }
}
