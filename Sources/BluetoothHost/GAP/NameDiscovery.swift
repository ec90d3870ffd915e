import BluetoothWire

/// One Name Discovery procedure · Vol 3, Part C, 9.2.7: connects to a device, unless a link exists, and reads its
/// Device Name.
struct NameDiscovery {
  enum Phase: Equatable {
    case connecting(until: Instant)
    case findingService(HCI.ConnectionHandle)
    case findingCharacteristic(HCI.ConnectionHandle)
    case reading(HCI.ConnectionHandle)
  }

  /// The token of the procedure's GATT requests; the tokens of other requests never reach it.
  static let token = GATTToken.max
  static let service: BluetoothUUID = 0x1800
  static let characteristic: BluetoothUUID = 0x2A00

  let address: DeviceAddress
  /// True if the link was created for this procedure alone.
  var endsLink: Bool
  var phase: Phase

  var deadline: Instant? {
    if case .connecting(let until) = phase { return until }
    return nil
  }

  var handle: HCI.ConnectionHandle? {
    switch phase {
    case .connecting: nil
    case .findingService(let handle), .findingCharacteristic(let handle), .reading(let handle): handle
    }
  }
}

extension Host {
  /// Reads the Device Name of a device; answered by `nameDiscovered`. Without a link the host creates one, reports it
  /// like any other link, and disconnects it when the procedure ends.
  ///
  /// - Parameter timeout: The maximum time to connect to the device.
  package mutating func discoverName(
    of address: DeviceAddress, timeout: TimeSpan = .seconds(10), at now: Instant
  ) {
    guard isOn else {
      events.append(.nameDiscovered(address, nil))
      return
    }
    guard !nameDiscoveries.contains(where: { $0.address == address }) else { return }
    let isLinked = allLinks.contains { $0.link.peer == address && !$0.isHidden }
    nameDiscoveries.append(
      NameDiscovery(
        address: address, endsLink: !isLinked && !initiator.wanted.contains(address),
        phase: .connecting(until: now + timeout)))
    if !isLinked { initiator.connect(to: address) }
    settle(at: now)
  }

  /// Continues the procedures after links have been created or have ended.
  mutating func continueNameDiscoveries(at now: Instant) {
    for index in nameDiscoveries.indices.reversed() {
      let discovery = nameDiscoveries[index]
      guard isOn else {
        endNameDiscovery(index, with: nil)
        continue
      }
      if let handle = discovery.handle {
        if self.index(of: handle) == nil { endNameDiscovery(index, with: nil) }
      } else if let link = allLinks.firstIndex(where: {
        $0.link.peer == discovery.address && $0.standing == .announced && !$0.isDisconnecting
      }) {
        nameDiscoveries[index].phase = .findingService(allLinks[link].link.handle)
        ask(.discoverPrimaryService(NameDiscovery.service), on: link, at: now)
      } else if !initiator.wanted.contains(discovery.address),
        !allLinks.contains(where: { $0.link.peer == discovery.address })
      {
        endNameDiscovery(index, with: nil)
      } else if let until = discovery.deadline, until <= now {
        if discovery.endsLink { giveUp(discovery.address) }
        endNameDiscovery(index, with: nil)
      }
    }
  }

  private mutating func giveUp(_ address: DeviceAddress) {
    initiator.cancel(address)
    guard let link = unprovenLink(to: address) else { return }
    allLinks[link].standing = .hidden
    disconnect(link, reason: .remoteUserTerminatedConnection)
  }

  private mutating func ask(_ request: GATTRequest, on link: Int, at now: Instant) {
    allLinks[link].bearer.request(request, token: NameDiscovery.token, at: now)
    serve(link, at: now)
  }

  /// Processes the response to a request of a name discovery.
  mutating func nameDiscoveryCompleted(
    _ result: Result<GATTResponse, GATTError>, on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    guard let index = nameDiscoveries.firstIndex(where: { $0.handle == handle }), let link = self.index(of: handle)
    else { return }
    switch (nameDiscoveries[index].phase, try? result.get()) {
    case (.findingService, .services(let services)?) where !services.isEmpty:
      nameDiscoveries[index].phase = .findingCharacteristic(handle)
      ask(.discoverCharacteristics(in: services[0].range), on: link, at: now)
    case (.findingCharacteristic, .characteristics(let characteristics)?):
      guard let name = characteristics.first(where: { $0.uuid == NameDiscovery.characteristic }) else {
        return endNameDiscovery(index, with: nil)
      }
      nameDiscoveries[index].phase = .reading(handle)
      ask(.read(name.value), on: link, at: now)
    case (.reading, .value(let value)?): endNameDiscovery(index, with: value.validUTF8Prefix)
    default: endNameDiscovery(index, with: nil)
    }
  }

  private mutating func endNameDiscovery(_ index: Int, with name: String?) {
    let discovery = nameDiscoveries.remove(at: index)
    events.append(.nameDiscovered(discovery.address, name))
    if discovery.endsLink, let link = discovery.handle.flatMap({ self.index(of: $0) }) {
      disconnect(link, reason: .remoteUserTerminatedConnection)
    }
  }
}
