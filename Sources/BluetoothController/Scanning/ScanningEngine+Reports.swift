import BluetoothWire

/// The reports of scanning to the host · Vol 4, Part E, 7.7.65.2, 7.7.65.11, 7.7.65.13.
extension ScanningEngine {
  /// The value of TX_Power and RSSI if they are unknown.
  private static let unknownLevel: Int8 = 127
  /// The value of Advertising_SID without ADI.
  private static let noSID: UInt8 = 0xFF
  /// The Direct_Address_Type of a resolvable private address that was not resolved.
  private static let unresolvedType: UInt8 = 0xFE
  private static let nobody = HCI.PeerAddress(type: 0, value: 0)
  /// The Address_Type of an anonymous advertiser.
  private static let anonymous = HCI.PeerAddress(type: 0xFF, value: 0)

  /// True if the scanner's filter policy accepts the advertiser; nil stands for an anonymous advertiser.
  mutating func accepts(_ advertiser: DeviceAddress?, device: inout LocalDevice) -> Bool {
    guard let scanner else { return false }
    guard let advertiser else { return !scanner.usesAcceptList || device.acceptList.hasAnonymous }
    let peer = device.resolvingList.identify(advertiser)
    return !peer.isIgnored && (!scanner.usesAcceptList || device.acceptList.contains(peer.identity))
  }

  // MARK: Targets and addresses

  /// Returns how the scanner treats advertising of `advertiser` (nil: anonymous) to `target` (nil: undirected).
  mutating func judge(
    _ target: DeviceAddress?, of advertiser: DeviceAddress?, device: inout LocalDevice
  ) -> Scanner.Target {
    guard let scanner else { return .foreign }
    if let target, let advertiser, device.resolvingList.isOwn(target, calledBy: advertiser) { return .acceptable }
    return scanner.judge(target)
  }

  /// Returns false if ADV_EXT_IND already shows that the event is not for the scanner.
  mutating func mayBeForScanner(_ event: ExtendedEvent, device: inout LocalDevice) -> Bool {
    // AUX_ADV_IND may carry the advertiser's address, whose entry resolves the target.
    if event.advertiser == nil, device.resolvingList.isEnabled, event.target?.randomKind == .resolvablePrivate {
      return true
    }
    return judge(event.target, of: event.advertiser, device: &device) != .foreign
  }

  /// Returns the address that the scanner uses in its request to `advertiser`.
  mutating func ownAddress(
    to advertiser: DeviceAddress, device: inout LocalDevice, at now: Instant
  ) -> DeviceAddress? {
    guard let scanner else { return nil }
    return device.ownAddress(
      to: device.resolvingList.identify(advertiser).identity, scanner.parameters.ownAddressType, identity: scanner.own,
      at: now)
  }

  // MARK: Legacy PDUs

  /// Reports a legacy PDU to the host if the scanner accepts it.
  mutating func report(_ pdu: LL.AdvertisingPDU, level: Decibel, device: inout LocalDevice) {
    guard scanner?.isScanning(.le1M) == true else { return }
    switch pdu {
    case .advInd(let address, let data, _): report(.connectableScannable, of: address, data, level, device: &device)
    case .advNonconnInd(let address, let data): report(.nonConnectable, of: address, data, level, device: &device)
    case .advScanInd(let address, let data): report(.scannable, of: address, data, level, device: &device)
    case .advDirectInd(let address, let target, _):
      report(.connectableDirected, of: address, to: target, ByteSlice(), level, device: &device)
    // Requests and responses between other devices are ignored · 4.4.3: only responses to this device's requests
    // count.
    case .scanReq, .scanRsp, .connectInd, .extended, .auxConnectRsp: break
    }
  }

  /// Reports a legacy PDU to the host. `isConnectable`: true if a SCAN_RSP belongs to a connectable advertiser.
  mutating func report(
    _ type: HCI.AdvertisingReport.EventType, of address: DeviceAddress, to target: DeviceAddress? = nil,
    isConnectable: Bool = false, _ data: ByteSlice, _ level: Decibel, device: inout LocalDevice
  ) {
    let judgement = judge(target, of: address, device: &device)
    let identity = device.resolvingList.identify(address)
    guard judgement != .foreign, accepts(address, device: &device), device.hasRoomForReports,
      scanner?.remember(DuplicateFilter.Key(type, identity.identity)) == true
    else { return }
    let peer = identity.hciAddress
    if scanner?.isExtended == true {
      let report = HCI.ExtendedAdvertisingReport(
        type: type.extended(isConnectable: isConnectable), address: peer, primaryPHY: RadioPHY.le1M.rawValue,
        secondaryPHY: 0, advertisingSID: Self.noSID, transmitPower: Self.unknownLevel, rssi: level.hciLevel,
        periodicAdvertisingInterval: 0, directAddress: directAddress(target, judgement), data: data)
      device.output.send(.leExtendedAdvertisingReport(HCI.ExtendedAdvertisingReports(report, in: device.pool)))
    } else if judgement == .unresolved, let target {
      let report = HCI.DirectedAdvertisingReport(
        address: peer, directAddress: HCI.PeerAddress(target), rssi: level.hciLevel)
      device.output.send(.leDirectedAdvertisingReport(report))
    } else {
      let report = HCI.AdvertisingReport(type: type, address: peer, data: data, rssi: level.hciLevel)
      device.output.send(.leAdvertisingReport(HCI.AdvertisingReports(report, in: device.pool)))
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
  mutating func wants(_ event: ExtendedEvent, device: inout LocalDevice) -> Bool {
    guard let scanner, scanner.isExtended, scanner.isScanning(event.primaryPHY),
      judge(event.target, of: event.advertiser, device: &device) != .foreign
    else { return false }
    return accepts(event.advertiser, device: &device)
      && !scanner.isDuplicate(key(of: event, device: &device))
  }

  /// Returns the duplicate filter key of a report of the event. The key contains the identity address, so a new private
  /// address does not change the key.
  mutating func key(of event: ExtendedEvent, device: inout LocalDevice) -> DuplicateFilter.Key {
    event.key(event.advertiser.map { device.resolvingList.identify($0).identity }, isScanResponse: event.isScanResponse)
  }

  /// Returns the duplicate filter key of a report of the response to AUX_SCAN_REQ.
  mutating func responseKey(of event: ExtendedEvent, device: inout LocalDevice) -> DuplicateFilter.Key {
    event.key(event.advertiser.map { device.resolvingList.identify($0).identity }, isScanResponse: true)
  }

  /// Reports the data of one packet to the host. `isLast`: the packet announces no further packet; `isFollowed`: the
  /// device listens for the announced packet. Returns false if no report of this event follows.
  mutating func report(
    _ event: inout ExtendedEvent, _ data: ByteSlice, _ level: Decibel, isLast: Bool, isFollowed: Bool,
    device: inout LocalDevice
  ) -> Bool {
    let room = event.room
    let isTooLong = data.count > room
    var status: HCI.ExtendedAdvertisingReport.EventType = .truncated
    if isLast, !isTooLong {
      status = []
    } else if isFollowed, !isTooLong, event.mayGoOn {
      status = .moreToCome
    }
    send(event, data.prefix(room), level.hciLevel, status, device: &device)
    event.reported(min(data.count, room), isComplete: status != .moreToCome)
    if status == [] {
      let key = key(of: event, device: &device)
      _ = scanner?.remember(key)
    }
    return status == .moreToCome
  }

  /// Reports truncated data to the host, because an announced packet has not arrived.
  mutating func reportTruncation(of event: inout ExtendedEvent, device: inout LocalDevice) {
    guard event.isReporting, scanner != nil else { return }
    send(event, ByteSlice(), Self.unknownLevel, .truncated, device: &device)
    event.reported(0, isComplete: true)
  }

  /// Sends the data in one or more reports.
  private mutating func send(
    _ event: ExtendedEvent, _ data: ByteSlice, _ rssi: Int8, _ status: HCI.ExtendedAdvertisingReport.EventType,
    device: inout LocalDevice
  ) {
    guard device.hasRoomForReports else { return }
    let tellsCodings = device.hostFeatures.contains(.advertisingCodingSelectionHostSupport)
    var report = HCI.ExtendedAdvertisingReport(
      type: event.type,
      address: event.advertiser.map { device.resolvingList.identify($0).hciAddress } ?? Self.anonymous,
      primaryPHY: event.primary.phyOfReport(tellsCodings: tellsCodings),
      secondaryPHY: event.secondary?.phyOfReport(tellsCodings: tellsCodings) ?? 0,
      advertisingSID: event.dataInfo?.sid ?? Self.noSID, transmitPower: event.transmitPower ?? Self.unknownLevel,
      rssi: rssi, periodicAdvertisingInterval: event.periodicInterval,
      directAddress: directAddress(event.target, judge(event.target, of: event.advertiser, device: &device)),
      data: ByteSlice())
    var rest = data
    repeat {
      report.data = rest.prefix(HCI.ExtendedAdvertisingReport.maximumDataLength)
      rest = rest.dropFirst(report.data.count)
      report.type = event.type.union(rest.isEmpty ? status : .moreToCome)
      device.output.send(.leExtendedAdvertisingReport(HCI.ExtendedAdvertisingReports(report, in: device.pool)))
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
