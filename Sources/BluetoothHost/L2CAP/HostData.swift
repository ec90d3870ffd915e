import BluetoothWire

/// ACL data in both directions, and the channels that end in the host.
extension Host {
  /// The link with this handle that those above know of.
  // Inlined, as the next one: a call would be handed a copy of the whole host.
  @inline(__always)
  func index(of handle: HCI.ConnectionHandle) -> Int? {
    guard let index = allLinks.index(of: handle), !allLinks[index].isHidden else { return nil }
    return index
  }

  /// The link with this handle.
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

  /// A frame has come that no channel takes; of its payload the first octets are there.
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
    // A request of this side may have ended, and the next one has its turn.
    markReady(index)
  }

  // MARK: To the controller

  mutating func send(_ signal: L2CAP.Signal, on index: Int) { send(signal.frame(in: pool), on: index) }

  private mutating func send(_ frame: ByteSlice, on index: Int) {
    if !allLinks[index].append(frame) { metrics.droppedAnswers += 1 }
    markReady(index)
  }

  /// Something may be there to be sent on a link.
  mutating func markReady(_ index: Int) {
    allLinks[index].lookForOutput()
    if allLinks[index].isReady { isReady = true }
  }

  /// To be called when anything has happened to a link's bearer or channels: passes on what they tell, and has what they
  /// want to send looked for. Ends a link whose bearer is closed · Vol 3, Part F, 3.3.3.
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

  /// Gives the controller packets as long as it takes some: one of each link in turn. No link gets more than its share
  /// of the controller's buffers, so that one whose peer does not answer can't stop the others.
  mutating func sendData(at now: Instant) {
    guard isReady, outstanding < controller.aclCount, !allLinks.isEmpty else { return }
    let share = max(1, controller.aclCount / allLinks.count)
    var index = turn
    /// How many links in a row had nothing, or their share.
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

  /// Gives the controller the next packet of a link; false: there is none, or the link has its share.
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

  /// The controller has room again. It can't have completed more than it had.
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
  /// Where the link with this handle stands.
  func index(of handle: HCI.ConnectionHandle) -> Int? {
    // By index: a closure or an iterator would be handed copies of all that a link has.
    var index = 0
    while index < count {
      if self[index].link.handle.rawValue == handle.rawValue { return index }
      index += 1
    }
    return nil
  }
}
