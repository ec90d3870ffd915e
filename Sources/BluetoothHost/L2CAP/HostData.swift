import BluetoothWire

/// ACL data in both directions, and the L2CAP channels that end in the host.
extension Host {
  /// Returns the index of the link with this handle, unless the link is hidden from the upper layer.
  // Inlined, like `anyIndex(of:)`: a call would copy the whole host.
  @inline(__always)
  func index(of handle: HCI.ConnectionHandle) -> Int? {
    guard let index = allLinks.index(of: handle), !allLinks[index].isHidden else { return nil }
    return index
  }

  /// Returns the index of the link with this handle, hidden or not.
  @inline(__always)
  func anyIndex(of handle: HCI.ConnectionHandle) -> Int? { allLinks.index(of: handle) }

  // MARK: From the controller

  mutating func receive(_ data: HCI.ACLData, at now: Instant) {
    guard let index = index(of: data.handle) else {
      if anyIndex(of: data.handle) == nil { unknownLink(data.handle, at: now) } else { metrics.unknownLinks += 1 }
      return
    }
    heardFromPeer(on: index)
    allLinks[index].lastData = now
    allLinks[index].hasShownLife = true
    let dropped = allLinks[index].reassembler.dropped
    let frame = allLinks[index].reassembler.receive(data, pool: pool)
    metrics.droppedFrames += allLinks[index].reassembler.dropped - dropped
    guard let frame else {
      if let frame = allLinks[index].reassembler.takeTooLong() { receiveTooLong(frame, on: index, at: now) }
      return
    }
    switch frame.channel {
    case .attribute:
      allLinks[index].bearer.receive(frame.payload, database: &database, at: now)
      if frame.payload.isSignedWrite { signedWriteReceived(on: index) }
      serve(index, at: now)
    case .signalling: receiveSignal(frame.payload, on: index, at: now)
    case .securityManager: receiveSecurity(frame.payload, on: index, at: now)
    default: receiveOnChannel(frame, on: index, at: now)
    }
  }

  /// Handles a frame that was too long for every channel; `frame` contains only the first octets of its payload.
  private mutating func receiveTooLong(_ frame: L2CAP.Frame, on index: Int, at now: Instant) {
    if frame.channel == .signalling {
      if let answer = allLinks[index].signalling.receiveTooLong(frame.payload) { send(answer, on: index) }
    } else if frame.channel.isDynamic {
      allLinks[index].withChannels { $0.receivedTooLong(on: frame.channel, identifiers: &$1, at: now) }
      serve(index, at: now)
    }
  }

  private mutating func receiveSignal(_ octets: ByteSlice, on index: Int, at now: Instant) {
    let outcome = allLinks[index].signalling.receive(octets, mayUpdate: !allLinks[index].isUpdating, at: now)
    if let answer = outcome.answer { send(answer, on: index) }
    if let parameters = outcome.update { update(index, parameters) }
    if let signal = outcome.forChannels { receiveForChannels(signal, on: index, at: now) }
    // A request of this side may have ended, so the next one may be due.
    markReady(index)
  }

  // MARK: To the controller

  mutating func send(_ signal: L2CAP.Signal, on index: Int) { send(signal.frame(in: pool), on: index) }

  private mutating func send(_ frame: ByteSlice, on index: Int) {
    if !allLinks[index].append(frame) { metrics.droppedAnswers += 1 }
    markReady(index)
  }

  /// Marks a link that may have data to send.
  mutating func markReady(_ index: Int) {
    allLinks[index].lookForOutput()
    if allLinks[index].isReady { isReady = true }
  }

  /// Reports the events of a link's bearer and channels, and checks for data to send. Called after every change to
  /// them. Disconnects a link whose bearer is closed · Vol 3, Part F, 3.3.3.
  mutating func serve(_ index: Int, at now: Instant) {
    markReady(index)
    passOn(index, at: now)
  }

  private mutating func passOn(_ index: Int, at now: Instant) {
    guard allLinks[index].hasNews else { return }
    let handle = allLinks[index].link.handle
    while allLinks[index].bearer.hasEvents, let event = allLinks[index].bearer.takeEvent() {
      if case .securityWanted(let demand) = event {
        secure(index, demand, at: now)
      } else if case .signatureMade = event {
        keepCounters(of: allLinks[index])
      } else if !nameDiscoveries.isEmpty, case .completed(NameDiscovery.token, let result) = event {
        nameDiscoveryCompleted(result, on: handle, at: now)
      } else {
        events.append(.gatt(handle, event))
      }
    }
    if allLinks[index].channels.hasEvents {
      while let event = allLinks[index].channels.takeEvent() {
        if !keepRefusal(event, on: index, at: now) { events.append(.channel(handle, event)) }
      }
    }
    if allLinks[index].bearer.isClosed { disconnect(index, reason: .remoteUserTerminatedConnection) }
  }

  /// Sends ACL packets while the controller has free buffers, one packet of each link in turn. Each link gets at most
  /// its share of the buffers, so that a link whose peer does not respond cannot block the other links.
  mutating func sendData(at now: Instant) {
    guard isReady, outstanding < controller.aclCount, !allLinks.isEmpty else { return }
    let share = max(1, controller.aclCount / allLinks.count)
    var index = turn
    /// The number of consecutive links that have nothing to send or have used their share.
    var idle = 0
    var isReady = false
    while idle < allLinks.count {
      if index >= allLinks.count { index = 0 }
      if idle == 0 { isReady = false }
      if sendPacket(of: index, share: share, at: now) {
        idle = 0
        if outstanding >= controller.aclCount {
          turn = index + 1
          return
        }
      } else {
        idle += 1
        isReady = isReady || allLinks[index].isReady
      }
      index += 1
    }
    self.isReady = isReady
  }

  /// Sends the next packet of a link. Returns false if there is none, or if the link has used its share.
  private mutating func sendPacket(of index: Int, share: Int, at now: Instant) -> Bool {
    guard allLinks[index].isReady, allLinks[index].outstanding < share else { return false }
    let packet = allLinks[index].takePacket(controller.aclLength, pool: pool, at: now)
    // Taking a PDU can complete a procedure.
    passOn(index, at: now)
    guard let packet else { return false }
    allLinks[index].outstanding += 1
    outstanding += 1
    packets.append(.acl(packet))
    return true
  }

  /// Handles completed packets, which free buffers of the controller. A controller cannot complete more packets than
  /// it had.
  mutating func packetsCompleted(_ handle: HCI.ConnectionHandle, _ count: Int) {
    guard let index = anyIndex(of: handle) else {
      metrics.unknownLinks += 1
      return
    }
    let completed = min(count, allLinks[index].outstanding)
    allLinks[index].outstanding -= completed
    outstanding -= completed
    guard completed > 0 else { return }
    allLinks[index].hasShownLife = true
    heardFromPeer(on: index)
  }
}

extension ByteSlice {
  fileprivate var isSignedWrite: Bool {
    count > ATT.signatureLength && self[0] == ATT.Opcode.signedWriteCommand.rawValue
  }
}

extension [HostLink] {
  /// Returns the index of the link with this handle.
  func index(of handle: HCI.ConnectionHandle) -> Int? {
    // Iterate by index: a closure or an iterator would copy the links.
    var index = 0
    while index < count {
      if self[index].link.handle.rawValue == handle.rawValue { return index }
      index += 1
    }
    return nil
  }
}
