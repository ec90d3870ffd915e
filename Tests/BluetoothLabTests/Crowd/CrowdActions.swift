import BluetoothWire

/// The random actions of a host of a crowd.
extension CrowdHost {
  func start() {
    send(.reset)
    send(.setEventMask(HCI.EventMask(rawValue: .max)))
    send(.setEventMaskPage2(HCI.EventMaskPage2(rawValue: .max)))
    send(.leSetEventMask(HCI.LEEventMask(rawValue: .max)))
    guard !isLegacy else { return }
    let keeping = HCI.SyncKeeping(timeout: 400)
    send(.leSetDefaultPeriodicAdvertisingSyncTransferParameters(.init(mode: .reporting, keeping: keeping)))
  }

  func act(at now: Instant) {
    checkProcedures(at: now)
    if circle.isEmpty { meetCircle() }
    if let since = initiatingSince, now - since > .seconds(8) { send(.leCreateConnectionCancel) }
    if let since = synchronizingSince, now - since > .seconds(10) { send(.lePeriodicAdvertisingCreateSyncCancel) }
    if advertises, !isAdvertising, connections.count < 2, below(2) == 0 { advertise() }
    if scans, below(4) == 0 { isScanning ? stopScanning() : scan() }
    if scans, initiatingSince == nil, connections.count < 2, below(2) == 0 { connect() }
    if !isLegacy, below(4) == 0 { synchronize() }
    for index in connections.indices { for _ in 0..<1 + below(3) { useLink(index, at: now) } }
  }

  // MARK: Advertising

  private func advertise() {
    isAdvertising = true
    let filterPolicy: UInt8 = wantsFilter() ? 0b11 : 0
    let interval = 6_400 + UInt16(below(3_200))
    guard !isLegacy else {
      send(
        .leSetAdvertisingParameters(
          .init(
            minimumInterval: interval, maximumInterval: interval, type: .connectableScannableUndirected,
            ownAddressType: ownAddressType, peer: introducer, filterPolicy: filterPolicy)))
      send(.leSetAdvertisingData(ByteSlice([UInt8](repeating: 1, count: below(32)))))
      return send(.leSetAdvertisingEnable(true))
    }
    let set = HCI.AdvertisingHandle(rawValue: 0)
    let isCompatible = below(2) == 0
    let isCoded = !isCompatible && below(4) == 0
    send(
      .leSetExtendedAdvertisingParameters(
        .init(
          handle: set, properties: isCompatible ? [.legacy, .connectable, .scannable] : .connectable,
          minimumInterval: UInt32(interval), maximumInterval: UInt32(interval), ownAddressType: ownAddressType,
          peer: introducer, filterPolicy: filterPolicy,
          primaryPHY: isCoded ? .leCoded : .le1M, secondaryPHY: isCoded ? .leCoded : below(2) == 0 ? .le1M : .le2M,
          advertisingSID: 1)))
    let length = isCompatible ? below(32) : below(200)
    send(.leSetExtendedAdvertisingData(set, .init(.complete, ByteSlice([UInt8](repeating: 2, count: length)))))
    send(.leSetExtendedAdvertisingEnable(true, HCI.AdvertisingSetEnables([.init(set)], in: pool)))
    if !isTraining, below(3) == 0 { train(interval: interval) }
  }

  /// Starts periodic advertising in a separate set.
  private func train(interval: UInt16) {
    isTraining = true
    let set = HCI.AdvertisingHandle(rawValue: 1)
    send(
      .leSetExtendedAdvertisingParameters(
        .init(
          handle: set, properties: [], minimumInterval: UInt32(interval), maximumInterval: UInt32(interval),
          ownAddressType: ownAddressType, peer: introducer, advertisingSID: 2)))
    send(
      .leSetPeriodicAdvertisingParameters(
        .init(handle: set, minimumInterval: 800, maximumInterval: 800 + UInt16(below(400)))))
    let octets = ByteSlice([UInt8](repeating: 3, count: below(252)))
    send(.leSetPeriodicAdvertisingData(set, .init(.complete, octets)))
    send(.leSetPeriodicAdvertisingEnable(.enabled, set))
    send(.leSetExtendedAdvertisingEnable(true, HCI.AdvertisingSetEnables([.init(set)], in: pool)))
  }

  // MARK: Scanning, connecting, synchronizing

  private func scan() {
    isScanning = true
    let filterPolicy: UInt8 = wantsFilter() ? 0b01 : 0
    let isActive = below(2) == 0
    guard !isLegacy else {
      send(
        .leSetScanParameters(
          .init(
            isActive: isActive, interval: 3_200, window: 320, ownAddressType: ownAddressType,
            filterPolicy: filterPolicy)))
      return send(.leSetScanEnable(true, filterDuplicates: below(2) == 0))
    }
    send(
      .leSetExtendedScanParameters(
        .init(
          ownAddressType: ownAddressType, filterPolicy: filterPolicy,
          le1M: .init(isActive: isActive, interval: 3_200, window: 320),
          leCoded: below(3) == 0 ? .init(isActive: isActive, interval: 6_400, window: 320) : nil)))
    send(.leSetExtendedScanEnable(.init(true, duplicates: .on, duration: UInt16(below(2)) * 800)))
  }

  private func stopScanning() {
    isScanning = false
    send(isLegacy ? .leSetScanEnable(false, filterDuplicates: false) : .leSetExtendedScanEnable(.init(false)))
  }

  private var someParameters: LinkParameters {
    let interval = UInt16(400 + below(560))
    return LinkParameters(
      minimumInterval: interval, maximumInterval: interval + UInt16(below(40)), latency: UInt16(below(4)),
      supervisionTimeout: UInt16(1_000 + below(600)))
  }

  private func connect() {
    guard !connectable.isEmpty else { return }
    let peer = connectable[below(connectable.count)]
    guard !connections.contains(where: { $0.peer == peer.address.value }) else { return }
    let usesAcceptList = wantsFilter()
    // The identity of a peer that the controller has resolved · Vol 4, Part E, 7.8.66.
    let address = HCI.PeerAddress(type: peer.address.type & 1, value: peer.address.value)
    guard !isLegacy else {
      return send(
        .leCreateConnection(
          .init(
            scanInterval: 640, scanWindow: 320, usesAcceptList: usesAcceptList, peer: address,
            ownAddressType: ownAddressType, parameters: someParameters)))
    }
    func initiating() -> HCI.ExtendedCreateConnection.Initiating {
      .init(scanInterval: 640, scanWindow: 320, parameters: someParameters)
    }
    send(
      .leExtendedCreateConnection(
        .init(
          usesAcceptList: usesAcceptList, ownAddressType: ownAddressType, peer: address,
          le1M: initiating(),
          le2M: below(2) == 0 ? initiating() : nil, leCoded: peer.secondaryPHY == 3 ? initiating() : nil)))
  }

  private func synchronize() {
    if let sync = syncs.last, below(4) == 0 {
      syncs.removeLast()
      return send(.lePeriodicAdvertisingTerminateSync(sync))
    }
    if let sync = syncs.first, let link = connections.first, below(3) == 0 {
      return send(.lePeriodicAdvertisingSyncTransfer(link.handle, serviceData: 7, sync))
    }
    guard let advertiser = periodic.last, synchronizingSince == nil, syncs.count < 2 else { return }
    send(
      .lePeriodicAdvertisingCreateSync(
        .init(
          advertiser: .init(
            HCI.PeerAddress(type: advertiser.address.type & 1, value: advertiser.address.value),
            advertisingSID: advertiser.sid),
          keeping: .init(skip: UInt16(below(3)), timeout: 400))))
  }

  // MARK: Links

  private func useLink(_ index: Int, at now: Instant) {
    let link = connections[index]
    func begin(_ procedure: CrowdLink.Procedure, _ command: HCI.Command) {
      if !link.isPending(procedure), !link.isPending(.disconnection) { send(command) }
    }
    switch below(24) {
    case 0:
      if below(4) == 0 { begin(.disconnection, .disconnect(link.handle, reason: .remoteUserTerminatedConnection)) }
    case 1: begin(.version, .readRemoteVersionInformation(link.handle))
    case 2: begin(.features, .leReadRemoteFeatures(link.handle))
    case 3: begin(.connectionUpdate, .leConnectionUpdate(link.handle, someParameters, HCI.ConnectionEventLength()))
    case 4, 5:
      let phys: HCI.PHYs = [[.le1M], [.le2M], [.leCoded], [.le1M, .le2M]][below(4)]
      let preference = HCI.PHYPreference(transmit: phys, receive: below(2) == 0 ? phys : nil)
      begin(.phyUpdate, .leSetPHY(link.handle, preference, options: UInt16(below(3))))
    case 6:
      send(.leSetDataLength(link.handle, .init(octets: UInt16(27 + below(225)), time: UInt16(328 + below(16_000)))))
    case 7: begin(.clockAccuracy, .leRequestPeerSCA(link.handle))
    case 8:
      if link.isCentral {
        begin(
          .encryption,
          .leEnableEncryption(link.handle, random: 0, encryptedDiversifier: 0, longTermKey: link.key))
      }
    case 9: send(.leSetHostChannelClassification(random.next() & 0x1F_FFFF_FFFF | 0x111))
    case 10: send(.readRSSI(link.handle))
    case 11: send(.leReadChannelMap(link.handle))
    case 12: if below(4) == 0 { send(.writeAuthenticatedPayloadTimeout(link.handle, 1_000)) }
    default: for _ in 0..<1 + below(5) { sendFrame(on: index) }
    }
  }
}
