import BluetoothRadio
import BluetoothWire

/// The connections, as the host sees them.
extension Controller {
  /// The connection with this handle.
  func index(of handle: HCI.ConnectionHandle) -> Int? { connections.firstIndex { $0.handle == handle } }

  func isConnected(own: DeviceAddress, peer: DeviceAddress) -> Bool {
    connections.contains { $0.own == own && $0.peer == peer }
  }

  /// The address that goes with Own_Address_Type; nil: the host has not set one. Without resolving list the last two types
  /// mean the same as the first two · Vol 4, Part E, 7.8.5.
  func ownAddress(_ type: HCI.OwnAddressType) -> DeviceAddress? {
    switch type {
    case .public, .resolvableOrPublic: configuration.address.kind == .public ? configuration.address : nil
    case .random, .resolvableOrRandom: host.randomAddress
    }
  }

  mutating func addConnection(
    _ role: Connection.Role, own: DeviceAddress, peer: DeviceAddress, data: LL.ConnectionData, usesAlgorithm2: Bool,
    at now: Instant
  ) {
    let context = Connection.Context(
      clock: clock, sleepClockAccuracy: configuration.sleepClockAccuracy,
      transmitPower: configuration.transmitPower,
      version: LL.VersionInformation(
        version: configuration.version, company: configuration.companyIdentifier,
        subversion: configuration.subversion),
      preferredLength: host.suggestedLength)
    let handle = newHandle()
    connections.append(
      Connection(
        handle: handle, role: role, own: own, peer: peer, data: data, usesAlgorithm2: usesAlgorithm2,
        context: context, at: now))
    output.send(
      .leConnectionComplete(
        HCI.ConnectionComplete(
          status: .success, handle: handle, role: role.rawValue, peer: HCI.PeerAddress(peer),
          values: connections[connections.count - 1].values,
          centralClockAccuracy: role == .peripheral ? data.sleepClockAccuracy.rawValue : 0)))
    output.send(.leChannelSelectionAlgorithm(handle, usesAlgorithm2 ? 1 : 0))
    if role == .central { connections[connections.count - 1].exchangeLengths(at: now, into: &output) }
  }

  /// Handles are 0x0001 to 0x0EFF, in turn, so that a new connection never has the handle of one that has just ended.
  private mutating func newHandle() -> HCI.ConnectionHandle {
    repeat {
      lastHandle = lastHandle >= 0x0EFF ? 1 : lastHandle + 1
    } while index(of: HCI.ConnectionHandle(rawValue: lastHandle)) != nil
    return HCI.ConnectionHandle(rawValue: lastHandle)
  }

  mutating func removeEndedConnections(at now: Instant) {
    var index = 0
    while index < connections.count {
      guard let reason = connections[index].reasonForEnd else {
        index += 1
        continue
      }
      if radioUse.isEvent(of: index) { abandonRadio() }
      if case .event(let running) = radioUse, running > index { radioUse = .event(index: running - 1) }
      let handle = connections[index].handle
      connections.remove(at: index)
      output.send(.disconnectionComplete(.success, handle, reason: reason))
    }
  }

  /// An ACL packet of the host's. Those of connections that are gone are dropped: the host has been told, or is about to.
  mutating func sendData(_ data: HCI.ACLData, at now: Instant) {
    guard let index = index(of: data.handle) else { return }
    guard !data.payload.isEmpty else {
      output.send(.numberOfCompletedPackets(HCI.CompletedPackets(data.handle, count: 1, in: pool)))
      return
    }
    var held = 0
    for index in connections.indices { held += connections[index].flow.heldPackets }
    guard held < configuration.aclBufferCount else {
      // Link_Type 0x01: ACL · Vol 4, Part E, 7.7.26.
      output.send(.dataBufferOverflow(linkType: 0x01))
      return
    }
    connections[index].send(data, at: now)
  }
}
