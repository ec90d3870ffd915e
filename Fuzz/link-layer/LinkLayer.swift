import BluetoothWire
import FuzzSupport

/// Fuzzes data and LL Control PDUs on an established connection, as central and as peripheral.
///
/// Octet 0 selects the controller's role and whether the link is encrypted first; then each PDU is an octet of flags,
/// one with the LLID, one with the length, and a payload.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLinkLayer(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  var input = FuzzInput(start, count: count)
  let mode = input.octet()
  let station = FuzzStation()
  guard connect(station, asCentral: mode & 1 != 0), let handle = station.lastHandle else { return 0 }
  if mode & 2 != 0 {
    station.send(.leEnableEncryption(handle, random: 0, encryptedDiversifier: 0, longTermKey: 7))
  }
  while !input.isEmpty, station.disconnections == 0 {
    let flags = input.octet()
    let llid = input.octet() & 0b11
    let payload = input.slice(Int(input.octet()))
    if flags & 0x10 != 0 {
      let data = HCI.ACLData(handle: handle, boundary: .firstNonFlushable, payload: [1, 2, 3])
      station.receive(.acl(data))
    }
    if flags & 0x20 != 0 { command(flags >> 6, handle, station) }
    guard station.runUntilListening(limit: .seconds(4)), station.listeningAccessAddress != LL.advertisingAccessAddress
    else { break }
    station.hear(header: header(flags, llid, payload, station), payload: payload, isIntact: flags & 4 == 0)
  }
  // Every procedure ends, or the link does.
  station.run(for: .seconds(45))
  precondition(station.disconnections == 1, "the peer is silent, and the connection goes on")
  return 0
}

private func command(_ number: UInt8, _ handle: HCI.ConnectionHandle, _ station: FuzzStation) {
  switch number {
  case 0: station.send(.leReadRemoteFeatures(handle))
  case 1: station.send(.leSetPHY(handle, HCI.PHYPreference(transmit: .le2M, receive: .leCoded), options: 0))
  case 2: station.send(.readRemoteVersionInformation(handle))
  default:
    let parameters = LinkParameters(
      minimumInterval: 12, maximumInterval: 16, latency: 1, supervisionTimeout: 100)
    station.send(.leConnectionUpdate(handle, parameters, HCI.ConnectionEventLength()))
  }
}

/// Returns a header with the correct sequence numbers unless the flags change them, so that most PDUs pass the
/// acknowledgement scheme.
private func header(_ flags: UInt8, _ llid: UInt8, _ payload: ByteSlice, _ station: FuzzStation) -> UInt16 {
  var sequence = false
  var acknowledgement = false
  if let last = station.lastSent, last.accessAddress != LL.advertisingAccessAddress {
    let header = LL.DataHeader(rawValue: last.header)
    sequence = header.nextExpectedSequenceNumber
    acknowledgement = !header.sequenceNumber
  }
  if flags & 1 != 0 { sequence.toggle() }
  if flags & 2 != 0 { acknowledgement.toggle() }
  return UInt16(llid) | (acknowledgement ? 1 << 2 : 0) | (sequence ? 1 << 3 : 0) | (flags & 8 != 0 ? 1 << 4 : 0)
    | UInt16(truncatingIfNeeded: payload.count) << 8
}

private func connect(_ station: FuzzStation, asCentral: Bool) -> Bool {
  let peer = DeviceAddress(0x2222_2222_2222, .public)
  if asCentral {
    station.send(
      .leCreateConnection(
        HCI.CreateConnection(
          scanInterval: 48, scanWindow: 48, usesAcceptList: false, peer: HCI.PeerAddress(peer), ownAddressType: .public,
          parameters: LinkParameters(
            minimumInterval: 24, maximumInterval: 24, latency: 0, supervisionTimeout: 100))))
    guard station.runUntilListening() else { return false }
    say(.advInd(advertiser: peer, data: [], usesAlgorithm2: true), to: station)
  } else {
    station.send(
      .leSetAdvertisingParameters(
        HCI.AdvertisingParameters(
          minimumInterval: 32, maximumInterval: 32, type: .connectableScannableUndirected, ownAddressType: .public)))
    station.send(.leSetAdvertisingEnable(true))
    guard station.runUntilListening() else { return false }
    station.run(for: LL.interFrameSpace)
    let data = LL.ConnectionData(
      accessAddress: 0x5F3B_91C7, crcInit: 0x12_3456, windowSize: 2, windowOffset: 0, interval: 24, latency: 0,
      timeout: 100, channelMap: .all, hop: 7, sleepClockAccuracy: .upTo50)
    say(
      .connectInd(initiator: peer, advertiser: FuzzStation.address, data: data, usesAlgorithm2: true), to: station)
  }
  station.run(for: .milliseconds(2))
  return station.lastHandle != nil
}

private func say(_ pdu: LL.AdvertisingPDU, to station: FuzzStation) {
  let packet = pdu.packet(in: station.pool)
  station.hear(header: packet.header, payload: packet.payload)
}
