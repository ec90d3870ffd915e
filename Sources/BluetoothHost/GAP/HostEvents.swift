import BluetoothWire

/// The processing of the controller's events.
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

  /// Handles an extended advertising report. Some controllers report legacy scanning with this event, and Bumble's
  /// does not mark the PDUs as legacy. While the host uses legacy commands, every report is of legacy PDUs.
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

  /// Handles the controller's own end of advertising.
  private mutating func advertisingSetTerminated(_ status: HCI.ErrorCode) {
    if isOn, advertiser.setTerminated(status) { events.append(.advertisingEnded) }
  }

  // MARK: Links

  private mutating func connectionCompleted(_ complete: HCI.ConnectionComplete, at now: Instant) {
    let heard = complete.peer.deviceAddress
    noteResolution(of: complete.peer)
    let peer = heard.map { whose($0) }
    guard complete.status == .success else {
      // With legacy commands, this event reports the end of high duty cycle directed advertising
      // · Vol 4, Part E, 7.8.9.
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
    // The controller has reused the handle: the host missed the disconnection of the previous link.
    if anyIndex(of: complete.handle) != nil { disconnected(complete.handle, .connectionTimeout, at: now) }
    var isWanted = true
    switch role {
    case .central: isWanted = initiator.attemptSucceeded(peer, at: heard)
    case .peripheral: advertiser.linkCameAbout()
    }
    // Only an impostor uses this device's own address.
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
    // A peripheral has received the peer's CONNECT_IND; a central waits for the peer's first packets.
    if role == .peripheral { heardFromPeer(on: index) }
    beginLinkProcedures(index, at: now)
    allLinks[index].bearer.start(at: now)
    serve(index, at: now)
  }

  /// Returns true for the second of two Connection Complete events with one handle within 100 ms, too short a time
  /// for a link to end and for another to be created.
  private func isRepeated(_ complete: HCI.ConnectionComplete, at now: Instant) -> Bool {
    anyIndex(of: complete.handle).map { now - allLinks[$0].beginning < .milliseconds(100) } ?? false
  }

  /// Reports the link after the first sign that the peer has it; later calls have no effect. A central cannot know
  /// earlier that the link exists · Vol 6, Part B, 4.5.2.
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
    // The controller discards its packets for this link without completing them · Vol 4, Part E, 4.3.
    outstanding -= link.outstanding
    initiator.linkEnded(link.link.peer)
    advertiser.linkEnded()
    switch link.standing {
    case .hidden: break
    case .announced: events.append(.disconnected(handle, reason))
    case .unproven:
      // The peer has not received CONNECT_IND, so the host goes on connecting. With any other reason, the link
      // existed and ended before the peer sent anything.
      if reason == .connectionFailedToBeEstablished {
        initiator.connect(to: link.link.peer)
      } else {
        events.append(.connected(link.link))
        events.append(.disconnected(handle, reason))
      }
    }
    resetIfQuiet()
  }

  /// Answers the peer's link layer request for connection parameters · Vol 4, Part E, 7.7.65.6.
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

extension HCI.EventKind {
  /// True for the events that the host enables. It ignores all others.
  var isUsedByHost: Bool {
    switch self {
    case .commandComplete, .commandStatus, .numberOfCompletedPackets, .disconnectionComplete,
      .readRemoteVersionInformationComplete, .hardwareError, .dataBufferOverflow, .encryptionChange,
      .encryptionKeyRefreshComplete, .leConnectionComplete, .leAdvertisingReport, .leConnectionUpdateComplete,
      .leReadRemoteFeaturesComplete, .leLongTermKeyRequest, .leRemoteConnectionParameterRequest, .leDataLengthChange,
      .lePHYUpdateComplete, .leEnhancedConnectionComplete, .leExtendedAdvertisingReport, .leAdvertisingSetTerminated:
      true
    // This event shows that a link exists even if LE Connection Complete was lost.
    case .leChannelSelectionAlgorithm: true
    case .encryptionChangeV2, .authenticatedPayloadTimeoutExpired, .leReadLocalP256PublicKeyComplete,
      .leGenerateDHKeyComplete, .leDirectedAdvertisingReport, .lePeriodicAdvertisingSyncEstablished,
      .lePeriodicAdvertisingReport, .lePeriodicAdvertisingSyncLost, .leScanTimeout, .leScanRequestReceived,
      .lePeriodicAdvertisingSyncTransferReceived, .leRequestPeerSCAComplete:
      false
    }
  }
}
