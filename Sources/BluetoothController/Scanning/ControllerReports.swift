import BluetoothWire

/// What scanning tells the host · Vol 4, Part E, 7.7.65.2, 7.7.65.11, 7.7.65.13.
extension Controller {
  /// While so many packets wait for the host, it is told of no more advertising: whoever advertises can't fill the memory.
  private static let waitingPackets = 256
  /// TX_Power and RSSI where there are none.
  private static let unknownLevel: Int8 = 127
  /// Advertising_SID where there is no ADI.
  private static let noSID: UInt8 = 0xFF
  /// Direct_Address_Type of a resolvable private address that was not resolved.
  private static let unresolvedType: UInt8 = 0xFE
  private static let nobody = HCI.PeerAddress(type: 0, value: 0)
  /// Address_Type of an anonymous advertiser.
  private static let anonymous = HCI.PeerAddress(type: 0xFF, value: 0)

  var hasRoomForReports: Bool { mutating get { output.packets.count < Self.waitingPackets } }

  /// Whether the scanner's filter policy lets the advertiser through; nil: it is anonymous.
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
    // What others ask for and are told · 4.4.3: only answers to own requests count.
    case .scanReq, .scanRsp, .connectInd, .extended, .auxConnectRsp: break
    }
  }

  /// `answered`: what a SCAN_RSP belongs to is connectable.
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
    // Another address than the scanner's own was resolved.
    if judgement == .acceptable, let own = scanner?.own, target != own { return HCI.PeerAddress(identity: own) }
    return HCI.PeerAddress(target)
  }

  // MARK: Extended advertising

  /// Whether the scanner wants to report what comes of this event.
  mutating func scannerWants(_ event: ExtendedEvent) -> Bool {
    guard let scanner, scanner.isExtended, scanner.isScanning(event.primaryPHY),
      judge(event.target, of: event.advertiser) != .foreign
    else { return false }
    return scannerAccepts(event.advertiser) && !scanner.isDuplicate(key(of: event))
  }

  /// What a report of the event is known by: whoever changes private addresses stays who it is.
  mutating func key(of event: ExtendedEvent) -> DuplicateFilter.Key {
    event.key(event.advertiser.map { resolvingList.identify($0).identity }, isScanResponse: event.isScanResponse)
  }

  /// The same for the answer to AUX_SCAN_REQ.
  mutating func responseKey(of event: ExtendedEvent) -> DuplicateFilter.Key {
    event.key(event.advertiser.map { resolvingList.identify($0).identity }, isScanResponse: true)
  }

  /// Tells the host of the data of one packet; `isLast`: no more are announced, `isFollowed`: they will be listened for.
  /// False: the host has been told all that it ever will be.
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

  /// What was announced has not come.
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
  /// LE Coded with S=2, for hosts that tell it from LE Coded with S=8 · Vol 4, Part E, 7.7.65.13.
  private static let reportedS2: UInt8 = 4

  /// Primary_PHY or Secondary_PHY.
  fileprivate func phyOfReport(tellsCodings: Bool) -> UInt8 {
    self == .codedS2 && tellsCodings ? Self.reportedS2 : phy.rawValue
  }
}

extension HCI.AdvertisingReport.EventType {
  /// The same in extended reports; `isConnectable`: what a scan response belongs to.
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
