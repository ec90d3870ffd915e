import BluetoothWire

/// The reports of scanning to the host · Vol 4, Part E, 7.7.65.2, 7.7.65.11, 7.7.65.13.
extension Controller {
  /// The number of packets waiting for the host at which advertising is not reported any more, so that advertisers
  /// can't fill the memory.
  private static let waitingPackets = 256
  /// The value of TX_Power and RSSI if they are unknown.
  private static let unknownLevel: Int8 = 127
  /// The value of Advertising_SID without ADI.
  private static let noSID: UInt8 = 0xFF
  /// The Direct_Address_Type of a resolvable private address that was not resolved.
  private static let unresolvedType: UInt8 = 0xFE
  private static let nobody = HCI.PeerAddress(type: 0, value: 0)
  /// The Address_Type of an anonymous advertiser.
  private static let anonymous = HCI.PeerAddress(type: 0xFF, value: 0)

  var hasRoomForReports: Bool { mutating get { output.packets.count < Self.waitingPackets } }

  /// True if the scanner's filter policy accepts the advertiser; nil stands for an anonymous advertiser.
  mutating func scannerAccepts(_ advertiser: DeviceAddress?) -> Bool {
    guard let scanner else { return false }
    guard let advertiser else { return !scanner.usesAcceptList || host.acceptList.hasAnonymous }
    let peer = resolvingList.identify(advertiser)
    return !peer.isIgnored && (!scanner.usesAcceptList || host.acceptList.contains(peer.identity))
  }

  // MARK: Legacy PDUs

  mutating func report(_ pdu: LL.AdvertisingPDU, level: Decibel) {
    guard scanner?.isScanning(.le1M) == true else { return }
    switch pdu {
    case .advInd(let address, let data, _): report(.connectableScannable, of: address, data, level)
    case .advNonconnInd(let address, let data): report(.nonConnectable, of: address, data, level)
    case .advScanInd(let address, let data): report(.scannable, of: address, data, level)
    case .advDirectInd(let address, let target, _):
      report(.connectableDirected, of: address, to: target, ByteSlice(), level)
    // Requests and responses between other devices are ignored · 4.4.3: only responses to this device's requests
    // count.
    case .scanReq, .scanRsp, .connectInd, .extended, .auxConnectRsp: break
    }
  }

  /// Reports a legacy PDU to the host. `isConnectable`: true if a SCAN_RSP belongs to a connectable advertiser.
  mutating func report(
    _ type: HCI.AdvertisingReport.EventType, of address: DeviceAddress, to target: DeviceAddress? = nil,
    isConnectable: Bool = false, _ data: ByteSlice, _ level: Decibel
  ) {
    let judgement = judge(target, of: address)
    let identity = resolvingList.identify(address)
    guard judgement != .foreign, scannerAccepts(address), hasRoomForReports,
      scanner?.remember(DuplicateFilter.Key(type, identity.identity)) == true
    else { return }
    let peer = identity.hciAddress
    if scanner?.isExtended == true {
      let report = HCI.ExtendedAdvertisingReport(
        type: type.extended(isConnectable: isConnectable), address: peer, primaryPHY: PHY.le1M.rawValue,
        secondaryPHY: 0, advertisingSID: Self.noSID, transmitPower: Self.unknownLevel, rssi: level.hciLevel,
        periodicAdvertisingInterval: 0, directAddress: directAddress(target, judgement), data: data)
      output.send(.leExtendedAdvertisingReport(HCI.ExtendedAdvertisingReports(report, in: pool)))
    } else if judgement == .unresolved, let target {
      let report = HCI.DirectedAdvertisingReport(
        address: peer, directAddress: HCI.PeerAddress(target), rssi: level.hciLevel)
      output.send(.leDirectedAdvertisingReport(report))
    } else {
      let report = HCI.AdvertisingReport(type: type, address: peer, data: data, rssi: level.hciLevel)
      output.send(.leAdvertisingReport(HCI.AdvertisingReports(report, in: pool)))
    }
  }

  private mutating func directAddress(_ target: DeviceAddress?, _ judgement: Scanner.Target) -> HCI.PeerAddress {
    guard let target else { return Self.nobody }
    if judgement == .unresolved { return HCI.PeerAddress(type: Self.unresolvedType, value: target.value) }
    // The resolved target is a private address of this device.
    if judgement == .acceptable, let own = scanner?.own, target != own { return HCI.PeerAddress(identity: own) }
    return HCI.PeerAddress(target)
  }

  // MARK: Extended advertising

  /// True if the scanner reports the data of this event.
  mutating func scannerWants(_ event: ExtendedEvent) -> Bool {
    guard let scanner, scanner.isExtended, scanner.isScanning(event.primaryPHY),
      judge(event.target, of: event.advertiser) != .foreign
    else { return false }
    return scannerAccepts(event.advertiser) && !scanner.isDuplicate(key(of: event))
  }

  /// Returns the key of a report of the event; it contains the identity, so a new private address does not change it.
  mutating func key(of event: ExtendedEvent) -> DuplicateFilter.Key {
    event.key(event.advertiser.map { resolvingList.identify($0).identity }, isScanResponse: event.isScanResponse)
  }

  /// Returns the key of a report of the response to AUX_SCAN_REQ.
  mutating func responseKey(of event: ExtendedEvent) -> DuplicateFilter.Key {
    event.key(event.advertiser.map { resolvingList.identify($0).identity }, isScanResponse: true)
  }

  /// Reports the data of one packet to the host. `isLast`: the packet announces no further packet; `isFollowed`: the
  /// device listens for the announced packet. Returns false if no report of this event follows.
  mutating func report(
    _ event: inout ExtendedEvent, _ data: ByteSlice, _ level: Decibel, isLast: Bool, isFollowed: Bool
  ) -> Bool {
    let room = event.room
    let isTooLong = data.count > room
    var status: HCI.ExtendedAdvertisingReport.EventType = .truncated
    if isLast, !isTooLong {
      status = []
    } else if isFollowed, !isTooLong, event.mayGoOn {
      status = .moreToCome
    }
    send(event, data.prefix(room), level.hciLevel, status)
    event.reported(min(data.count, room), isComplete: status != .moreToCome)
    if status == [] {
      let key = key(of: event)
      _ = scanner?.remember(key)
    }
    return status == .moreToCome
  }

  /// Reports that announced data have not arrived.
  mutating func reportTruncation(of event: inout ExtendedEvent) {
    guard event.isReporting, scanner != nil else { return }
    send(event, ByteSlice(), Self.unknownLevel, .truncated)
    event.reported(0, isComplete: true)
  }

  /// Sends as many reports as the data need.
  private mutating func send(
    _ event: ExtendedEvent, _ data: ByteSlice, _ rssi: Int8, _ status: HCI.ExtendedAdvertisingReport.EventType
  ) {
    guard hasRoomForReports else { return }
    let tellsCodings = host.features.contains(.advertisingCodingSelectionHostSupport)
    var report = HCI.ExtendedAdvertisingReport(
      type: event.type, address: event.advertiser.map { resolvingList.identify($0).hciAddress } ?? Self.anonymous,
      primaryPHY: event.primary.phyOfReport(tellsCodings: tellsCodings),
      secondaryPHY: event.secondary?.phyOfReport(tellsCodings: tellsCodings) ?? 0,
      advertisingSID: event.dataInfo?.sid ?? Self.noSID, transmitPower: event.transmitPower ?? Self.unknownLevel,
      rssi: rssi, periodicAdvertisingInterval: event.periodicInterval,
      directAddress: directAddress(event.target, judge(event.target, of: event.advertiser)), data: ByteSlice())
    var rest = data
    repeat {
      report.data = rest.prefix(HCI.ExtendedAdvertisingReport.maximumDataLength)
      rest = rest.dropFirst(report.data.count)
      report.type = event.type.union(rest.isEmpty ? status : .moreToCome)
      output.send(.leExtendedAdvertisingReport(HCI.ExtendedAdvertisingReports(report, in: pool)))
    } while !rest.isEmpty
  }
}

extension Modulation {
  /// The value for LE Coded with S=2, for hosts that distinguish it from S=8 · Vol 4, Part E, 7.7.65.13.
  private static let reportedS2: UInt8 = 4

  /// Returns the value of Primary_PHY or Secondary_PHY.
  fileprivate func phyOfReport(tellsCodings: Bool) -> UInt8 {
    self == .codedS2 && tellsCodings ? Self.reportedS2 : phy.rawValue
  }
}

extension HCI.AdvertisingReport.EventType {
  /// Returns the type in extended reports; `isConnectable`: true if a scan response belongs to a connectable
  /// advertiser.
  fileprivate func extended(isConnectable: Bool) -> HCI.ExtendedAdvertisingReport.EventType {
    switch self {
    case .connectableScannable: [.legacy, .connectable, .scannable]
    case .connectableDirected: [.legacy, .connectable, .directed]
    case .scannable: [.legacy, .scannable]
    case .nonConnectable: .legacy
    case .scanResponse:
      isConnectable ? [.legacy, .connectable, .scannable, .scanResponse] : [.legacy, .scannable, .scanResponse]
    }
  }
}
