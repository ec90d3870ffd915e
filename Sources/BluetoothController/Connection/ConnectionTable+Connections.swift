import BluetoothRadio
import BluetoothWire

/// The start and the end of connections, and their data.
extension ConnectionTable {
  /// True if a connection between these two devices exists: two devices have at most one · Vol 6, Part B, 4.5.
  mutating func isConnected(own: DeviceAddress, peer: DeviceAddress, device: inout LocalDevice) -> Bool {
    let peer = device.resolvingList.identify(peer).identity
    return contains { connection in
      // Private addresses change, so each of them counts as an address of this device.
      connection.peer == peer
        && (connection.own == own || connection.own.randomKind == .resolvablePrivate
          || own.randomKind == .resolvablePrivate)
    }
  }

  /// Adds the connection created by the CONNECT_IND that ends now, or by the AUX_CONNECT_REQ on `auxiliaryPHY`. A
  /// central sends the first packet `delay` after the start of the transmit window.
  @discardableResult
  mutating func add(
    _ role: ConnectionRole, own: DeviceAddress, peer: DeviceAddress, data: LL.ConnectionData, usesAlgorithm2: Bool,
    auxiliaryPHY: RadioPHY? = nil, delay: TimeSpan = .zero, device: inout LocalDevice, radio: inout RadioControl,
    at now: Instant
  ) -> HCI.ConnectionHandle {
    let context = context(device: &device)
    let handle = newHandle()
    let peer = device.resolvingList.identify(peer)
    let index = append(
      Connection(
        handle: handle, role: role, own: own, peer: peer.identity, data: data, usesAlgorithm2: usesAlgorithm2,
        auxiliaryPHY: auxiliaryPHY, context: context, delay: delay, at: now), scheduler: &radio.scheduler)
    device.output.send(
      HCI.ConnectionComplete(
        status: .success, handle: handle, role: role.rawValue, peer: peer.hciAddress,
        localResolvablePrivateAddress: device.resolvingList.isOwn(own) ? own.value : 0,
        peerResolvablePrivateAddress: peer.isResolved ? peer.address.value : 0,
        values: self[index].values,
        centralClockAccuracy: role == .peripheral ? data.sleepClockAccuracy.rawValue : 0))
    if device.features.contains(.channelSelectionAlgorithm2) {
      device.output.send(.leChannelSelectionAlgorithm(handle, usesAlgorithm2 ? 1 : 0))
    }
    if role == .central { self[index].exchangeLengths(at: now, into: &device.output) }
    return handle
  }

  private mutating func context(device: inout LocalDevice) -> Connection.Context {
    let features = device.features
    return Connection.Context(
      clock: device.clock, sleepClockAccuracy: device.sleepClockAccuracy,
      sleepClockPartsPerMillion: device.clockAccuracy, transmitPower: device.configuration.transmitPower,
      version: LL.VersionInformation(
        version: device.configuration.version, company: device.configuration.companyIdentifier,
        subversion: device.configuration.subversion),
      features: features, preferredLength: preferredLength.supported(by: features), preferredPHYs: preferredPHYs,
      hostChannels: device.channelMap, assessesChannels: device.configuration.assessesChannels,
      minimumUsedChannels: device.configuration.minimumUsedChannels, seed: device.random.next())
  }

  /// Updates the timeslots of connections that have changed, and removes connections that have ended. Returns the handle
  /// of a connection that has ended, after which the caller calls again; nil: everything is up to date.
  mutating func refresh(radio: inout RadioControl, into output: inout HCIEventQueue) -> HCI.ConnectionHandle? {
    while let index = takeTouched() {
      if refresh(index, isRunning: radio.owner.isActivity(.connection(index)), scheduler: &radio.scheduler) { continue }
      if let handle = removeEnded(index, radio: &radio, into: &output) { return handle }
    }
    return nil
  }

  private mutating func removeEnded(
    _ index: Int, radio: inout RadioControl, into output: inout HCIEventQueue
  ) -> HCI.ConnectionHandle? {
    guard let reason = self[index].reasonForEnd else { return nil }
    radio.abandon(.connection(index))
    let handle = self[index].handle
    noteEnd(of: index)
    radio.rename(.connection(count - 1), .connection(index))
    remove(at: index, scheduler: &radio.scheduler)
    output.send(.disconnectionComplete(.success, handle, reason: reason))
    return handle
  }

  /// Queues an ACL packet from the host. Packets of ended connections are dropped: Disconnection Complete has been sent
  /// or follows.
  mutating func send(_ data: HCI.ACLData, device: inout LocalDevice, at now: Instant) {
    guard let index = index(of: data.handle) else { return }
    guard !data.payload.isEmpty else {
      device.output.send(.numberOfCompletedPackets(HCI.CompletedPackets(data.handle, count: 1, in: device.pool)))
      return
    }
    guard heldPackets < device.configuration.aclBufferCount, data.payload.count <= device.configuration.aclBufferLength
    else {
      // Link_Type 0x01: ACL · Vol 4, Part E, 7.7.26.
      device.output.send(.dataBufferOverflow(linkType: 0x01))
      return
    }
    self[index].send(data, at: now)
  }

  /// Changes the accuracy of the local clock on all connections · Vol 4, Part E, 7.8.94.
  mutating func setSleepClock(_ accuracy: LL.SleepClockAccuracy, device: inout LocalDevice, at now: Instant) {
    let partsPerMillion = device.clockAccuracy
    for index in indices {
      self[index].setSleepClock(accuracy, partsPerMillion: partsPerMillion, at: now, into: &device.output)
    }
  }

  /// Applies a new classification of channels by the host; a central excludes bad channels at once · 7.8.19.
  mutating func channelsChanged(device: inout LocalDevice, at now: Instant) {
    for index in indices {
      self[index].channels.host = device.channelMap
      self[index].channelsChanged(at: now, into: &device.output)
    }
  }
}
