import BluetoothRadio
import BluetoothWire

/// The connections, as the host sees them.
extension Controller {
  /// The connection with this handle.
  mutating func index(of handle: HCI.ConnectionHandle) -> Int? { connections.index(of: handle) }

  mutating func isConnected(own: DeviceAddress, peer: DeviceAddress) -> Bool {
    let peer = resolvingList.identify(peer).identity
    return connections.contains { connection in
      // Private addresses change: they are all this device's.
      connection.peer == peer
        && (connection.own == own || connection.own.randomKind == .resolvablePrivate
          || own.randomKind == .resolvablePrivate)
    }
  }

  /// The identity address that goes with Own_Address_Type; nil: the host has not set one · Vol 4, Part E, 7.8.5.
  mutating func ownAddress(_ type: HCI.OwnAddressType) -> DeviceAddress? {
    switch type {
    case .public, .resolvableOrPublic: configuration.address.kind == .public ? configuration.address : nil
    case .random, .resolvableOrRandom: host.randomAddress
    }
  }

  /// The address that an activity toward `peer` can go by: `identity`, or where the host has set none, the private address
  /// that the peer's entry of the resolving list gives; nil: neither · Vol 4, Part E, 7.8.9, 7.8.12, 7.8.56.
  mutating func usableAddress(
    _ type: HCI.OwnAddressType, to peer: DeviceAddress?, identity: DeviceAddress?, at now: Instant
  ) -> DeviceAddress? {
    guard identity == nil, type.isPrivate else { return identity }
    return resolvingList.localAddress(for: peer, at: now, random: &random)
  }

  /// A connection is made by the CONNECT_IND that ends now, or by the AUX_CONNECT_REQ on `auxiliaryPHY`. A central sends the
  /// first packet `delay` after the transmit window's beginning.
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

  /// What has happened on a connection so far, or until its end if it was the last one to end; nil: neither.
  package mutating func linkStatistics(of handle: HCI.ConnectionHandle) -> LinkStatistics? {
    if let index = index(of: handle) { return connections[index].statistics }
    return endedLinks.last { $0.handle == handle }?.statistics
  }

  /// Handles are 0x0001 to 0x0EFF, in turn, so that a new connection never has the handle of one that has just ended.
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

  /// An ACL packet of the host's. Those of connections that are gone are dropped: the host has been told, or is about to.
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
