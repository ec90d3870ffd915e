import BluetoothRadio
import BluetoothWire

/// The connections and their data, as seen by the host.
extension Controller {
  /// Returns the index of the connection with this handle.
  mutating func index(of handle: HCI.ConnectionHandle) -> Int? { connections.index(of: handle) }

  mutating func isConnected(own: DeviceAddress, peer: DeviceAddress) -> Bool {
    let peer = resolvingList.identify(peer).identity
    return connections.contains { connection in
      // Private addresses change, so each of them counts as an address of this device.
      connection.peer == peer
        && (connection.own == own || connection.own.randomKind == .resolvablePrivate
          || own.randomKind == .resolvablePrivate)
    }
  }

  /// Returns the identity address for Own_Address_Type; nil: the host has not set one · Vol 4, Part E, 7.8.5.
  mutating func ownAddress(_ type: HCI.OwnAddressType) -> DeviceAddress? {
    switch type {
    case .public, .resolvableOrPublic: configuration.address.kind == .public ? configuration.address : nil
    case .random, .resolvableOrRandom: host.randomAddress
    }
  }

  /// Returns the address that an activity toward `peer` can use: `identity` or, if the host has not set one, the
  /// private address from the peer's entry in the resolving list; nil: neither · Vol 4, Part E, 7.8.9, 7.8.12,
  /// 7.8.56.
  mutating func usableAddress(
    _ type: HCI.OwnAddressType, to peer: DeviceAddress?, identity: DeviceAddress?, at now: Instant
  ) -> DeviceAddress? {
    guard identity == nil, type.isPrivate else { return identity }
    return resolvingList.localAddress(for: peer, at: now, random: &random)
  }

  /// Adds the connection created by the CONNECT_IND that ends now, or by the AUX_CONNECT_REQ on `auxiliaryPHY`. A
  /// central sends the first packet `delay` after the start of the transmit window.
  @discardableResult
  mutating func addConnection(
    _ role: Connection.Role, own: DeviceAddress, peer: DeviceAddress, data: LL.ConnectionData, usesAlgorithm2: Bool,
    auxiliaryPHY: PHY? = nil, delay: TimeSpan = .zero, at now: Instant
  ) -> HCI.ConnectionHandle {
    let context = Connection.Context(
      clock: clock, sleepClockAccuracy: sleepClockAccuracy, sleepClockPartsPerMillion: clockAccuracy,
      transmitPower: configuration.transmitPower,
      version: LL.VersionInformation(
        version: configuration.version, company: configuration.companyIdentifier,
        subversion: configuration.subversion),
      features: features, preferredLength: host.suggestedLength.supported(by: features),
      preferredPHYs: host.preferredPHYs,
      hostChannels: host.channelMap, assessesChannels: configuration.assessesChannels,
      minimumUsedChannels: configuration.minimumUsedChannels, seed: random.next())
    let handle = newHandle()
    let peer = resolvingList.identify(peer)
    let index = connections.append(
      Connection(
        handle: handle, role: role, own: own, peer: peer.identity, data: data, usesAlgorithm2: usesAlgorithm2,
        auxiliaryPHY: auxiliaryPHY, context: context, delay: delay, at: now), agenda: &agenda)
    syncs.setInitialTransfer(of: handle)
    output.send(
      HCI.ConnectionComplete(
        status: .success, handle: handle, role: role.rawValue, peer: peer.hciAddress,
        localResolvablePrivateAddress: resolvingList.isOwn(own) ? own.value : 0,
        peerResolvablePrivateAddress: peer.isResolved ? peer.address.value : 0,
        values: connections[index].values,
        centralClockAccuracy: role == .peripheral ? data.sleepClockAccuracy.rawValue : 0))
    if features.contains(.channelSelectionAlgorithm2) {
      output.send(.leChannelSelectionAlgorithm(handle, usesAlgorithm2 ? 1 : 0))
    }
    if role == .central { connections[index].exchangeLengths(at: now, into: &output) }
    return handle
  }

  /// Returns the statistics of a connection so far, or of the last connection with this handle that has ended; nil:
  /// neither is known.
  package mutating func linkStatistics(of handle: HCI.ConnectionHandle) -> LinkStatistics? {
    if let index = index(of: handle) { return connections[index].statistics }
    return endedLinks.last { $0.handle == handle }?.statistics
  }

  /// Returns the next handle. Handles, 0x0001 to 0x0EFF, are assigned in turn, so that a new connection never gets
  /// the handle of a connection that has just ended.
  private mutating func newHandle() -> HCI.ConnectionHandle {
    repeat {
      lastHandle = lastHandle >= 0x0EFF ? 1 : lastHandle + 1
    } while index(of: HCI.ConnectionHandle(rawValue: lastHandle)) != nil
    return HCI.ConnectionHandle(rawValue: lastHandle)
  }

  mutating func removeEndedConnection(_ index: Int) {
    guard let reason = connections[index].reasonForEnd else { return }
    if radioUse.isActivity(.connection(index)) { abandonRadio() }
    let handle = connections[index].handle
    noteEnd(ofConnection: index)
    if radioUse.isActivity(.connection(connections.count - 1)) { radioUse = .activity(.connection(index)) }
    connections.remove(at: index, agenda: &agenda)
    syncs.forgetTransfer(of: handle)
    output.send(.disconnectionComplete(.success, handle, reason: reason))
  }

  /// Queues an ACL packet from the host. Packets of connections that have ended are dropped: the host knows of the
  /// end or is about to.
  mutating func sendData(_ data: HCI.ACLData, at now: Instant) {
    guard let index = index(of: data.handle) else { return }
    guard !data.payload.isEmpty else {
      output.send(.numberOfCompletedPackets(HCI.CompletedPackets(data.handle, count: 1, in: pool)))
      return
    }
    guard connections.heldPackets < configuration.aclBufferCount, data.payload.count <= configuration.aclBufferLength
    else {
      // Link_Type 0x01: ACL · Vol 4, Part E, 7.7.26.
      output.send(.dataBufferOverflow(linkType: 0x01))
      return
    }
    connections[index].send(data, at: now)
  }
}
