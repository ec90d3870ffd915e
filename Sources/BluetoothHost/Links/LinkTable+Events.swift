import BluetoothWire

/// The controller's events and the ends of commands that concern one link.
extension LinkTable {
  /// Handles LE Connection Update Complete.
  mutating func updateCompleted(
    _ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, _ values: HCI.ConnectionValues,
    _ context: inout HostContext, at now: Instant
  ) {
    guard let index = anyIndex(of: handle) else {
      if status == .success { unknownLink(handle, &context, at: now) }
      return
    }
    if status == .success {
      self[index].properties.values = values
      context.tellLinkChanged(handle)
    }
    self[index].updateCompleted(status, &context, at: now)
  }

  /// Handles the status of LE Connection Update.
  mutating func updateAnswered(
    _ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, _ context: inout HostContext, at now: Instant
  ) {
    guard let index = anyIndex(of: handle), let end = self[index].parameterUpdates.end(after: status) else { return }
    self[index].updateEnded(end, &context, at: now)
  }

  /// Handles LE Data Length Change.
  mutating func dataLengthChanged(
    _ handle: HCI.ConnectionHandle, transmit: HCI.DataLength, receive: HCI.DataLength, _ context: inout HostContext,
    at now: Instant
  ) {
    guard let index = anyIndex(of: handle) else { return unknownLink(handle, &context, at: now) }
    self[index].heardFromPeer(&context)
    self[index].properties.transmitLength = transmit
    self[index].properties.receiveLength = receive
    context.tellLinkChanged(handle)
  }

  /// Handles LE PHY Update Complete.
  mutating func phyUpdated(
    _ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, transmit: UInt8, receive: UInt8,
    _ context: inout HostContext, at now: Instant
  ) {
    guard let index = anyIndex(of: handle) else {
      if status == .success { unknownLink(handle, &context, at: now) }
      return
    }
    if status == .success { self[index].phyUpdated(transmit: transmit, receive: receive, &context) }
    self[index].phyProcedureEnded(status, &context)
  }

  /// Handles the refusal of LE Set PHY after a link's creation.
  mutating func choiceOfPHYsRefused(_ handle: HCI.ConnectionHandle) {
    if let index = anyIndex(of: handle) { self[index].isChoosingPHYs = false }
  }

  /// Handles the end of the command of a link's request.
  mutating func requestAnswered(
    _ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, _ context: inout HostContext
  ) {
    if let index = anyIndex(of: handle) { self[index].requestAnswered(status, &context) }
  }

  /// Handles the end of LE Read Remote Features; `features` is nil if it failed.
  mutating func remoteFeaturesRead(
    _ handle: HCI.ConnectionHandle, _ features: HCI.LEFeatures?, _ context: inout HostContext, at now: Instant
  ) {
    guard let index = anyIndex(of: handle) else {
      context.output.metrics.unknownLinks += 1
      return
    }
    self[index].remoteFeaturesRead(features, &context, at: now)
  }

  /// Answers the peer's link layer request for connection parameters · Vol 4, Part E, 7.7.65.6.
  mutating func answerParameterRequest(
    _ handle: HCI.ConnectionHandle, _ parameters: LinkParameters, _ context: inout HostContext, at now: Instant
  ) {
    guard anyIndex(of: handle) != nil else { return unknownLink(handle, &context, at: now) }
    context.controller.append(
      parameters.isValid
        ? .leRemoteConnectionParameterRequestReply(handle, parameters, HCI.ConnectionEventLength())
        : .leRemoteConnectionParameterRequestNegativeReply(handle, reason: .unacceptableConnectionParameters),
      for: .other)
  }

  /// Handles LE Long Term Key Request.
  mutating func longTermKeyRequested(
    _ handle: HCI.ConnectionHandle, random: UInt64, diversifier: UInt16, _ context: inout HostContext, at now: Instant
  ) {
    guard let index = anyIndex(of: handle) else { return unknownLink(handle, &context, at: now) }
    self[index].longTermKeyRequested(random: random, diversifier: diversifier, &context)
  }

  /// Handles Encryption Change or Encryption Key Refresh Complete.
  mutating func encryptionChanged(
    _ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, isEncrypted: Bool, _ context: inout HostContext,
    at now: Instant
  ) {
    guard let index = anyIndex(of: handle) else {
      context.output.metrics.unknownLinks += 1
      return
    }
    self[index].encryptionChanged(status, isEncrypted: isEncrypted, &context, at: now)
  }

  /// Reports the result of Read RSSI.
  func rssiRead(
    _ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, _ parameters: HCI.ReturnParameters?,
    _ output: inout HostOutput
  ) {
    if case .rssi(handle, let level)? = parameters {
      output.tell(.rssiRead(handle, .success(level)))
    } else {
      let isGone = status == .unknownConnectionIdentifier || index(of: handle) == nil
      output.tell(.rssiRead(handle, .failure(isGone ? .notConnected : .controller(status))))
    }
  }

  /// Notes an event that shows that a link exists.
  mutating func linkExists(_ handle: HCI.ConnectionHandle, _ context: inout HostContext, at now: Instant) {
    if anyIndex(of: handle) == nil { unknownLink(handle, &context, at: now) }
  }

  // MARK: Requests of the upper layer

  /// Hides and disconnects the link to this device that has not been reported yet.
  mutating func cancelUnprovenLink(to address: DeviceAddress, _ context: inout HostContext) {
    guard let index = unprovenLink(to: address) else { return }
    self[index].visibility = .hidden
    self[index].disconnect(.remoteUserTerminatedConnection, &context)
  }

  /// Reports a change of the database to all clients, including disconnected ones, whose records are updated.
  mutating func databaseChanged(
    _ range: ClosedRange<AttributeHandle>, _ context: inout HostContext, at now: Instant
  ) {
    context.server.databaseChanged(range)
    for position in all.indices {
      // A link that is ending sends nothing, but its client's record is updated.
      all[position].bearer.databaseChanged(range, in: context.server.database, at: now)
      if !all[position].isHidden { all[position].serve(&context, at: now) }
    }
  }

  /// Ends the links with a peer whose bond has been removed.
  mutating func bondRemoved(_ identity: DeviceAddress, _ context: inout HostContext, at now: Instant) {
    for position in all.indices where all[position].bond == identity {
      all[position].bondRemoved(&context, at: now)
    }
  }

  /// Closes the channels to `spsm` on all links.
  mutating func closeChannels(spsm: UInt16, _ context: inout HostContext, at now: Instant) {
    for position in all.indices {
      all[position].withChannels { $0.closeAll(spsm: spsm, identifiers: &$1, at: now) }
      all[position].serve(&context, at: now)
    }
  }

  // MARK: Name discovery

  /// Continues the name discoveries after links have been created or have ended.
  mutating func continueNameDiscoveries(_ gap: inout GAP, _ context: inout HostContext, at now: Instant) {
    for discovery in context.nameDiscoveries.indices.reversed() {
      guard context.controller.isOn else {
        endNameDiscovery(discovery, &context)
        continue
      }
      switch context.nameDiscoveries.status(at: discovery) {
      case .usesLink(let handle): if index(of: handle) == nil { endNameDiscovery(discovery, &context) }
      case .waitsForLink(let address):
        if let position = all.firstIndex(where: {
          $0.link.peer == address && $0.visibility == .reported && !$0.isDisconnecting
        }) {
          let request = context.nameDiscoveries.linkIsThere(discovery, all[position].link.handle)
          all[position].request(request, token: NameDiscoveries.token, .system, &context, at: now)
        } else if !gap.initiator.requestedDevices.contains(address), !all.contains(where: { $0.link.peer == address }) {
          endNameDiscovery(discovery, &context)
        } else if context.nameDiscoveries.isOverdue(discovery, at: now) {
          if context.nameDiscoveries.endsLink(discovery) {
            gap.initiator.cancel(address)
            cancelUnprovenLink(to: address, &context)
          }
          endNameDiscovery(discovery, &context)
        }
      }
    }
  }

  private mutating func endNameDiscovery(_ discovery: Int, _ context: inout HostContext) {
    let end = context.nameDiscoveries.end(discovery)
    context.output.tell(.nameDiscovered(end.address, nil))
    if let index = end.link.flatMap({ index(of: $0) }) {
      self[index].disconnect(.remoteUserTerminatedConnection, &context)
    }
  }
}
