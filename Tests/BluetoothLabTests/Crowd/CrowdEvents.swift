import BluetoothWire

/// The handling of the controller's events by a host of a crowd.
extension CrowdHost {
  func handle(_ event: HCI.Event, at now: Instant) {
    switch event {
    case .hardwareError:
      notes.done("hardware error")
      forget()
      start()
    case .numberOfCompletedPackets(let list): for element in list { complete(element, at: now) }
    case .leConnectionComplete(let connection), .leEnhancedConnectionComplete(let connection):
      connected(connection, at: now)
    case .leAdvertisingReport(let reports): for report in reports { hear(report, at: now) }
    case .leExtendedAdvertisingReport(let reports): for report in reports { hear(report, at: now) }
    case .leAdvertisingSetTerminated(_, let handle, _, _): if handle.rawValue == 0 { isAdvertising = false }
    case .lePeriodicAdvertisingSyncEstablished(let status, let sync):
      synchronizingSince = nil
      if status == .success {
        notes.done("synchronization")
        syncs.append(sync.handle)
      }
    case .lePeriodicAdvertisingSyncTransferReceived(let status, _, _, let sync):
      if status == .success {
        notes.done("synchronization by transfer")
        syncs.append(sync.handle)
      }
    case .lePeriodicAdvertisingReport: notes.done("periodic report")
    case .lePeriodicAdvertisingSyncLost(let handle): syncs.removeAll { $0 == handle }
    case .leScanTimeout: isScanning = false
    default: handleLinkEvent(event, at: now)
    }
  }

  private func handleLinkEvent(_ event: HCI.Event, at now: Instant) {
    switch event {
    case .disconnectionComplete(_, let handle, let reason):
      guard let index = linkIndex(handle, event, at: now) else { return }
      notes.done("disconnection \(reason)")
      connections.remove(at: index)
    case .readRemoteVersionInformationComplete(let status, let handle, _):
      end(.version, on: handle, status, event, at: now)
    case .leReadRemoteFeaturesComplete(let status, let handle, _): end(.features, on: handle, status, event, at: now)
    case .leConnectionUpdateComplete(let status, let handle, _):
      end(.connectionUpdate, on: handle, status, event, at: now)
    case .lePHYUpdateComplete(let status, let handle, _, _): end(.phyUpdate, on: handle, status, event, at: now)
    case .leRequestPeerSCAComplete(let status, let handle, _):
      end(.clockAccuracy, on: handle, status, event, at: now)
    case .encryptionKeyRefreshComplete(let status, let handle):
      end(.encryption, on: handle, status, event, at: now)
    case .encryptionChange(let status, let handle, let enabled),
      .encryptionChangeV2(let status, let handle, let enabled, _):
      end(.encryption, on: handle, status, event, at: now)
      if let index = index(of: handle), status == .success { connections[index].isEncrypted = enabled != 0 }
    case .leLongTermKeyRequest(let handle, _, _):
      guard let index = linkIndex(handle, event, at: now) else { return }
      switch below(20) {
      case 0: send(.leLongTermKeyRequestNegativeReply(handle))
      case 1: send(.leLongTermKeyRequestReply(handle, longTermKey: 1))
      default: send(.leLongTermKeyRequestReply(handle, longTermKey: connections[index].key))
      }
    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      guard linkIndex(handle, event, at: now) != nil else { return }
      send(
        below(4) == 0
          ? .leRemoteConnectionParameterRequestNegativeReply(handle, reason: .unacceptableConnectionParameters)
          : .leRemoteConnectionParameterRequestReply(handle, parameters, HCI.ConnectionEventLength()))
    case .leDataLengthChange(let handle, _, _), .leChannelSelectionAlgorithm(let handle, _),
      .authenticatedPayloadTimeoutExpired(let handle):
      _ = linkIndex(handle, event, at: now)
    default: complain("\(event)", at: now)
    }
  }

  private func linkIndex(_ handle: HCI.ConnectionHandle, _ event: HCI.Event, at now: Instant) -> Int? {
    guard let index = index(of: handle) else {
      complain("of no connection: \(event)", at: now)
      return nil
    }
    return index
  }

  private func end(
    _ procedure: CrowdLink.Procedure, on handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, _ event: HCI.Event,
    at now: Instant
  ) {
    guard let index = linkIndex(handle, event, at: now) else { return }
    connections[index].end(procedure)
    notes.done("\(procedure)" + (status == .success ? "" : " refused"))
  }

  private func complete(_ element: HCI.CompletedPackets.Element, at now: Instant) {
    guard let index = index(of: element.handle) else { return complain("packets of no connection", at: now) }
    connections[index].inFlight -= Int(element.count)
    notes.streams[connections[index].stream].completed += Int(element.count)
    if connections[index].inFlight < 0 { complain("more packets are over than there were", at: now) }
  }

  private func connected(_ connection: HCI.ConnectionComplete, at now: Instant) {
    let isCentral = connection.role == 0
    if isCentral || connection.status != .success { initiatingSince = nil }
    guard connection.status == .success else { return }
    if index(of: connection.handle) != nil { complain("a handle is used twice", at: now) }
    notes.done(isCentral ? "connection" : "connection as peripheral")
    if !isCentral { isAdvertising = false }
    let link = CrowdLink(
      handle: connection.handle, isCentral: isCentral, peer: connection.peer.value,
      addresses: checkAddresses(connection, at: now),
      stream: notes.openStream(isSpoiled: isSpoiled || notes.spoiledAddresses.contains(connection.peer.value)))
    connections.append(link)
  }

  // MARK: Identities

  private func hear(_ report: HCI.AdvertisingReport, at now: Instant) {
    checkFilter(report.address, at: now)
    guard report.type == .connectableScannable else { return }
    remember(Advertiser(address: report.address, sid: 0xFF, secondaryPHY: 0), in: &connectable)
  }

  private func hear(_ report: HCI.ExtendedAdvertisingReport, at now: Instant) {
    checkFilter(report.address, at: now)
    let advertiser = Advertiser(
      address: report.address, sid: report.advertisingSID, secondaryPHY: report.secondaryPHY)
    if report.type.contains(.connectable) { remember(advertiser, in: &connectable) }
    if report.periodicAdvertisingInterval != 0 { remember(advertiser, in: &periodic) }
  }

  private func remember(_ advertiser: Advertiser, in list: inout [Advertiser]) {
    guard !list.contains(where: { $0.address == advertiser.address }) else { return }
    if list.count >= 8 { list.removeFirst() }
    list.append(advertiser)
  }
}
