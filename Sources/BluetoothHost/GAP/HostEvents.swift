import BluetoothWire

/// What the controller tells.
extension Host {
  mutating func receive(_ event: HCI.Event, at now: Instant) {
    switch event {
    case .commandComplete(let credits, let opcode, let parameters):
      answered(opcode, credits, parameters.status ?? .success, parameters, at: now)
    case .commandStatus(let status, let credits, let opcode):
      answered(opcode, credits, status, nil, at: now)
    case .numberOfCompletedPackets(let completed):
      for element in completed { packetsCompleted(element.handle, Int(element.count)) }
    case .leAdvertisingReport(let reports): for report in reports { receive(report, at: now) }
    case .leExtendedAdvertisingReport(let reports): for report in reports { receive(report, at: now) }
    case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete):
      connectionCompleted(complete, at: now)
    case .disconnectionComplete(let status, let handle, let reason):
      if status == .success { disconnected(handle, reason, at: now) }
    case .leConnectionUpdateComplete(let status, let handle, let values):
      if status == .success {
        if let index = anyIndex(of: handle) {
          allLinks[index].properties.values = values
        } else {
          unknownLink(handle, at: now)
        }
      }
      updateCompleted(handle, status, at: now)
    case .leDataLengthChange(let handle, let transmit, let receive):
      if let index = anyIndex(of: handle) {
        heardFromPeer(on: index)
        allLinks[index].properties.transmitLength = transmit
        allLinks[index].properties.receiveLength = receive
      } else {
        unknownLink(handle, at: now)
      }
    case .leReadRemoteFeaturesComplete(let status, let handle, let features):
      remoteFeaturesRead(handle, status == .success ? features : nil, at: now)
    case .lePHYUpdateComplete(let status, let handle, let transmit, let receive):
      phyUpdated(handle, status, transmit: transmit, receive: receive, at: now)
    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      answerParameterRequest(handle, parameters, at: now)
    case .leLongTermKeyRequest(let handle, let random, let diversifier):
      longTermKeyRequested(handle, random: random, diversifier: diversifier, at: now)
    case .encryptionChange(let status, let handle, let isEnabled),
      .encryptionChangeV2(let status, let handle, let isEnabled, _):
      encryptionChanged(handle, status, isEncrypted: isEnabled != 0, at: now)
    case .encryptionKeyRefreshComplete(let status, let handle):
      encryptionChanged(handle, status, isEncrypted: true, at: now)
    case .leAdvertisingSetTerminated(let status, _, let handle, _):
      if status == .success, anyIndex(of: handle) == nil { unknownLink(handle, at: now) }
      advertisingSetTerminated(status)
    case .leChannelSelectionAlgorithm(let handle, _):
      if anyIndex(of: handle) == nil { unknownLink(handle, at: now) }
    case .hardwareError(let code): fail(.hardwareError(code), at: now)
    case .dataBufferOverflow: if isOn { events.append(.trouble(.dataBufferOverflow)) }
    case .readRemoteVersionInformationComplete, .authenticatedPayloadTimeoutExpired,
      .leReadLocalP256PublicKeyComplete, .leGenerateDHKeyComplete,
      .leScanTimeout, .leScanRequestReceived,
      .leDirectedAdvertisingReport, .lePeriodicAdvertisingSyncEstablished, .lePeriodicAdvertisingReport,
      .lePeriodicAdvertisingSyncLost, .lePeriodicAdvertisingSyncTransferReceived, .leRequestPeerSCAComplete,
      .unknownLE, .unknown:
      break
    }
  }

  private mutating func answered(
    _ opcode: HCI.Opcode, _ credits: UInt8, _ status: HCI.ErrorCode, _ parameters: HCI.ReturnParameters?,
    at now: Instant
  ) {
    guard let entry = commands.answered(opcode, credits: credits) else {
      if opcode != .none { metrics.unexpectedPackets += 1 }
      return
    }
    unansweredCommands = 0
    commandEnded(entry, status, parameters, at: now)
  }

  private mutating func receive(_ report: HCI.AdvertisingReport, at now: Instant) {
    let isConnectable = report.type == .connectableScannable || report.type == .connectableDirected
    guard isOn, let address = advertiserHeard(report.address, isConnectable: isConnectable, at: now) else { return }
    if scanner.listensForHostAlone { return }
    events.append(
      .advertisingReport(
        AdvertisingReport(
          address: address, isConnectable: isConnectable,
          isScannable: report.type == .connectableScannable || report.type == .scannable,
          isScanResponse: report.type == .scanResponse, data: report.data, rssi: report.rssi)))
  }

  /// Some controllers answer legacy scanning with the extended form, and Bumble's does not even say that the PDUs were legacy
  /// ones. Nothing else can be heard then.
  private mutating func receive(_ report: HCI.ExtendedAdvertisingReport, at now: Instant) {
    guard isOn, let heard = report.address.deviceAddress else { return }
    let isLegacy = report.type.contains(.legacy) || !usesExtendedCommands
    let isScanResponse = report.type.contains(.scanResponse)
    let isConnectable = !isScanResponse && report.type.contains(.connectable)
    guard let address = advertiserHeard(report.address, isConnectable: isConnectable, at: now) else { return }
    if scanner.listensForHostAlone { return }
    let content: (data: ByteSlice, isTruncated: Bool)
    if isLegacy {
      guard report.data.count <= HCI.maximumAdvertisingDataLength, !report.type.contains(.moreToCome) else { return }
      content = (report.data, false)
    } else {
      guard let whole = reports.take(report, from: heard, at: now) else { return }
      content = whole
    }
    var result = AdvertisingReport(
      address: address, isConnectable: isConnectable,
      isScannable: !isScanResponse && report.type.contains(.scannable), isScanResponse: isScanResponse,
      data: content.data, rssi: report.rssi)
    result.isTruncated = content.isTruncated
    if !isLegacy { result.advertisingSet = report.advertisingSID }
    events.append(.advertisingReport(result))
  }

  /// The controller has ended advertising itself.
  private mutating func advertisingSetTerminated(_ status: HCI.ErrorCode) {
    if isOn, advertiser.setTerminated(status) { events.append(.advertisingEnded) }
  }

  // MARK: Links

  private mutating func connectionCompleted(_ complete: HCI.ConnectionComplete, at now: Instant) {
    let heard = complete.peer.deviceAddress
    noteResolution(of: complete.peer)
    let peer = heard.map { whose($0) }
    guard complete.status == .success else {
      // With legacy commands the end of directed advertising at the high duty cycle is told so · Vol 4, Part E, 7.8.9.
      if complete.status == .advertisingTimeout { return advertisingSetTerminated(complete.status) }
      for address in initiator.attemptFailed(complete.status, peer) {
        events.append(.connectionFailed(address, complete.status))
      }
      return
    }
    guard isOn, let heard, let peer, let role = Link.Role(rawValue: complete.role),
      complete.handle.rawValue <= HCI.ConnectionHandle.maximum.rawValue, !isRepeated(complete, at: now)
    else {
      metrics.unexpectedPackets += 1
      return
    }
    strays.remove(complete.handle)
    // The controller has given the handle to another link: the end of the one before was lost.
    if anyIndex(of: complete.handle) != nil { disconnected(complete.handle, .connectionTimeout, at: now) }
    var isWanted = true
    switch role {
    case .central: isWanted = initiator.attemptSucceeded(peer, at: heard)
    case .peripheral: advertiser.linkCameAbout()
    }
    // Nobody else has this device's address, so whoever uses it means no good.
    isWanted = isWanted && peer != address && peer != controller.publicAddress && heard != ownAddress.current
    initiator.linkCameAbout(peer)
    let link = Link(handle: complete.handle, role: role, peer: peer)
    allLinks.append(
      HostLink(
        link, securityManager(of: link, complete), maximumMTU: configuration.maximumMTU,
        standing: isWanted ? .unproven : .hidden, at: now, pool: pool))
    let index = allLinks.count - 1
    linkCheck.begin(at: now)
    recallBond(on: index, at: now)
    allLinks[index].properties.values = complete.values
    offerCache(on: index)
    guard isWanted else {
      disconnect(index, reason: .remoteUserTerminatedConnection)
      return
    }
    // A peripheral has the other's CONNECT_IND; a central waits for what its first packets bring.
    if role == .peripheral { heardFromPeer(on: index) }
    beginLinkProcedures(index, at: now)
    allLinks[index].bearer.start(at: now)
    serve(index, at: now)
  }

  /// True for the second of two events with one handle: in so short a time no link ends and another one comes about.
  private func isRepeated(_ complete: HCI.ConnectionComplete, at now: Instant) -> Bool {
    anyIndex(of: complete.handle).map { now - allLinks[$0].beginning < .milliseconds(100) } ?? false
  }

  /// The peer has heard this device: the link counts. Before that a central can't know · Vol 6, Part B, 4.5.2.
  mutating func heardFromPeer(on index: Int) {
    guard allLinks[index].standing == .unproven else { return }
    allLinks[index].standing = .announced
    events.append(.connected(allLinks[index].link))
    restoreClient(on: index)
  }

  mutating func disconnected(_ handle: HCI.ConnectionHandle, _ reason: HCI.ErrorCode, at now: Instant) {
    guard let index = anyIndex(of: handle) else {
      metrics.unknownLinks += 1
      strays.remove(handle)
      strayLinkFound()
      return
    }
    let link = allLinks.remove(at: index)
    if allLinks.isEmpty { linkCheck.end() }
    endSecurity(of: link, at: now)
    keepClient(of: link)
    keepCache(of: link)
    for entry in commands.removeAll(for: handle) {
      if case .readRSSI = entry.purpose { events.append(.rssiRead(handle, .failure(.notConnected))) }
    }
    // What the controller had for this link is gone; it does not complete it · Vol 4, Part E, 4.3.
    outstanding -= link.outstanding
    initiator.linkEnded(link.link.peer)
    advertiser.linkEnded()
    switch link.standing {
    case .hidden: break
    case .announced: events.append(.disconnected(handle, reason))
    case .unproven:
      // The peer never heard of it, so it is still being waited for; else it was there, and ended before it said anything.
      if reason == .connectionFailedToBeEstablished {
        initiator.connect(to: link.link.peer)
      } else {
        events.append(.connected(link.link))
        events.append(.disconnected(handle, reason))
      }
    }
    resetIfQuiet()
  }

  /// The peer's link layer asks for other parameters · Vol 4, Part E, 7.7.65.6.
  private mutating func answerParameterRequest(
    _ handle: HCI.ConnectionHandle, _ parameters: ConnectionParameters, at now: Instant
  ) {
    guard anyIndex(of: handle) != nil else {
      unknownLink(handle, at: now)
      return
    }
    commands.append(
      parameters.isValid
        ? .leRemoteConnectionParameterRequestReply(handle, parameters, HCI.ConnectionEventLength())
        : .leRemoteConnectionParameterRequestNegativeReply(handle, reason: .unacceptableConnectionParameters),
      for: .other)
  }
}
